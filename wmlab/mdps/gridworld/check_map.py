"""What can be wrong with the drawing of a map, each mistake once and at its character."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from wmlab.mdps.gridworld.cells import FREE, ONE_WAY, WALL, is_name, rows_of
from wmlab.mdps.gridworld.options import Options
from wmlab.registry import Finding

SIGNS = "# is a wall, . or a space is free, > < ^ v lead one way, a letter names a free cell, a legend names several"


def marks_in(text: str) -> dict[str, list[tuple[int, int]]]:
    """Character: the cells that bear it, in order."""
    places: dict[str, list[tuple[int, int]]] = {}
    for number, row in enumerate(rows_of(text)):
        for column, mark in enumerate(row):
            places.setdefault(mark, []).append((number, column))
    return places


def check_map(options: Options) -> Iterator[Finding]:
    """Rows of another length, characters that mean nothing, letters that name two cells, and a map of walls."""
    yield from _check_rows(options.map)
    marks = marks_in(options.map)
    for mark, cells in marks.items():
        (row, column), others = cells[0], len(cells) - 1
        if is_name(mark, options):
            if mark not in options.legend and others:
                message = f"'{mark}' names two cells, {cells[0]} and {cells[1]}{_more(others - 1)}"
                yield _at(options.map, cells[1], message, f"to name them together, say legend: {{{mark}: …}}")
        elif mark != WALL and mark not in FREE and mark not in ONE_WAY:
            yield _at(
                options.map, cells[0], f"unknown character {mark!r} in row {row}, column {column}{_more(others)}", SIGNS
            )
    if marks.keys() <= {WALL}:
        yield Finding(("map",), "no free cell")


def _check_rows(text: str) -> Iterator[Finding]:
    """Rows that are not as long as most."""
    lengths = [len(row) for row in rows_of(text)]
    width = Counter(lengths).most_common(1)[0][0]
    odd = [number for number, length in enumerate(lengths) if length != width]
    if odd:
        first = odd[0]
        message = f"row {first} has {lengths[first]} characters, row {lengths.index(width)} has {width}"
        others = f", and so on in {len(odd) - 1} more" if len(odd) > 1 else ""
        last = min(lengths[first] - 1, width) if lengths[first] else 0  # the last character, or the first too many
        yield _at(text, (first, last), message + others, "a map is a rectangle")


def _more(count: int) -> str:
    return f", and {count} more" if count else ""


def _at(text: str, cell: tuple[int, int], message: str, hint: str) -> Finding:
    """A finding at the character of a cell."""
    row, column = cell
    above = rows_of(text)[:row]
    before = len(text) - len(text.lstrip("\n"))
    return Finding(("map",), message, hint, offset=before + sum(len(line) + 1 for line in above) + column)
