"""A disk whose n-th changing call fails, or after whose n-th call the process is as good as dead.

The calls are those by which wmlab changes what lies below a folder: opening for writing, writing, renaming, making and
removing files and folders, links, times, modes, fsync and locks. They are caught where Python makes them, so one
process can live through hundreds of faults with its programs compiled once; a tracer of system calls could not.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from unittest import mock

Mode = Literal["error", "kill"]
# What goes wrong with each call. A real disk has more errors; these are the ones that people meet.
ERRORS = {
    "open": errno.ENOSPC,
    "write": errno.ENOSPC,
    "mkdir": errno.ENOSPC,
    "rename": errno.EIO,
    "replace": errno.EIO,
    "unlink": errno.EIO,
    "remove": errno.EIO,
    "rmdir": errno.EIO,
    "link": errno.EPERM,
    "symlink": errno.EPERM,
    "utime": errno.EPERM,
    "chmod": errno.EPERM,
    "truncate": errno.EIO,
    "fsync": errno.EIO,
    "flock": errno.ENOLCK,
}
WITH_PATHS = (
    "mkdir",
    "rename",
    "replace",
    "unlink",
    "remove",
    "rmdir",
    "link",
    "symlink",
    "utime",
    "chmod",
    "truncate",
)
NOBODY = 2**22 + 1  # no process
TWO_PATHS = ("rename", "replace")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Killed(BaseException):
    """The process is dead from here on; nothing may catch this."""


Rule = Callable[[int, str], int | None]  # of a call's number (from 1) and its name: the error that it fails with
KILL = -1  # in the place of an error: the process ends here


def nth(n: int, mode: Mode = "error", number: int | None = None) -> Rule:
    """The n-th call fails, with this error or one that fits the call, or is the end of the process."""

    def rule(place: int, name: str) -> int | None:
        return None if place != n else KILL if mode == "kill" else number or ERRORS[name]

    return rule


def always(number: int, names: Sequence[str] = (), times: float = math.inf) -> Rule:
    """Calls of these names, or all, fail with this error, each or so many times."""
    left = times

    def rule(place: int, name: str) -> int | None:
        nonlocal left
        if (names and name not in names) or left <= 0:
            return None
        left -= 1
        return number

    return rule


class FaultyDisk:
    """What changes below `root` is counted, and fails where a rule says so."""

    def __init__(self, root: Path, rule: Rule = lambda place, name: None):
        self.root, self.rule = os.path.realpath(root), rule
        self.calls: list[str] = []  # what was called, in order
        self.failed: list[str] = []  # and which of these failed
        self.dead = False

    def concerns(self, place: Any) -> bool:
        """Whether a path or a descriptor lies below the root."""
        if isinstance(place, int):
            try:
                place = os.readlink(f"/proc/self/fd/{place}")
            except OSError:
                return False
            if not place.startswith(os.sep):
                return False  # a pipe or a socket
        return (os.path.abspath(os.fsdecode(place)) + os.sep).startswith(self.root + os.sep)

    def call(self, name: str, place: Any) -> bool:
        """Count a call; raise when it is its turn. True where a killed process must not do it."""
        if not self.concerns(place):
            return False
        if self.dead:
            return True
        self.calls.append(f"{name} {place}")
        if (number := self.rule(len(self.calls), name)) is not None:
            self.failed.append(self.calls[-1])
            if number == KILL:
                self.dead = True
                raise Killed(self.calls[-1])
            raise OSError(number, os.strerror(number), str(place))
        return False

    def wrapped(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """A call by path or descriptor. Of two paths, the one that lies below the root; of a link, the new one."""

        def call(*arguments: Any, **more: Any) -> Any:
            places = (
                arguments[1:2] if name in ("link", "symlink") else arguments[:2] if name in TWO_PATHS else arguments[:1]
            )
            whole = [followed(place, more.get("dir_fd")) for place in places]
            if self.call(name, next(filter(self.concerns, reversed(whole)), whole[0])):
                raise Killed(name)
            return original(*arguments, **more)

        return call

    def open(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`open` with files whose writes are counted."""

        def open_file(file: Any, mode: str = "r", buffering: int = -1, *arguments: Any, **more: Any) -> Any:
            if not set(mode) & set("wax+") or isinstance(file, int) or not self.concerns(file):
                return original(file, mode, buffering, *arguments, **more)
            if self.call("open", file):
                raise Killed("open")
            raw = FaultyFile(self, file, mode.replace("b", "").replace("t", ""))
            if buffering == 0:
                return raw
            binary = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return binary
            names = ("encoding", "errors", "newline")
            text = dict(zip(names, arguments, strict=False)) | {name: more[name] for name in names if name in more}
            return io.TextIOWrapper(binary, **text, line_buffering=buffering == 1)

        return open_file

    def os_open(self, original: Callable[..., int]) -> Callable[..., int]:
        """`os.open`, counted where it may create or write."""

        def open_descriptor(path: Any, flags: int, *arguments: Any, **more: Any) -> int:
            if flags & WRITING and more.get("dir_fd") is None and self.call("open", path):
                raise Killed("open")
            return original(path, flags, *arguments, **more)

        return open_descriptor

    def write(self, original: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
        """`os.write`: half of what was meant reaches the disk when it fails."""

        def write(descriptor: int, data: Any) -> int:
            with self.torn(lambda: original(descriptor, bytes(data)[: len(data) // 2])):
                if self.call("write", descriptor):
                    raise Killed("write")
            return original(descriptor, data)

        return write

    def flock(self, original: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
        """`flock`: giving a lock back always works, as the kernel does it for the dead."""

        def flock(file: Any, operation: int) -> None:
            descriptor = file if isinstance(file, int) else file.fileno()
            if not operation & fcntl.LOCK_UN and self.call("flock", descriptor):
                raise Killed("flock")
            original(file, operation)

        return flock

    @contextmanager
    def torn(self, half: Callable[[], Any]) -> Iterator[None]:
        """Write half when the whole fails now: a full disk and a kill leave such files."""
        before = self.dead
        try:
            yield
        except (OSError, Killed):
            if not before:
                half()
            raise

    def close_what_is_open(self) -> None:
        """What the system does with the files and locks of a dead process; whoever still has one writes to nowhere."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for name in os.listdir("/proc/self/fd"):
            if int(name) != nowhere and self.concerns(int(name)):
                os.dup2(nowhere, int(name), inheritable=False)
        os.close(nowhere)

    @contextmanager
    def mounted(self) -> Iterator[FaultyDisk]:
        """Everything in this process uses this disk."""
        patches = [mock.patch.object(os, name, self.wrapped(name, getattr(os, name))) for name in WITH_PATHS]
        patches += [
            mock.patch.object(os, name, self.wrapped("fsync", getattr(os, name))) for name in ("fsync", "fdatasync")
        ]
        patches += [
            mock.patch.object(os, "open", self.os_open(os.open)),
            mock.patch.object(os, "write", self.write(os.write)),
        ]
        opened = self.open(io.open)
        patches += [mock.patch.object(io, "open", opened), mock.patch.object(builtins, "open", opened)]
        patches += [mock.patch.object(fcntl, "flock", self.flock(fcntl.flock))]
        # Whoever finds what was left must see that its process is dead: no system has so large a number.
        patches += [mock.patch.object(os, "getpid", lambda: NOBODY)]
        for patch in patches:
            patch.start()
        try:
            yield self
        finally:
            for patch in reversed(patches):
                patch.stop()


def followed(place: Any, folder: int | None) -> Any:
    """A path that counts from an open folder (`dir_fd`, as shutil uses it), as a whole path."""
    if folder is None or isinstance(place, int):
        return place
    return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(place))


class FaultyFile(io.FileIO):
    """A file whose writes are counted, and torn when they fail."""

    def __init__(self, disk: FaultyDisk, path: Any, mode: str):
        self.disk = disk
        super().__init__(path, mode)

    def write(self, data: Any) -> int:
        if self.disk.dead:
            return len(data)  # a buffer that is emptied as the dead process' memory goes
        with self.disk.torn(lambda: super(FaultyFile, self).write(bytes(data)[: len(data) // 2])):
            self.disk.call("write", self.name)
        return super().write(data) or 0


@contextmanager
def failing(folder: Path, number: int, names: Sequence[str] = (), times: float = math.inf) -> Iterator[list[str]]:
    """Let calls below a folder fail with an error: all, or these; always, or so many times. Gives those that failed."""
    with FaultyDisk(folder, always(number, names, times)).mounted() as disk:
        yield disk.failed
