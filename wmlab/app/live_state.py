"""How far a run is, from the file that it writes: read when somebody asks, and only what is new."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wmlab.report.data import KindEdge, PlanRows, StageRow
from wmlab.runtime.livelog import live_file

MOST_POINTS = 400  # of a curve; a longer one keeps every other point
MOST_CURVES = 40  # stages whose curves are shown, the latest
MOST_NOTICES = 20
MOST_LINE = 4_000_000  # letters of a line that is read at all
STATES = {"ran": "done", "cached": "cached", "failed": "failed", "skipped": "skipped"}  # outcome: how it is shown


@dataclass
class LiveStage:
    """One stage as far as it has come."""

    label: str
    kind: str
    inputs: tuple[int, ...] = ()
    key: str = ""
    state: str = "waiting"  # running, done, cached, failed, skipped
    since: float | None = None  # when it began
    share: float | None = None
    note: str = ""
    seconds: float | None = None
    error: str = ""
    tail: str = ""  # of the traceback
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # name: (updates, value)
    version: int = 0  # of the state in which it last changed

    def data(self, place: int) -> dict[str, Any]:
        """As a page reads it."""
        kept = ("state", "since", "share", "note", "seconds", "error", "tail")
        told = {name: value for name in kept if (value := getattr(self, name)) not in (None, "")}
        return {"stage": place, **told}


class NewLines:
    """A file that grows by lines: each look gives those that came since, and reads nothing twice."""

    def __init__(self, path: Path):
        self.path = path
        self._read = 0

    def take(self) -> list[bytes]:
        """The lines that are new; one that is being written comes when it is whole. None where there is no file."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._read)
                data = file.read()
        except OSError:
            return []
        whole = data.rfind(b"\n") + 1
        self._read += whole
        return data[:whole].split(b"\n")[:-1]


class LiveState:
    """What a run has said of itself. May be asked by several threads."""

    def __init__(self, log: Path):
        self._lines = NewLines(live_file(log))
        self.stages: list[LiveStage] = []
        self.notices: list[str] = []
        self.left: tuple[float, float] | None = None  # seconds that were left, and when
        self.ended: dict[str, Any] | None = None
        self.version = 0
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Read what was written since."""
        with self._lock:
            for line in self._lines.take():
                with suppress(ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError):
                    if line and len(line) <= MOST_LINE * 4:
                        self._take(json.loads(line))

    def _take(self, record: Mapping[str, Any]) -> None:
        kind = record["type"]
        if kind == "graph":
            self.stages = [
                LiveStage(str(row["label"]), str(row["kind"]), tuple(map(int, row["inputs"])), str(row["key"]))
                for row in record["stages"]
            ]
        elif kind == "notice":
            self.notices = [*self.notices, str(record["text"])][-MOST_NOTICES:]
        elif kind == "left":
            self.left = float(record["seconds"]), float(record["at"])
        elif kind == "ended":
            self.ended = dict(record)
        elif kind == "begun":
            self.ended = None
        elif record["stage"] is not None:
            self._take_stage(self.stages[int(record["stage"])], kind, record)
        self.version += 1

    def _take_stage(self, stage: LiveStage, kind: str, record: Mapping[str, Any]) -> None:
        stage.version = self.version + 1
        if kind == "started":
            stage.state, stage.since, stage.share, stage.error, stage.tail = (
                "running",
                float(record["at"]),
                None,
                "",
                "",
            )
        elif kind == "progress":
            done, total = float(record["done"]), float(record["total"])
            stage.share, stage.note = (min(done / total, 1.0) if total > 0 else None), str(record["note"])
            for name, value in record["numbers"].items():
                stage.curves[name] = thinned([*stage.curves.get(name, ()), (done, float(value))])
        elif kind == "finished":
            stage.state, stage.seconds = STATES[record["outcome"]], float(record["seconds"])
            failure = record.get("failure") or {}
            stage.error = str(record.get("reason") or "")
            if failure:
                stage.error = ": ".join(part for part in (failure.get("type"), failure.get("message")) if part)
                stage.tail = str(failure.get("traceback") or "")

    # --- what a page asks for -------------------------------------------------------------------------------------

    def since(self, version: int) -> dict[str, Any]:
        """All that changed after a version; 0 asks for everything."""
        with self._lock:
            changed = [stage.data(place) for place, stage in enumerate(self.stages) if stage.version > version]
            curved = [(stage.version, place) for place, stage in enumerate(self.stages) if stage.curves]
            shown = {place for _, place in sorted(curved)[-MOST_CURVES:]}
            curves = [
                {"stage": place, "label": self.stages[place].label, "curves": self.stages[place].curves}
                for place in sorted(shown)
                if self.stages[place].version > version
            ]
            return {
                "version": self.version,
                "stages": changed,
                "curves": curves,
                "counts": Counter(stage.state for stage in self.stages),
                "notices": self.notices,
                "left": self.left,
            }

    def plan(self) -> PlanRows:
        """The stages and which kinds feed which, to be drawn."""
        with self._lock:
            rows = tuple(StageRow(stage.label, stage.kind, stage.state) for stage in self.stages)
            links = ((self.stages[source].kind, stage.kind) for stage in self.stages for source in stage.inputs)
            edges = tuple(KindEdge(*pair, count) for pair, count in Counter(links).items())
            return PlanRows(rows, edges)


def thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """A curve that has become too long, by every other point."""
    return points if len(points) <= MOST_POINTS else [*points[:-1:2], points[-1]]
