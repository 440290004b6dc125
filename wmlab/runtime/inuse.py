"""Which entries the runs of this moment count on, so that a clean-up leaves them alone."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wmlab.runtime.folder import aside


@contextmanager
def hold(root: Path, hashes: Iterable[str]) -> Iterator[None]:
    """Say that these entries are in use until the block ends or the process dies."""
    new = aside(root, "active")
    path = root / "active" / f"{new.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(new, "w", encoding="utf-8") as file:
        json.dump(sorted(hashes), file)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)  # before it gets its name: a list without a lock is of a dead process
        os.rename(new, path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def in_use(root: Path) -> set[str]:
    """The hashes that living runs hold; lists of dead ones are removed."""
    hashes: set[str] = set()
    for path in (root / "active").glob("*.json"):
        with suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
            except BlockingIOError:
                hashes.update(json.load(file))
    return hashes
