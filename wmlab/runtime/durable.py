"""Files and folders that are written whole or not at all; if asked, also so that a power cut does not undo them.

What is new is written aside, under a hidden name in the same folder that names its process, and then gets its name. A
folder cannot take the place of another in one step: the old one is renamed away first. Whoever is killed between the
two steps leaves a whole old folder and a whole new one; `recover_folder` finishes what was begun.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from wmlab.runtime.processes import is_alive

_NEW, _OLD = "new", "old"
_LONGEST = 120  # bytes of a name that is repeated in the name aside: 255 is the limit of most file systems
_IN_THE_WAY = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)  # of a folder that takes another's place
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)  # file systems on which folders need none, or have none
_ATTEMPTS = 100  # at taking the place of a folder that others put there again and again
_counter = itertools.count()


def write_file(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a file: a reader sees the old content or the new, never a part. `durable` waits for the disk.

    A link is followed, so that it stays one. Folders above the file are made where they are missing.
    """
    path = Path(os.path.realpath(path))
    make_folders(path.parent, durable=durable)
    _clean(path)
    new = _Aside.create(path).path(_NEW)
    try:
        with open(new, "xb") as file:
            share(new)
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        discard(new)
        raise
    if durable:
        sync_folder(path.parent)


def replace_folder(target: Path, fill: Callable[[Path], None], *, durable: bool = False) -> None:
    """Put a new folder in the place of `target`, which may be missing: `fill` writes into a new one beside it.

    If `fill` fails, everything stays as it was. Two who do this at once both succeed, and one of them is the last.
    """
    target = Path(os.path.realpath(target))
    make_folders(target.parent, durable=durable)
    recover_folder(target)
    aside = _Aside.create(target)
    new = aside.path(_NEW)
    try:
        make_folders(new)
        fill(new)
        if durable:
            sync_tree(new)
        _take_place(new, target, aside.path(_OLD))
    except BaseException:
        discard(new)
        raise
    if durable:
        sync_folder(target.parent)


def recover_folder(target: Path) -> None:
    """Finish or undo what a process that was killed had begun to do with a folder, and remove what it left.

    To be called before a folder that `replace_folder` writes is read. An old folder lies aside only once the new one
    is whole: if the place is empty, the new one takes it, or the old one goes back where the new one is gone.
    """
    target = Path(os.path.realpath(target))
    for aside in _leftovers(target):
        new, old = aside.path(_NEW), aside.path(_OLD)
        if os.path.lexists(old) and not os.path.lexists(target):
            with suppress(OSError):  # another process does the same
                os.rename(new if new.is_dir() else old, target)
    _clean(target)


def make_folders(path: Path, *, durable: bool = False) -> None:
    """Make a folder and those above it, where they are missing, with the rights that the folder above them implies."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        if path.parent == path:
            break
        path = path.parent
    for folder in reversed(missing):
        try:
            os.mkdir(folder)
        except FileExistsError:
            if not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None
        else:
            share(folder)
            if durable:
                sync_folder(folder.parent)


def share(path: Path) -> None:
    """Give a new file or folder to the group of its folder, where that group may write there.

    A folder that a group may write to is shared, whatever the umask of those who write into it.
    """
    folder, own = os.stat(path.parent), os.stat(path)
    if not folder.st_mode & 0o020 or own.st_gid != folder.st_gid:
        return
    is_folder = path.is_dir()
    mode = own.st_mode & 0o7777 | (0o070 | folder.st_mode & 0o2000 if is_folder else 0o060)
    if mode != own.st_mode & 0o7777:
        with suppress(OSError):  # the work goes on with the rights that there are
            os.chmod(path, mode)


def sync_tree(folder: Path) -> None:
    """Wait until the disk has all the files of a folder and of those below it.

    Links, pipes and files that may not be read have no content of their own to wait for, or none that is ours.
    """
    for place, _, names in os.walk(folder):
        for path in (Path(place) / name for name in names):
            if path.is_file() and not path.is_symlink():
                with suppress(PermissionError):
                    _sync(path)
        sync_folder(Path(place))


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names of a folder's files, on file systems where that can be asked for."""
    try:
        _sync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def discard(path: Path) -> None:
    """Remove a file or a folder, if it is there and the system lets us: a fault before this one is the one to tell."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


class _Aside(NamedTuple):
    """The names of what one call writes aside."""

    target: Path
    host: str
    pid: int
    number: int

    @classmethod
    def create(cls, target: Path) -> _Aside:
        return cls(target, _host(), os.getpid(), next(_counter))

    def path(self, state: str) -> Path:
        return self.target.with_name(f"{_prefix(self.target)}{self.host}.{self.pid}.{self.number}.{state}")

    @property
    def is_dead(self) -> bool:
        """Whether its process is known to have ended; of another machine's processes nobody here can tell."""
        return self.host == _host() and not is_alive(self.pid)


def _take_place(new: Path, target: Path, old: Path) -> None:
    try:
        for attempt in itertools.count():
            try:
                os.rename(new, target)
                break
            except OSError as error:
                if error.errno not in _IN_THE_WAY or attempt == _ATTEMPTS:
                    raise
            discard(old)
            with suppress(FileNotFoundError):  # another process was quicker
                os.rename(target, old)
    except BaseException:
        if os.path.lexists(old) and not os.path.lexists(target):
            os.rename(old, target)
        raise
    discard(old)


def _leftovers(target: Path) -> Iterator[_Aside]:
    """What processes that have ended left beside a target."""
    prefix = _prefix(target)
    with suppress(FileNotFoundError):
        for name in sorted(os.listdir(target.parent)):
            if not name.startswith(prefix) or name.rpartition(".")[2] not in (_NEW, _OLD):
                continue
            host, _, rest = name.removeprefix(prefix).partition(".")
            pid, _, number = rest.rpartition(".")[0].partition(".")
            if pid.isdigit() and number.isdigit():
                aside = _Aside(target, host, int(pid), int(number))
                if aside.is_dead:
                    yield aside


def _clean(target: Path) -> None:
    for aside in _leftovers(target):
        for state in (_NEW, _OLD):
            discard(aside.path(state))


def _prefix(target: Path) -> str:
    name = target.name
    if len(os.fsencode(name)) > _LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f".{name}~"


def _host() -> str:
    return socket.gethostname().replace(".", "-").replace("/", "-")[:64]


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
