"""The cache folder: its format, its folders, and what lies there that was not put there by wmlab.

A file in place of a folder, a loop of links or a pipe is moved to `quarantine/`, and the work goes on.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
import time
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

from wmlab.errors import WmlabError
from wmlab.runtime.durable import make_folders, write_file

FORMAT = 1  # of the cache; a cache without a mark is of this format, too, or older: its entries tell what they are
MARK = "format"
QUARANTINE = "quarantine"
BOARDS = "tensorboard"  # a folder with curves for each run that was asked for them
FULL = (errno.ENOSPC, errno.EDQUOT)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
_IN_THE_WAY = (errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENXIO)
_LARGEST = 2**28  # bytes of a file that is read at once without a size to expect
_counter = itertools.count()


class CacheError(WmlabError):
    """The cache folder cannot be used as it is."""


def check(root: Path) -> None:
    """CacheError where a folder cannot be the cache, or is one that a later wmlab wrote."""
    try:
        is_folder = stat.S_ISDIR(os.stat(root).st_mode)
    except FileNotFoundError:
        return
    except OSError as error:
        raise unusable(root, error) from None
    if not is_folder:
        raise CacheError(f"the cache {root} is not a folder; move it away, or name another place with WMLAB_HOME")
    try:
        number = read_file(root / MARK).split(maxsplit=1)[0]
    except (OSError, IndexError):
        return
    if number.isdigit() and int(number[:9]) > FORMAT:
        raise CacheError(
            f"the cache {root} is of format {int(number[:9])}, and this wmlab knows formats up to {FORMAT}: a newer "
            "wmlab wrote it; use that one, or name another place with WMLAB_HOME"
        )


def prepare(root: Path) -> None:
    """Make the cache folder ready to be written to; CacheError where it cannot be. A full disk is no such case."""
    try:
        make_folders(root)
        for name, text in ((".gitignore", "*\n"), (MARK, f"{FORMAT}\nThe format of this cache of wmlab.\n")):
            if not os.path.lexists(root / name):
                write_file(root / name, text.encode())
        probe = aside(root, "probe")
        probe.touch()
        probe.unlink()
    except OSError as error:
        if error.errno not in FULL:
            raise unusable(root, error) from None


def problem(root: Path) -> CacheError | None:
    """Why a folder cannot be written to as the cache; one that is missing is made for a moment."""
    if root.is_dir():
        if os.access(root, os.W_OK | os.X_OK):
            return None
        number = errno.EROFS if os.statvfs(root).f_flag & os.ST_RDONLY else errno.EACCES
        return unusable(root, OSError(number, os.strerror(number)))
    missing = [folder for folder in (root, *root.parents) if not folder.exists()]
    try:
        make_folders(root)
    except OSError as error:
        return unusable(root, error)
    finally:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
    return None


def unusable(root: Path, error: OSError, verb: str = "used") -> CacheError:
    """What to say of a cache folder that the system refuses."""
    return CacheError(
        f"the cache {root} cannot be {verb}: {reason(error)}; name a folder that you can write to with WMLAB_HOME"
    )


def reason(error: OSError) -> str:
    """Why the system refused something, in its own words."""
    return error.strerror or str(error)


def is_read_only(error: OSError) -> bool:
    """Whether something cannot be written because we may not, which matters only if it is needed."""
    return error.errno in _READ_ONLY


def folder(root: Path, *names: str) -> Path:
    """A folder of the cache, made if it is missing; what stands in its place is set aside."""
    path = root.joinpath(*names)
    try:
        make_folders(path)
    except OSError as error:
        if error.errno not in _IN_THE_WAY:
            raise
        obstacle = root
        for name in names:
            obstacle = obstacle / name
            if os.path.lexists(obstacle) and not obstacle.is_dir():
                set_aside(root, obstacle)
        make_folders(path)
    return path


def aside(root: Path, name: str) -> Path:
    """A new name in `tmp/`, for what is written aside and then renamed."""
    return folder(root, "tmp") / f"{name}-{os.getpid()}-{next(_counter)}"


def set_aside(root: Path, path: Path) -> bool:
    """Move something out of the way, to `quarantine/`; whether it is gone from its place."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{path.name}-{os.getpid()}-{next(_counter)}"
    try:
        if path == root / QUARANTINE:
            os.rename(path, root / f"{QUARANTINE}-{name}")
        else:
            os.rename(path, folder(root, QUARANTINE) / name)
    except FileNotFoundError:
        return True  # another process did it first
    except OSError:
        return not os.path.lexists(path)
    return True


def clear_way(root: Path, path: Path, error: OSError) -> bool:
    """Set aside what stands at the place of a file and is none; whether it may be tried again."""
    if error.errno not in _IN_THE_WAY or not os.path.lexists(path) or path.is_file():
        return False
    return set_aside(root, path)


def open_file(path: Path | str) -> BufferedReader:
    """A file, opened for reading; OSError where it is no regular file: a pipe would be waited for for ever."""
    return open(_open_regular(path)[0], "rb")


def read_file(path: Path | str) -> bytes:
    """The content of a regular file of the cache."""
    return read_sized(path, None)[0]


def read_sized(path: Path | str, expected: int | None) -> tuple[bytes, int]:
    """The content of a regular file and its size; nothing is read of one whose size is not as expected.

    A report reads tens of thousands of small files: this does without the objects that `open` makes.
    """
    descriptor, size = _open_regular(path)
    try:
        if expected is None and size > _LARGEST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        parts: list[bytes] = []
        left = size if expected in (None, size) else 0
        while left and (part := os.read(descriptor, left)):  # to ask for more than there is makes room for all of that
            parts.append(part)
            left -= len(part)
        return b"".join(parts), size
    finally:
        os.close(descriptor)


def _open_regular(path: Path | str) -> tuple[int, int]:
    """The descriptor of a regular file, and its size."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return descriptor, found.st_size


def children(path: Path) -> list[Path]:
    """What lies in a folder, in the order of names; nothing where it is none or cannot be read."""
    with suppress(OSError):
        return sorted(path.iterdir())
    return []
