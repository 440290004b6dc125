"""The entries that living runs count on, so that no clean-up takes them away."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from wmlab.runtime import layout
from wmlab.runtime.durable import discard, share
from wmlab.runtime.lock import LocksUnsupported, try_flock

_POLL = 0.005  # seconds
_ACTIVE = "active"


@contextmanager
def hold(root: Path, hashes: Iterable[str], notice: Callable[[str], None] | None = None) -> Iterator[None]:
    """Say that these entries are in use until the block ends or the process dies.

    Where that cannot be said the work goes on, for it is a clean-up that would do harm, and not the work; `notice`
    gets a sentence about it. In a cache that we may only read it is left out without a word.
    """
    with ExitStack() as stack:
        problem = None
        try:
            stack.enter_context(_listed(root, hashes))
        except LocksUnsupported:
            problem = "its file system has no locks, so that two runs may compute the same stage twice"
        except OSError as error:
            problem = None if layout.is_read_only(error) else layout.reason(error)
        if problem and notice:
            notice(f"the cache {root} cannot be told what is in use ({problem}): clean it up only when nothing runs")
        yield


@contextmanager
def _listed(root: Path, hashes: Iterable[str]) -> Iterator[None]:
    new = layout.aside(root, _ACTIVE)
    path = layout.folder(root, _ACTIVE) / f"{new.name}.json"
    try:
        with open(new, "x", encoding="utf-8") as file:
            share(new)
            json.dump(sorted(hashes), file)
            file.flush()
            try_flock(file.fileno(), fcntl.LOCK_EX)  # before it gets its name: a list without a lock is of a dead one
            with gate(root):
                os.rename(new, path)
            yield
    finally:
        for mine in (path, new):
            discard(mine)


@contextmanager
def gate(root: Path) -> Iterator[None]:
    """Keep a clean-up from removing an entry at the very moment in which a run says that it counts on it."""
    path = layout.folder(root) / "gate"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with suppress(OSError):
            share(path)
        while not try_flock(descriptor, fcntl.LOCK_EX):
            time.sleep(_POLL)
        yield
    finally:
        os.close(descriptor)


class EntriesInUse:
    """The hashes that living runs hold, as of now; lists of dead runs are removed."""

    def __init__(self, root: Path):
        self._root = root
        self._lists: dict[str, frozenset[str] | None] = {}  # by name; None where a list cannot be read

    def __contains__(self, hash: str) -> bool:
        names = [path.name for path in layout.children(self._root / _ACTIVE) if path.suffix == ".json"]
        for name in names:
            if name not in self._lists:
                self._lists[name] = self._read(self._root / _ACTIVE / name)
        # Whoever holds what nobody can read may hold anything.
        return any(held is None or hash in held for held in (self._lists[name] for name in names))

    def _read(self, path: Path) -> frozenset[str] | None:
        try:
            with layout.open_file(path) as file:
                if try_flock(file.fileno(), fcntl.LOCK_SH):
                    path.unlink(missing_ok=True)
                    return frozenset()
                hashes = json.loads(file.read())
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError, RecursionError):
            # What is no file is no list; a file that we may not read is someone's.
            return None if path.is_file() else frozenset()
        return frozenset(map(str, hashes)) if isinstance(hashes, list) else None
