"""Faults of the surroundings in words: a full disk, a folder that may not be written, a name that is too long."""

from __future__ import annotations

import errno
import os

from wmlab.errors import visible

_LONGEST = 120  # letters of a path that is shown
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_FOLDER = (errno.ENOTDIR, errno.EEXIST, errno.EISDIR)


def fault_text(fault: OSError) -> str:
    """What the system refused, and what to do."""
    reason = fault.strerror or str(fault) or type(fault).__name__
    place = shown(fault.filename2 or fault.filename)
    if fault.errno in _FULL:
        return f"no room for {place} ({reason}); make some (`wmlab cache gc` removes old results) and try again"
    if fault.errno in _FORBIDDEN:
        return f"{place}: {reason}; change its rights, or name another folder by --output or WMLAB_HOME"
    if fault.errno in _NO_FOLDER:
        return f"{place}: {reason}; a file and a folder cannot have the same place: move it, or name another folder"
    if fault.errno == errno.ENAMETOOLONG:
        return f"{place}: {reason}; choose shorter names, or a folder with a shorter path"
    if fault.errno == errno.ENOENT and not here():
        return "the folder that you are in is gone; go to one that exists, and try again"
    return f"{place}: {reason}"


def shown(path: object) -> str:
    if path is None:
        return "a file"
    text = visible(os.fsdecode(path) if isinstance(path, bytes) else str(path))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"


def here() -> bool:
    """Whether the working folder still exists."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True
