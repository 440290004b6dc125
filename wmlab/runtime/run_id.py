"""Ids of runs: short, told apart by their first letters, and part of the names of what is kept of a run."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from wmlab.errors import UsageError, one_of
from wmlab.runtime import layout

LENGTH = 7  # letters: 34 thousand million ids
_ID = re.compile("[a-z2-7]+")
_PARTS = 5  # of a log's name: date, time, microseconds, process, id; earlier versions wrote none
_SHOWN = 4  # ids in a message


def new_run_id(*facts: object) -> str:
    """An id from facts that no two runs share."""
    digest = hashlib.sha256("\0".join(map(str, facts)).encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest).decode().lower()[:LENGTH]


def is_run_id(text: str) -> bool:
    """Whether a name is a whole id."""
    return len(text) == LENGTH and _ID.fullmatch(text) is not None


def may_be_run_id(text: str) -> bool:
    """Whether a word of the command line may be an id or its beginning; one that names a file is none."""
    return len(text) <= LENGTH and _ID.fullmatch(text) is not None and not Path(text).exists()


def run_logs(root: Path) -> Iterator[tuple[str, Path]]:
    """The id and the log of each run, the latest first; a run of an earlier version has no id."""
    for path in reversed(layout.children(root / "runs")):
        if path.suffix == ".jsonl":
            parts = path.stem.split("-")
            yield parts[-1] if len(parts) == _PARTS else "", path


def find_log(root: Path, beginning: str) -> tuple[str, Path]:
    """The id and the log of the run whose id begins so; UsageError where there is none, or more than one."""
    logs = {id: path for id, path in run_logs(root) if id and id.startswith(beginning)}
    if beginning in logs or len(logs) == 1:
        id = beginning if beginning in logs else next(iter(logs))
        return id, logs[id]
    if not logs:
        raise UsageError(f"there is no run '{beginning}' in the cache {root}; `wmlab runs` lists them")
    some = [*list(logs)[:_SHOWN], *(["…"] if len(logs) > _SHOWN else [])]
    raise UsageError(f"'{beginning}' may be {one_of(some)}; say more letters")


def pages_of(root: Path, id: str) -> Path:
    """The folder in which the pages of a run are kept, each as below the folder of reports."""
    return root / "runs" / id
