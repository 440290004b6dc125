"""The map as it is drawn: which cells there are, what they are called, and which can be left in one direction alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import as_states
from wmlab.mdps.gridworld.options import DIRECTIONS, Options

WALL, FREE = "#", ". "
ARROWS = "↑→↓←"  # in the order of the directions
ONE_WAY = {"^": "up", ">": "right", "v": "down", "<": "left"}


def rows_of(text: str) -> list[str]:
    """The lines of a map; empty lines around it do not count."""
    return text.strip("\n").split("\n")


def marks_of(options: Options) -> np.ndarray:
    """The characters of the map, [rows, columns]."""
    return np.array([list(row) for row in rows_of(options.map)])


def is_name(mark: str, options: Options) -> bool:
    """Whether a character of the map names its cell; v is an arrow unless the legend says otherwise."""
    return mark in options.legend or (mark.isascii() and mark.isalpha() and mark not in ONE_WAY)


def space(options: Options) -> FiniteSpace:
    """The free cells of the map. A name of several cells is a region; a cell alone bears the name itself."""
    marks = marks_of(options)
    places: dict[str, list[tuple[int, int]]] = {}
    for row, column in np.argwhere((marks != WALL) & ~np.isin(marks, list(FREE))).tolist():
        if is_name(marks[row, column], options):
            mark = str(marks[row, column])
            places.setdefault(options.legend.get(mark, mark), []).append((row, column))
    letters = {cells[0]: name for name, cells in places.items() if len(cells) == 1}
    regions = {name: places[name] for name in options.legend.values() if name in places}
    return FiniteSpace.grid(marks != WALL, options.actions, letters, regions)


def cells_of(cells: Any, where: FiniteSpace) -> np.ndarray:
    """The states that a spec says as cells, each once, in order; null says all."""
    if cells is None:
        return np.arange(where.size)
    if isinstance(cells, dict):
        (top, bottom), (left, right) = cells["rows"], cells["columns"]
        block = where.lookup[top : bottom + 1, left : right + 1]
        return block[block >= 0]
    return np.unique([state for _, each in as_states(cells, ()) for state in where.states(each)])


def exits_of(options: Options, where: FiniteSpace) -> np.ndarray:
    """In which of the directions each cell can be left, walls aside: bool [S, 4]."""
    assert where.cells is not None
    marks = marks_of(options)[where.cells[:, 0], where.cells[:, 1]]  # [S]
    ways = np.ones((where.size, len(DIRECTIONS)), bool)
    for mark, direction in ONE_WAY.items():
        if not is_name(mark, options):
            ways[marks == mark] = np.array(DIRECTIONS) == direction
    for name, directions in options.exits.items():
        ways[where.states(name)] = np.isin(DIRECTIONS, directions)
    return ways


def signs(options: Options, where: FiniteSpace) -> dict[tuple[int, int], str]:
    """What a drawing shows in cells that not every direction leads out of: arrows, or a cross where none does."""
    assert where.cells is not None
    ways = exits_of(options, where)
    signed = np.flatnonzero(~ways.all(axis=1))
    texts = ["".join(np.array(list(ARROWS))[ways[state]]) or "×" for state in signed]
    return {(int(row), int(column)): text for (row, column), text in zip(where.cells[signed], texts, strict=True)}
