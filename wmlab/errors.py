"""What goes wrong, said so that a person can mend it: where, what, and what next."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from wmlab.limits import EXCERPT_CHARACTERS, MESSAGE_CHARACTERS, shorten

TAB, LINES = "\t", "\t\n"
# Characters that move what stands beside them: other line breaks, and changes of the direction of writing.
_HIDDEN = frozenset((0x061C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


class WmlabError(Exception):
    """An error that is shown to the user as one message, without a traceback."""

    exit_code = 1


class UsageError(WmlabError):
    """The command line asks for something that cannot be."""

    exit_code = 2


class StageError(WmlabError):
    """A stage found that it cannot give a result (infeasible, diverged, …)."""

    def __init__(self, message: str):
        super().__init__(shorten(message, MESSAGE_CHARACTERS))  # it goes to console, log, results and page


class OutOfMemory(StageError):
    """A stage would take more memory than there is."""


@dataclass(frozen=True)
class Source:
    """Where a value was written: a place in a file, a flag, or a default of the schema."""

    file: str
    line: int | None = None  # from 1
    column: int | None = None  # from 1
    text: str | None = None  # the whole source line, for the excerpt

    @property
    def is_default(self) -> bool:
        """Whether nobody wrote it: `default`, or `default for a continuous world`."""
        return self.line is None and self.file.partition(" ")[0] == "default"

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"


@dataclass(unsafe_hash=True)
class SpecError(WmlabError):
    """One mistake in a spec."""

    source: Source
    path: str  # as a user would say it: claims.one_unsafe.where, goals.at[2]
    message: str
    hint: str | None = None

    exit_code = 2

    def __post_init__(self) -> None:
        self.message = shorten(self.message, MESSAGE_CHARACTERS)
        self.hint = None if self.hint is None else shorten(self.hint, MESSAGE_CHARACTERS)

    def __str__(self) -> str:
        return visible(f"{self.source}: {self.path}: {self.message}" if self.path else f"{self.source}: {self.message}")

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        return (self.source.file, self.source.line or 0, self.source.column or 0, self.path, self.message)

    def excerpt(self) -> str:
        """The source line with a caret under the place, and the hint behind it."""
        hint = visible(self.hint or "")
        if self.source.text is None or self.source.line is None:
            return f"   {hint}" if hint else ""
        number = f"{self.source.line:>5}"
        text, column = around(self.source.text, (self.source.column or 1) - 1)
        caret = " " * column + "^" + (f" {hint}" if hint else "")
        return f"{number} | {visible(text, keep=TAB)}\n{' ' * len(number)} | {caret}"


def around(line: str, column: int) -> tuple[str, int]:
    """The part of a long line around a column (from 0), and the column in it."""
    if len(line) <= EXCERPT_CHARACTERS:
        return line, column
    start = max(0, min(column - EXCERPT_CHARACTERS // 2, len(line) - EXCERPT_CHARACTERS))
    end = start + EXCERPT_CHARACTERS
    before, after = "…" if start else "", "…" if end < len(line) else ""
    return f"{before}{line[start:end]}{after}", column - start + len(before)


class SpecErrors(WmlabError):
    """Every mistake that was found, in the order of the files."""

    exit_code = 2

    def __init__(self, errors: Iterable[SpecError]):
        self.errors = tuple(sorted(set(errors), key=lambda error: error.order))
        super().__init__("\n".join(str(error) for error in self.errors))


def visible(text: str, keep: str = "") -> str:
    """Text in which control characters are seen and do nothing: they are written as in Python, but for those to keep.

    Whoever writes lines for people passes what comes from a spec or a file through here, so that it stays on its line.
    """
    return text if text.isprintable() else text.translate(_shown(keep))


@cache
def _shown(keep: str) -> dict[int, str]:
    """How to write characters that are not seen, all but those to keep."""
    halves = range(0xD800, 0xE000)  # of characters
    shown = {code: chr(code).encode("unicode_escape").decode() for code in range(0x20)}
    shown |= {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *_HIDDEN, *halves)}
    return {code: text for code, text in shown.items() if chr(code) not in keep}


MOST_KNOWN = 100_000  # words among which the nearest is looked for; of more, it would take long to find


def suggest(word: str, known: Iterable[str]) -> str | None:
    """A did-you-mean for a word that is not among the known ones."""
    words = list(itertools.islice(known, MOST_KNOWN + 1))
    matches = difflib.get_close_matches(word, words, n=1, cutoff=0.6) if len(words) <= MOST_KNOWN else []
    return f"did you mean '{matches[0]}'?" if matches else None


def one_of(known: Iterable[str]) -> str:
    """'a, b or c', for messages."""
    words = [str(word) for word in known]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
