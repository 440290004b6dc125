"""Expressions that YAML cut at their commas: `{speed: clip(speed + wind, -8, 8)}` without quotes."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import Source


def unquoted_commas(source_line: str, key: str, column: int | None = None) -> str | None:
    """The whole text that YAML cut into pieces, of which `key` is one, or None when it was not cut.

    With `column` (from 1) the piece is the one at that place of the line; without, only a piece whose brackets do
    not balance is looked for.
    """
    if column is None and key.count("(") == key.count(")"):
        return None
    for start, text in _entries(source_line):
        if column is not None:
            found = start < column <= start + len(text)
        else:
            found = key in (piece.strip() for piece in text.split(","))
        if found and "," in text and text.count("(") == text.count(")"):
            return text
    return None


def cut_at_commas(source: Source, piece: str) -> tuple[str, str] | None:
    """What to say of a key or a value that is one piece of a text cut at its commas: message and hint."""
    cut = unquoted_commas(source.text, piece, source.column) if source.text is not None and piece else None
    return None if cut is None or cut == piece else (f"YAML cut '{cut}' at its commas", "quote it")


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
