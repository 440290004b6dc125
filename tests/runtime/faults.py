"""A system that refuses: each call that would change something below a folder fails, for root and for everybody.

Python tells its audit hooks of every such call before it makes it; a hook that raises is a call that fails.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CALLS = {  # which of the arguments are paths that are changed
    "os.mkdir": (0,),
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.utime": (0,),
    "os.chmod": (0,),
}
_rules: list[Callable[[str, str], None]] = []


def _listen(event: str, arguments: tuple) -> None:
    if not _rules:
        return
    if event == "open":
        paths = [arguments[0]] if arguments[2] & _WRITE_FLAGS else []
    else:
        paths = [arguments[place] for place in _CALLS.get(event, ())]
    for path in paths:
        if isinstance(path, str | bytes):
            for rule in list(_rules):
                rule(event, os.path.abspath(os.fsdecode(path)))


sys.addaudithook(_listen)  # for ever; without rules it does nothing


@contextmanager
def failing_once(folder: Path, number: int, place: int) -> Iterator[list[str]]:
    """Let one call below a folder fail, that at this place (from 0). Gives all calls."""
    calls: list[str] = []
    inside = str(folder.absolute())

    def rule(event: str, path: str) -> None:
        if (path + os.sep).startswith(inside + os.sep):
            calls.append(f"{event} {path}")
            if len(calls) == place + 1:
                raise OSError(number, os.strerror(number), path)

    _rules.append(rule)
    try:
        yield calls
    finally:
        _rules.remove(rule)


@contextmanager
def failing(folder: Path, number: int, calls: tuple[str, ...] = (), times: int | None = None) -> Iterator[list[str]]:
    """Let calls below a folder fail with an error number: all, or these; always, or so many times. Gives the failed."""
    failed: list[str] = []
    inside = str(folder.absolute())

    def rule(event: str, path: str) -> None:
        if not (path + os.sep).startswith(inside + os.sep) or (calls and event not in calls):
            return
        if times is None or len(failed) < times:
            failed.append(f"{event} {path}")
            raise OSError(number, os.strerror(number), path)

    _rules.append(rule)
    try:
        yield failed
    finally:
        _rules.remove(rule)
