"""Opening what a spec names: regular files of a sane size, and nothing that could hang or never end."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader

from wmlab.limits import grouped


class FileRefused(OSError):
    """A file that is not read, though it is there; `strerror` says why in words, as for every other OSError."""


def open_regular(path: str | os.PathLike[str], most: int) -> BufferedReader:
    """A regular file of at most so many bytes, opened to be read; FileRefused where it is anything else.

    It is looked at after it was opened, so that nothing can be put in its place between the two; and it is opened
    without waiting, for a pipe that nobody writes to would wait for ever.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError as error:  # a NUL in its name
        raise FileRefused(errno.EINVAL, str(error)) from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise FileRefused(errno.EISDIR, "this is a folder, not a file")
        if not stat.S_ISREG(status.st_mode):
            raise FileRefused(errno.EINVAL, "this is a pipe, a device or a socket, not a file")
        if status.st_size > most:
            raise FileRefused(errno.EFBIG, f"a file of {size(status.st_size)}; {size(most)} are allowed")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """What a regular file of at most so many bytes holds."""
    with open_regular(path, most) as file:
        data = file.read(most + 1)
    if len(data) > most:  # it grew, or its file system tells no sizes, as that of /proc
        raise FileRefused(errno.EFBIG, f"a file of more than {size(most)}; no more are allowed")
    return data


def size(count: int) -> str:
    """A number of bytes as people say it."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{grouped(count)} bytes"
