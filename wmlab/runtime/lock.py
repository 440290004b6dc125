"""A lock per key that dies with its process and says who holds it, and the entries that living runs count on."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wmlab.runtime.folder import aside

_POLL = 0.03  # seconds between two tries of one who waits


@dataclass(frozen=True)
class Holder:
    """Who holds a lock."""

    pid: int
    host: str
    since: float  # seconds since the epoch
    label: str

    def __str__(self) -> str:
        where = f"pid {self.pid}" if self.host == socket.gethostname() else f"pid {self.pid} on {self.host}"
        since = time.strftime("%H:%M:%S", time.localtime(self.since))
        return f"{where} which is computing '{self.label}' since {since}"


class KeyLock:
    """An exclusive lock on a file (`flock`): the system releases it when its process ends, however it ends.

    The file is empty, and beside it a symbolic link to nowhere names the holder: both cost a fraction of what
    a small file with content costs. They are removed before the lock is released; whoever gets the lock of a file
    that has lost its name tries again with the new one.
    """

    def __init__(self, path: Path, label: str = ""):
        self.path = path
        self.label = label
        self._signature = path.with_suffix(".holder")
        self._descriptor: int | None = None

    def acquire(self, *, block: bool = True, waiting: Callable[[Holder | None], None] | None = None) -> bool:
        """Take the lock; `waiting` is called once, with the holder, when someone else has it."""
        told = False
        while not self._try():
            if not block:
                return False
            if waiting and not told:
                waiting(self.holder())
                told = True
            time.sleep(_POLL)
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            for path in (self._signature, self.path):
                with suppress(FileNotFoundError):
                    os.unlink(path)
            os.close(self._descriptor)
            self._descriptor = None

    def holder(self) -> Holder | None:
        """Who holds the lock, as far as it is known; the key is the same, so it is computing the same stage."""
        try:
            pid, since, host = os.readlink(self._signature).split(" ", 2)
            return Holder(int(pid), host, float(since), self.label)
        except (OSError, ValueError):
            return None  # free, or just taken and not yet signed

    def __enter__(self) -> KeyLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _try(self) -> bool:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            named = os.fstat(descriptor).st_nlink > 0  # else its last holder removed it after we opened it
        except BlockingIOError:
            named = False
        if not named:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        self._sign()
        return True

    def _sign(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._signature)  # of one who died
        os.symlink(f"{os.getpid()} {time.time():.0f} {socket.gethostname()}", self._signature)


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
