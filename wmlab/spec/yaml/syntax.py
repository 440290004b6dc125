"""YAML's own complaints, in plain words and at the place that a person would look at."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

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
class Problem:
    """What is wrong, and at which line and column (from 0)."""

    line: int
    column: int
    message: str
    hint: str | None = None


def explain(error: yaml.YAMLError, lines: list[str]) -> Problem:
    """A syntax error of YAML as one plain sentence."""
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    problem, context = str(getattr(error, "problem", None) or error), str(getattr(error, "context", None) or "")
    if mark is None:
        return Problem(0, 0, f"YAML cannot read this: {problem}")
    line = lines[mark.line] if mark.line < len(lines) else ""
    indentation = line[: len(line) - len(line.lstrip())]
    if "\t" in indentation:
        message = "a tab indents this line, which YAML does not allow"
        return Problem(mark.line, indentation.index("\t"), message, "indent with spaces")
    if "cannot start any token" in problem:
        character = line[mark.column : mark.column + 1]
        if character == "\t":
            return Problem(mark.line, mark.column, "a tab may not stand here", "use spaces")
        return Problem(mark.line, mark.column, f"a value cannot start with '{character}'", "quote it")
    if start is not None and (open_problem := _open(problem, context, mark, start, lines)):
        return open_problem
    for needles, message, hint in _PLAIN:
        if any(needle in problem or needle in context for needle in needles):
            return Problem(mark.line, mark.column, message, hint)
    return Problem(mark.line, mark.column, f"YAML cannot read this: {problem}")


def _open(problem: str, context: str, mark: yaml.Mark, start: yaml.Mark, lines: list[str]) -> Problem | None:
    """Something that was begun at `start` and that the text at `mark` does not go on or close."""
    begun = f"line {start.line + 1}"
    at_end = not any(line.strip() for line in [_rest(lines, mark), *lines[mark.line + 1 :]])
    if "quoted scalar" in context and "unexpected" in problem:
        return Problem(start.line, start.column, "this quote is never closed")
    if "parsing a flow" in context and "expected ','" in problem:
        opening, closing = ("[", "]") if "sequence" in context else ("{", "}")
        if at_end:
            return Problem(start.line, start.column, f"'{opening}' is never closed")
        still = f"the '{opening}' of {begun} is open" if start.line != mark.line else f"'{opening}' is open"
        hint = f"{still}: a comma is missing, or quotes around a text that holds brackets or ': '"
        return Problem(mark.line, _key_before(lines, mark), f"expected ',' or '{closing}' here", hint)
    if "simple key" in context:
        return Problem(start.line, start.column, "expected 'key: value'", "a ':' is missing, or a text needs quotes")
    if "block mapping" in context and _rest(lines, mark)[:1] in ("]", "}"):
        return Problem(mark.line, mark.column, f"'{_rest(lines, mark)[0]}' closes nothing")
    if "block mapping" in context and mark.line < len(lines) and lines[mark.line][: mark.column].strip():
        return Problem(mark.line, mark.column, "nothing more is expected on this line", "quote the whole value")
    if "block mapping" in context:
        hint = "check the indentation and the quotes"
        return Problem(mark.line, mark.column, f"expected a key in line with those from {begun} on", hint)
    if "block collection" in context or "block sequence" in context:
        return Problem(mark.line, mark.column, f"expected '- ' in line with the list from {begun} on")
    return None


def _key_before(lines: list[str], mark: yaml.Mark) -> int:
    """The column of the word in front of a ':' that nothing had announced, or else of the place itself."""
    if _rest(lines, mark)[:1] != ":":
        return int(mark.column)
    before = lines[mark.line][: mark.column]
    return len(before.rstrip()) - len((before.split() or [""])[-1])


def _rest(lines: list[str], mark: yaml.Mark) -> str:
    return lines[mark.line][mark.column :] if mark.line < len(lines) else ""
