"""The run that looks after a job, and whether it is alive, as far as this machine or another can see.

A run holds a lock for as long as it looks after jobs. The system releases it however the run ends, so that other
machines see it, too; on this machine the process is looked at as well.
"""

from __future__ import annotations

import fcntl
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from wmlab.runtime import layout
from wmlab.runtime.lock import KeyLock, LocksUnsupported, try_flock
from wmlab.runtime.processes import is_alive, process_mark

OWNERS = ("jobs", "owners")


@dataclass(frozen=True)
class Owner:
    """The run that looks after a job."""

    run: str
    pid: int
    host: str
    mark: str = ""  # of its process; empty in records of earlier versions, whose runs held no lock

    @property
    def is_here(self) -> bool:
        return self.host == socket.gethostname()

    @property
    def is_this_process(self) -> bool:
        return self.is_here and self.pid == os.getpid() and self.is_process

    @property
    def is_process(self) -> bool:
        """Whether its process is alive; only where it is on this machine."""
        return is_alive(self.pid, self.mark)

    def is_alive(self, root: Path) -> bool:
        """Whether it may still look after its jobs; of another machine's without a lock nobody here can tell."""
        if self.is_here and not self.is_process:
            return False
        return not self.mark or is_held(lock_path(root, self.run))


class OwnerLock:
    """What a run holds from its first job on."""

    def __init__(self, root: Path, run: str):
        self.root = root
        self.owner = Owner(run, os.getpid(), socket.gethostname(), process_mark(os.getpid()))
        self._lock = KeyLock(lock_path(root, run), run)
        self._is_held = False

    def sign(self) -> Owner:
        """This run, as the owner of a job: from now on others can see whether it is alive."""
        if not self._is_held:
            layout.folder(self.root, *OWNERS)
            self._is_held = self._lock.acquire()
        return self.owner

    def release(self) -> None:
        """Look after nothing any more."""
        self._lock.release()
        self._is_held = False


def lock_path(root: Path, run: str) -> Path:
    return root.joinpath(*OWNERS, f"{run}.lock")


def is_held(path: Path) -> bool:
    """Whether a process on any machine holds a lock; also where nobody can tell."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not try_flock(descriptor, fcntl.LOCK_SH)  # shared: two who look at once see the same
    except (OSError, LocksUnsupported):
        return True
    finally:
        os.close(descriptor)
