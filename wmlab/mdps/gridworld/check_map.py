"""What can be wrong with the drawing of a map, each mistake once and at its character."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from wmlab.mdps.gridworld.cells import FREE, ONE_WAY, WALL, is_name, rows_of
from wmlab.mdps.gridworld.options import Options
from wmlab.registry import Finding

SIGNS = "# is a wall, . or a space is free, > < ^ v lead one way, a letter names a free cell, a legend names several"


@dataclass(frozen=True)
class Bearers:
    """The cells that bear a character."""

    count: int
    first: tuple[int, int]
    second: tuple[int, int] | None


def marks_in(text: str) -> dict[str, Bearers]:
    """Character: how many cells bear it, and the first two of them; in the order of the map, looked through once."""
    rows = rows_of(text)
    drawn = "".join(rows)
    starts = list(itertools.accumulate(map(len, rows), initial=0))  # of rows, within what is drawn

    def cell(place: int) -> tuple[int, int] | None:
        row = bisect.bisect_right(starts, place) - 1
        return None if place < 0 else (row, place - starts[row])

    marks = {}
    for mark in dict.fromkeys(drawn):
        first = drawn.index(mark)
        marks[mark] = Bearers(drawn.count(mark), cell(first) or (0, 0), cell(drawn.find(mark, first + 1)))
    return marks


def check_map(options: Options) -> Iterator[Finding]:
    """Rows of another length, characters that mean nothing, letters that name two cells, and a map of walls."""
    yield from _check_rows(options.map)
    marks = marks_in(options.map)
    for mark, cells in marks.items():
        (row, column), others = cells.first, cells.count - 1
        if is_name(mark, options):
            if mark not in options.legend and cells.second is not None:
                message = f"'{mark}' names two cells, {cells.first} and {cells.second}{_more(others - 1)}"
                yield _at(options.map, cells.second, message, f"to name them together, say legend: {{{mark}: …}}")
        elif mark != WALL and mark not in FREE and mark not in ONE_WAY:
            yield _at(
                options.map,
                cells.first,
                f"unknown character {mark!r} in row {row}, column {column}{_more(others)}",
                SIGNS,
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
