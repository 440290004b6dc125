"""The border to the terminal: everything that a command prints goes through here.

Nothing that is printed drives the terminal, what its encoding lacks is written in plain letters, and what can no
longer be written (a closed terminal, a full disk) does not end a run before its report is written.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from wmlab.errors import LINES, visible

PLAIN = {
    **{"→": "->", "←": "<-", "…": "...", "–": "-", "—": "-", "−": "-", "×": "x", "±": "+-", "≥": ">=", "≤": "<="},
    **{"≠": "!=", "≈": "~", "∞": "inf", "✓": "+", "✗": "x", "·": ".", "’": "'", "‘": "'", "“": '"', "”": '"'},
    **{"└": "`", "├": "|", "│": "|", "─": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " "},
}
_RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


class Screen(io.TextIOBase):
    """A stream of text that shows control characters, writes what its encoding can, and outlives its reader."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self.fault: OSError | None = None  # why the stream can no longer be written to

    def write(self, text: str) -> int:
        """Write text; after a fault, nothing more is written."""
        self.write_styled(visible(text, keep=LINES))
        return len(text)

    def write_styled(self, text: str) -> int:
        """Write text whose control characters are our own: colours, and bars that move."""
        if self.fault is None:
            self._attempt(lambda: self.stream.write(written_in(self.encoding, text)))
        return len(text)

    def flush(self) -> None:
        if self.fault is None:
            self._attempt(self.stream.flush)

    def _attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except OSError as fault:
            self.fault = fault
            silence(self.stream)
        except ValueError:  # it was closed
            self.fault = OSError(errno.EBADF, os.strerror(errno.EBADF))

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self.stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        with suppress(ValueError):
            return self.fault is None and self.stream.isatty()
        return False

    def fileno(self) -> int:
        return self.stream.fileno()

    def writable(self) -> bool:
        return True


class StyledScreen(Screen):
    """The same screen for those who draw on it, and pass what they show through `visible` themselves."""

    def __init__(self, screen: Screen):
        super().__init__(screen.stream)
        self.screen = screen

    def write(self, text: str) -> int:
        return self.screen.write_styled(text)

    def flush(self) -> None:
        self.screen.flush()


def styled(stream: TextIO) -> TextIO:
    """A stream on which colours and bars can be drawn."""
    return StyledScreen(stream) if isinstance(stream, Screen) else stream  # type: ignore[return-value]


def written_in(encoding: str, text: str) -> str:
    """A text as far as an encoding has letters for it; our own signs have plain ones, others become \\uXXXX."""
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        lowered = _RAISED.sub(lambda power: "^" + power[0].translate(_LOWERED), text)
        return "".join(_plain(encoding, character) for character in lowered)


def _plain(encoding: str, character: str) -> str:
    try:
        character.encode(encoding)
        return character
    except UnicodeEncodeError:
        units = character.encode("utf-16-be", "surrogatepass").hex()
        return PLAIN.get(character) or "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def silence(stream: TextIO) -> None:
    """Let what is still buffered go nowhere, so that Python does not complain of it at the end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextmanager
def screens() -> Iterator[tuple[Screen, Screen]]:
    """Put a screen before standard output and standard error while a command runs."""
    before = sys.stdout, sys.stderr
    # A stream that was closed before the start is None.
    out, err = (Screen(stream if stream is not None else io.StringIO()) for stream in before)
    sys.stdout, sys.stderr = out, err
    try:
        yield out, err
        out.flush()
        err.flush()
    finally:
        sys.stdout, sys.stderr = before
