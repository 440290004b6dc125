"""What a run is doing right now, as JSON lines beside its log: for a page that shows it while it goes on.

The log of a run is small and stays. This file has what changes by the second, too, and is of use while the run is on.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from wmlab.graph.key import Key
from wmlab.graph.stage import Stage
from wmlab.runtime import events
from wmlab.runtime.durable import share
from wmlab.runtime.runlog import RunLog

LIVE = ".live"  # the end of the file's name, in place of the log's
EVERY = 1.0  # seconds between two lines on how far a stage is


def live_file(log: Path) -> Path:
    """The file with what a run is doing, beside its log."""
    return log.with_suffix(LIVE)


class LiveLog(AbstractContextManager["LiveLog"]):
    """Listens to a run. Where it cannot write, there is nothing to watch, and the run goes on."""

    def __init__(self, log: RunLog, stages: Mapping[str, Stage], keys: Mapping[str, Key]):
        self._file: IO[str] | None = None
        self._told: dict[str, float] = {}  # stage: when it was last said how far it is
        if not log.is_written:
            return
        with suppress(OSError):
            self._file = open(live_file(log.path), "x", encoding="utf-8")  # noqa: SIM115 - open for the whole run
            share(live_file(log.path))
        places = {id: place for place, id in enumerate(stages)}
        rows = [
            {
                "label": stage.label,
                "kind": stage.kind,
                "key": keys[id].hash,
                "inputs": sorted({places[source] for source in stage.inputs.values() if source in places}),
            }
            for id, stage in stages.items()
        ]
        self._places = places
        self._write("graph", {"stages": rows})

    def __call__(self, event: object) -> None:
        """Write an event down, if it says how far the run is."""
        if self._file is None:
            return
        if isinstance(event, events.StageStarted):
            self._write("started", {"stage": self._places.get(event.id)})
        elif isinstance(event, events.StageProgress):
            self._progress(event)
        elif isinstance(event, events.StageFinished):
            self._told.pop(event.id, None)
            failure = None if event.failure is None else asdict(event.failure)
            told = {"outcome": event.outcome, "seconds": event.seconds, "failure": failure, "reason": event.reason}
            self._write("finished", {"stage": self._places.get(event.id), **told})
        elif isinstance(event, events.RunStarted):
            self._write("begun", {"total": event.total, "cached": event.cached, "jobs": event.jobs})
        elif isinstance(event, events.TimeLeft) and self._is_time("the run"):
            self._write("left", {"seconds": event.seconds})
        elif isinstance(event, events.Message):
            self._write("notice", {"text": str(event)})
        elif isinstance(event, events.RunFinished):
            told = {"counts": dict(event.counts), "seconds": event.seconds, "interrupted": event.interrupted}
            self._write("ended", told)

    def _progress(self, event: events.StageProgress) -> None:
        if not self._is_time(event.id) and event.done < event.total:
            return
        numbers = {name: value for name, value in event.numbers.items() if math.isfinite(value)}
        told = {"done": event.done, "total": event.total, "note": event.note, "numbers": numbers}
        self._write("progress", {"stage": self._places.get(event.id), **told})

    def _is_time(self, whose: str) -> bool:
        """Whether one may speak of it again."""
        now = time.monotonic()
        if now - self._told.get(whose, -math.inf) < EVERY:
            return False
        self._told[whose] = now
        return True

    def _write(self, kind: str, record: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        line = json.dumps({"type": kind, "at": round(time.time(), 3), **record}, ensure_ascii=False, default=str)
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError:
            self.__exit__()

    def __exit__(self, *_: object) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()
