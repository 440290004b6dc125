"""A log of every run, as JSON lines: what ran, how long it took, what failed."""

from __future__ import annotations

import json
import os
import platform
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import IO, Any

from wmlab.runtime import events, layout
from wmlab.runtime.durable import is_alive, share

_PACKAGES = ("wmlab", "jax", "jaxlib", "numpy", "scipy", "flax", "optax", "gymnax")


class RunLog(AbstractContextManager["RunLog"]):
    """Listens to a run and writes `runs/<time>-<pid>.jsonl`: a header, a line per stage, and totals.

    A log that cannot be written costs nothing but the log: `notice` gets a sentence, and the run goes on. In a cache
    that we may only read there is none, without a word.
    """

    def __init__(
        self,
        root: Path,
        *,
        spec: str,
        profile: str = "",
        argv: Sequence[str] | None = None,
        notice: Callable[[str], None] | None = None,
    ):
        started = datetime.now(UTC)
        self.path = root / "runs" / f"{started:%Y%m%d-%H%M%S-%f}-{os.getpid()}.jsonl"
        self._notice = notice
        self._file: IO[str] | None = None
        try:
            layout.folder(root, "runs")
            self._file = open(self.path, "x", encoding="utf-8")  # noqa: SIM115 - it stays open for the whole run
            share(self.path)
        except OSError as error:
            self._give_up(error, quietly=layout.is_read_only(error))
        header = {
            "spec": spec,
            "profile": profile,
            "started": started.isoformat(timespec="milliseconds"),
            "argv": list(sys.argv if argv is None else argv),
            "versions": _versions(),
            "pid": os.getpid(),
            "host": socket.gethostname(),
        }
        self._write("run", header)

    @property
    def output(self) -> Path:
        """The file beside the log for what the stages print."""
        return self.path.with_suffix(".out")

    def __call__(self, event: object) -> None:
        """Write an event down, if it belongs in the log."""
        if isinstance(event, events.StageFinished):
            record = {name: value for name, value in asdict(event).items() if value is not None}
            self._write("stage", record)
        elif isinstance(event, events.Message):
            self._write("notice", {"at": round(time.time(), 3), "text": str(event)})
        elif isinstance(event, events.RunFinished):
            self._write("end", asdict(event))

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def _write(self, kind: str, record: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        try:
            self._file.write(json.dumps({"type": kind, **record}, ensure_ascii=False, default=str) + "\n")
            self._file.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError, quietly: bool = False) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # closing tries once more to write what is left
                file.close()
        if self._notice and not quietly:
            self._notice(f"the log of this run cannot be written ({layout.reason(error)}); the run goes on without it")


@dataclass(frozen=True)
class RunSummary:
    """A line of `wmlab runs`."""

    path: Path
    spec: str
    profile: str
    started: str
    state: str  # done, failed, interrupted, running, or died
    seconds: float | None
    counts: Mapping[str, int]  # outcome: number of stages


def list_runs(root: Path) -> list[RunSummary]:
    """All runs that the cache folder knows of, the latest first."""
    logs = [path for path in layout.children(root / "runs") if path.suffix == ".jsonl"]
    summaries = (_summary(path) for path in reversed(logs))
    return [summary for summary in summaries if summary is not None]


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a run's log; a last line that a kill cut short, and any that is no record, are left out."""
    try:
        text = layout.read_file(path).decode(errors="replace")
    except OSError:
        return []
    records = []
    for line in text.split("\n"):
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict) and isinstance(record.get("type"), str):
                records.append(record)
    return records


def _summary(path: Path) -> RunSummary | None:
    records = read_log(path)
    if not records or records[0]["type"] != "run":
        return None
    head, end = records[0], records[-1]
    seconds, counts = None, _counts(end.get("counts"))
    if end["type"] == "end" and counts is not None:
        failed = counts.get("failed") or counts.get("skipped")
        state = "interrupted" if end.get("interrupted") else "failed" if failed else "done"
        seconds = end.get("seconds")
    else:
        state = "running" if _alive(head.get("pid"), head.get("host")) else "died"
        outcomes = [record.get("outcome") for record in records if record["type"] == "stage"]
        counts = {name: outcomes.count(name) for name in ("ran", "cached", "failed", "skipped")}
    spec, profile, started = (str(head.get(name, "")) for name in ("spec", "profile", "started"))
    seconds = seconds if isinstance(seconds, int | float) else None
    return RunSummary(path, spec, profile, started, state, seconds, counts)


def _counts(value: Any) -> dict[str, int] | None:
    """Numbers of stages by outcome, where that is what is written."""
    if not isinstance(value, dict) or not all(isinstance(count, int) for count in value.values()):
        return None
    return value


def _alive(pid: Any, host: Any) -> bool:
    if host != socket.gethostname():
        return True  # nobody here can tell
    return isinstance(pid, int) and is_alive(pid)


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
