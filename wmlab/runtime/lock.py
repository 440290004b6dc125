"""A lock per key that dies with its process and says who holds it."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wmlab.runtime import layout
from wmlab.runtime.durable import share

_POLL = 0.03  # seconds between two tries of one who waits
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds after each fault that may pass
_TRANSIENT = (errno.ENOLCK, errno.EINTR, errno.ESTALE, errno.ETIMEDOUT)  # servers that are busy or come back
_UNSUPPORTED = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class LocksUnsupported(Exception):
    """The file system has no locks."""


def try_flock(descriptor: int, operation: int) -> bool:
    """Lock an open file, unless someone else has; whether it is locked. Faults that may pass are tried again."""
    for pause in (*_PAUSES, None):
        try:
            fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                raise LocksUnsupported from None
            if error.errno not in _TRANSIENT or pause is None:
                raise
            time.sleep(pause)
    raise AssertionError("unreachable")


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
    that has lost its name tries again with the new one. The link only informs: where it cannot be made, it is left out.

    On a file system without locks everyone gets the lock. Two processes may then compute the same stage; the store
    takes the first of the two answers, which are the same.
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
                with suppress(OSError):  # a file without a holder is nobody's: the next one takes it
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
        descriptor = self._open()
        try:
            taken = try_flock(descriptor, fcntl.LOCK_EX) and self._has_its_name(descriptor)
        except LocksUnsupported:
            taken = True
        except BaseException:
            os.close(descriptor)
            raise
        if not taken:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        self._sign()
        return True

    def _open(self) -> int:
        for _ in range(3):
            try:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
                break
            except FileNotFoundError:
                layout.folder(self.path.parent.parent, self.path.parent.name)
            except OSError as error:
                if not layout.clear_way(self.path.parent.parent, self.path, error):
                    layout.folder(self.path.parent.parent, self.path.parent.name)
        else:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        with suppress(OSError):
            share(self.path)
        return descriptor

    def _has_its_name(self, descriptor: int) -> bool:
        """Whether the file that is locked is the one that others would lock: its last holder may have removed it.

        A network's file system may answer for the name from memory; of the open file it tells what is.
        """
        try:
            own = os.fstat(descriptor)
            return own.st_nlink > 0 and os.path.samestat(own, os.stat(self.path))
        except OSError:
            return False

    def _sign(self) -> None:
        with suppress(OSError):
            os.unlink(self._signature)  # of one who died
        with suppress(OSError):
            os.symlink(f"{os.getpid()} {time.time():.0f} {socket.gethostname()}", self._signature)
