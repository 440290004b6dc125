"""A log of every run, as JSON lines: what ran, how long it took, what failed."""

from __future__ import annotations

import json
import os
import platform
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from wmlab.runtime import events

_PACKAGES = ("wmlab", "jax", "jaxlib", "numpy", "scipy", "flax", "optax", "gymnax")


class RunLog(AbstractContextManager["RunLog"]):
    """Listens to a run and writes `runs/<time>-<pid>.jsonl`: a header, a line per stage, and totals."""

    def __init__(self, root: Path, *, spec: str, profile: str = "", argv: Sequence[str] | None = None):
        folder = root / "runs"
        folder.mkdir(parents=True, exist_ok=True)
        started = datetime.now(UTC)
        self.path = folder / f"{started:%Y%m%d-%H%M%S-%f}-{os.getpid()}.jsonl"
        self._file = open(self.path, "x", encoding="utf-8")  # noqa: SIM115 - it stays open for the whole run
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
        self._file.close()

    def _write(self, kind: str, record: Mapping[str, Any]) -> None:
        self._file.write(json.dumps({"type": kind, **record}, ensure_ascii=False) + "\n")
        self._file.flush()


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
    summaries = (_summary(path) for path in sorted((root / "runs").glob("*.jsonl"), reverse=True))
    return [summary for summary in summaries if summary is not None]


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a run's log; a last line that a kill cut short is left out."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        with suppress(ValueError):
            records.append(json.loads(line))
    return records


def _summary(path: Path) -> RunSummary | None:
    records = read_log(path)
    if not records or records[0].get("type") != "run":
        return None
    head, end = records[0], records[-1]
    if end["type"] == "end":
        failed = end["counts"]["failed"] or end["counts"]["skipped"]
        state = "interrupted" if end["interrupted"] else "failed" if failed else "done"
        seconds, counts = end["seconds"], end["counts"]
    else:
        state = "running" if _alive(head["pid"], head["host"]) else "died"
        outcomes = [record["outcome"] for record in records if record["type"] == "stage"]
        seconds, counts = None, {name: outcomes.count(name) for name in ("ran", "cached", "failed", "skipped")}
    return RunSummary(path, head["spec"], head["profile"], head["started"], state, seconds, counts)


def _alive(pid: int, host: str) -> bool:
    if host != socket.gethostname():
        return True  # nobody here can tell
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # of another user
    return True


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
