"""What went wrong in a YAML text, in plain words: the parser's own complaints, and expressions cut at their commas."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from wmlab.errors import Source

# (what the parser says, what we say, what next); the first that fits. Both of PyYAML's parsers are covered.
_PLAIN = [
    (
        ("mapping values are not allowed",),
        "':' is not expected here",
        "check the indentation, and quote a text that holds ': '",
    ),
    (("sequence entries are not allowed",), "'- ' is not expected here", "start a list on a line of its own"),
    (("unknown escape character",), "an unknown '\\' escape in a double-quoted text", "use single quotes"),
    (("<document start>",), "this does not belong to what stands before it", "indent it as the first line is"),
    (("expected node content", "expected the node content"), "a value is missing here", None),
    (("tag",), "a tag ('!…') is not part of the language", "quote a text that starts with '!'"),
    (
        ("scanning an alias", "scanning an anchor"),
        "'&' and '*' start the name of an anchor",
        "quote a text that starts so",
    ),
    (("block scalar",), "this cannot follow '|' or '>'", "start the text on the next line, indented"),
    (("directive", "incompatible YAML"), "a line that starts with '%' is not part of the language", None),
]


@dataclass(frozen=True)
class SyntaxProblem:
    """What is wrong, and at which line and column (from 0)."""

    line: int
    column: int
    message: str
    hint: str | None = None


def explain_syntax(error: yaml.YAMLError, lines: list[str]) -> SyntaxProblem:
    """A syntax error of YAML as one plain sentence."""
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    problem, context = str(getattr(error, "problem", None) or error), str(getattr(error, "context", None) or "")
    if mark is None:
        return SyntaxProblem(0, 0, f"YAML cannot read this: {problem}")
    line = lines[mark.line] if mark.line < len(lines) else ""
    indentation = line[: len(line) - len(line.lstrip())]
    if "\t" in indentation:
        message = "a tab indents this line, which YAML does not allow"
        return SyntaxProblem(mark.line, indentation.index("\t"), message, "indent with spaces")
    if "cannot start any token" in problem:
        character = line[mark.column : mark.column + 1]
        if character == "\t":
            return SyntaxProblem(mark.line, mark.column, "a tab may not stand here", "use spaces")
        return SyntaxProblem(mark.line, mark.column, f"a value cannot start with '{character}'", "quote it")
    if start is not None and (open_problem := _open(problem, context, mark, start, lines)):
        return open_problem
    for needles, message, hint in _PLAIN:
        if any(needle in problem or needle in context for needle in needles):
            return SyntaxProblem(mark.line, mark.column, message, hint)
    return SyntaxProblem(mark.line, mark.column, f"YAML cannot read this: {problem}")


def _open(problem: str, context: str, mark: yaml.Mark, start: yaml.Mark, lines: list[str]) -> SyntaxProblem | None:
    """Something that was begun at `start` and that the text at `mark` does not go on or close."""
    begun = f"line {start.line + 1}"
    at_end = not any(line.strip() for line in [_rest(lines, mark), *lines[mark.line + 1 :]])
    if "quoted scalar" in context and "unexpected" in problem:
        return SyntaxProblem(start.line, start.column, "this quote is never closed")
    if "parsing a flow" in context and "expected ','" in problem:
        opening, closing = ("[", "]") if "sequence" in context else ("{", "}")
        if at_end:
            return SyntaxProblem(start.line, start.column, f"'{opening}' is never closed")
        still = f"the '{opening}' of {begun} is open" if start.line != mark.line else f"'{opening}' is open"
        hint = f"{still}: a comma is missing, or quotes around a text that holds brackets or ': '"
        return SyntaxProblem(mark.line, _key_before(lines, mark), f"expected ',' or '{closing}' here", hint)
    if "simple key" in context:
        hint = "a ':' is missing, or a text needs quotes"
        return SyntaxProblem(start.line, start.column, "expected 'key: value'", hint)
    if "block mapping" in context and _rest(lines, mark)[:1] in ("]", "}"):
        return SyntaxProblem(mark.line, mark.column, f"'{_rest(lines, mark)[0]}' closes nothing")
    if "block mapping" in context and mark.line < len(lines) and lines[mark.line][: mark.column].strip():
        return SyntaxProblem(mark.line, mark.column, "nothing more is expected on this line", "quote the whole value")
    if "block mapping" in context:
        hint = "check the indentation and the quotes"
        return SyntaxProblem(mark.line, mark.column, f"expected a key in line with those from {begun} on", hint)
    if "block collection" in context or "block sequence" in context:
        return SyntaxProblem(mark.line, mark.column, f"expected '- ' in line with the list from {begun} on")
    return None


def _key_before(lines: list[str], mark: yaml.Mark) -> int:
    """The column of the word in front of a ':' that nothing had announced, or else of the place itself."""
    if _rest(lines, mark)[:1] != ":":
        return int(mark.column)
    before = lines[mark.line][: mark.column]
    return len(before.rstrip()) - len((before.split() or [""])[-1])


def _rest(lines: list[str], mark: yaml.Mark) -> str:
    return lines[mark.line][mark.column :] if mark.line < len(lines) else ""


# --- expressions that YAML cut at their commas: `{speed: clip(speed + wind, -8, 8)}` without quotes ----------------


def unquoted_commas(source_line: str, key: str, column: int | None = None) -> str | None:
    """The whole text that YAML cut into pieces, of which `key` is one, or None when it was not cut.

    With `column` (from 1) the piece is the one at that place of the line; without, only a piece whose brackets do
    not balance is looked for.
    """
    if column is None and key.count("(") == key.count(")"):
        return None
    entries = _cut_entries(source_line)
    if column is None:
        return next((text for _, text in entries if key in (piece.strip() for piece in text.split(","))), None)
    position = bisect.bisect_left(entries, (column,)) - 1  # the last entry that starts before the column
    start, text = entries[position] if position >= 0 else (0, "")
    return text if start < column <= start + len(text) else None


def cut_at_commas(source: Source, piece: str) -> tuple[str, str] | None:
    """What to say of a key or a value that is one piece of a text cut at its commas: message and hint."""
    cut = unquoted_commas(source.text, piece, source.column) if source.text is not None and piece else None
    return None if cut is None or cut == piece else (f"YAML cut '{cut}' at its commas", "quote it")


@functools.lru_cache(maxsize=8)
def _cut_entries(line: str) -> list[tuple[int, str]]:
    """Those entries of a line that YAML cut; a line with a thousand mistakes is read once."""
    return [(start, text) for start, text in _entries(line) if "," in text and text.count("(") == text.count(")")]


def _entries(line: str) -> Iterator[tuple[int, str]]:
    """The keys and values of a line with their offsets, as they would be if '(' protected commas."""
    start, depth, at = 0, 0, 0
    while at <= len(line):
        character = line[at : at + 1]
        if character in ("'", '"') and not line[start:at].strip():
            closing = line.find(character, at + 1)
            at = len(line) if closing < 0 else closing + 1
            start = at  # a quoted text is never cut
            continue
        comment = character == "#" and line[at - 1 : at] in ("", " ", "\t")
        if comment or _ends_entry(line, at, depth):
            text = line[start:at].strip()
            if text:
                yield line.index(text, start), text
            start = at + 1
        if comment:
            return
        depth = max(0, depth + (character == "(") - (character == ")"))
        at += 1


def _ends_entry(line: str, at: int, depth: int) -> bool:
    character = line[at : at + 1]
    if not character or character in "{}[]":
        return True
    if depth:
        return False
    return character == "," or (character == ":" and line[at + 1 : at + 2] in ("", " ", "\t"))
