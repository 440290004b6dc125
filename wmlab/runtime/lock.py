"""A lock per key that dies with its process and says who holds it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

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

    The file holds the holder's name. It is removed before the lock is released; whoever gets the lock of a file that
    has lost its name tries again with the new one.
    """

    def __init__(self, path: Path, label: str = ""):
        self.path = path
        self.label = label
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

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
            with suppress(FileNotFoundError):
                os.unlink(self.path)
            os.close(self._descriptor)
            self._descriptor = None

    def holder(self) -> Holder | None:
        """Who holds the lock, as far as the file tells."""
        try:
            return Holder(**json.loads(self.path.read_bytes()))
        except (OSError, ValueError, TypeError):
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
        holder = Holder(os.getpid(), socket.gethostname(), round(time.time(), 3), self.label)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(asdict(holder)).encode(), 0)
        self._descriptor = descriptor
        return True
