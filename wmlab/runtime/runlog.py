"""A log of every run, as JSON lines: what ran, how long it took, what failed."""

from __future__ import annotations

import itertools
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
from wmlab.runtime.durable import share
from wmlab.runtime.git import GitState
from wmlab.runtime.processes import process_mark
from wmlab.runtime.run_id import new_run_id

_PACKAGES = ("wmlab", "jax", "jaxlib", "numpy", "scipy", "flax", "optax", "gymnax")
_counter = itertools.count()


class RunLog(AbstractContextManager["RunLog"]):
    """Listens to a run and writes `runs/<time>-<pid>-<id>.jsonl`: a header, a line per stage, totals, and its claims.

    A log that cannot be written costs nothing but the log: `notice` gets a sentence, and the run goes on. In a cache
    that we may only read there is none, without a word. `sets` are changes on the command line, `file` is the spec and
    `git` the commit of its tree.
    """

    def __init__(
        self,
        root: Path,
        *,
        spec: str,
        profile: str = "",
        sets: Sequence[str] = (),
        seeds: int | None = None,
        file: str = "",
        git: GitState | None = None,
        argv: Sequence[str] | None = None,
        notice: Callable[[str], None] | None = None,
    ):
        started, host = datetime.now(UTC), socket.gethostname()
        self.id = new_run_id(started.isoformat(), host, os.getpid(), spec, next(_counter))
        self.path = root / "runs" / f"{started:%Y%m%d-%H%M%S-%f}-{os.getpid()}-{self.id}.jsonl"
        self._notice = notice
        self._file: IO[str] | None = None
        try:
            layout.folder(root, "runs")
            self._file = open(self.path, "x", encoding="utf-8")  # noqa: SIM115 - it stays open for the whole run
            share(self.path)
        except OSError as error:
            self._give_up(error, quietly=layout.is_read_only(error))
        header = {
            "id": self.id,
            "spec": spec,
            "profile": profile,
            "sets": list(sets),
            "seeds": seeds,
            "file": file,
            "commit": git and git.commit,
            "dirty": git and git.dirty,
            "started": started.isoformat(timespec="milliseconds"),
            "argv": list(sys.argv if argv is None else argv),
            "versions": _versions(),
            "pid": os.getpid(),
            "mark": process_mark(os.getpid()),
            "host": host,
        }
        self._write("run", header)

    @property
    def is_written(self) -> bool:
        """Whether the run is going to be remembered."""
        return self._file is not None

    def reported(self, page: str, claims: ClaimCounts) -> None:
        """Write down what became of the claims, and the run's page among those that are kept."""
        self._write("report", {"page": page, "claims": asdict(claims)})

    @property
    def output(self) -> Path:
        """The file beside the log for what the stages print."""
        return self.path.with_suffix(".out")

    def __call__(self, event: object) -> None:
        """Write an event down, if it belongs in the log."""
        if isinstance(event, events.StageFinished):
            record = {name: value for name, value in asdict(event).items() if value is not None}
            self._write("stage", record)
        elif isinstance(event, events.JobChanged):
            self._write("job", {"at": round(time.time(), 3), **asdict(event)})
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
class ClaimCounts:
    """What became of the claims of a run."""

    held: int = 0
    failed: int = 0
    shown: int = 0  # and not tested


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
