"""A gridworld drawn as text: walls, free cells, slippery floors and teleports.

Shapes: S free cells in row-major order, A actions, K successors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import (
    RESET_SCHEMA,
    STATE_SCHEMA,
    FiniteWorld,
    as_states,
    check_names,
    check_reset,
    check_states,
    reset_distribution,
)
from wmlab.registry import Finding, Scope, WorldTraits, by_type, mdps, option
from wmlab.registry.kinds import Path

WALL, FREE = "#", ". "
DIRECTIONS = ("up", "right", "down", "left")  # clockwise: a turn to the right is one further
STEPS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1), (0, 0)])
STAY = 4
LARGEST = 200_000_000  # entries of a kernel: 2.4 GB

Action = Literal["up", "right", "down", "left", "stay"]
RANGE_SCHEMA = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}


@dataclass(frozen=True)
class Slip:
    """Where a move ends up, as probabilities that sum to one; standing still never slips."""

    straight: float = option(doc="The move is made as meant.", at_least=0, at_most=1)
    left: float = option(0.0, doc="It turns by 90 degrees to the left.", at_least=0, at_most=1)
    right: float = option(0.0, doc="It turns by 90 degrees to the right.", at_least=0, at_most=1)
    stay: float = option(0.0, doc="It fails, and the agent stays.", at_least=0, at_most=1)


CELLS_SCHEMA = by_type(
    string={},
    array={"items": STATE_SCHEMA},
    object={
        "properties": {
            "rows": {**RANGE_SCHEMA, "description": "First and last row, both included."},
            "columns": {**RANGE_SCHEMA, "description": "First and last column, both included."},
        },
        "required": ["rows", "columns"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True)
class Teleport:
    """Cells from which every action leads elsewhere."""

    from_: Any = option(
        doc="What teleports: a cell ([row, column] or its letter), a list of cells, or the free cells of "
        "{rows, columns}.",
        schema=CELLS_SCHEMA,
        whole=True,
    )
    to: Any = option(
        doc="Where it leads, uniformly: a cell, a list of cells, or the free cells of {rows, columns}.",
        schema=CELLS_SCHEMA,
        whole=True,
    )


@dataclass(frozen=True)
class Options:
    map: str = option(doc="The map: # is a wall, . or a space is free, a letter is a free cell with that name.")
    actions: tuple[Action, ...] = option(DIRECTIONS, doc="The moves there are, in this order.")
    slip: Slip | None = option(None, doc="How moves go astray; null: they never do.")
    teleports: tuple[Teleport, ...] = option((), doc="Cells that send the agent elsewhere.")
    reset: Any = option(
        "uniform", doc="Where episodes start: uniform, a cell, or a list of cells.", schema=RESET_SCHEMA, whole=True
    )
    horizon: int | None = option(None, doc="Steps until an episode is cut; null: never.", at_least=1)


def rows_of(text: str) -> list[str]:
    """The lines of a map; empty lines around it do not count."""
    return text.strip("\n").split("\n")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    wrong = list(_check_map(options.map))
    yield from wrong
    if not options.actions:
        yield Finding(("actions",), "no action at all")
    yield from check_names(options.actions, "actions")
    if options.slip is not None:
        total = options.slip.straight + options.slip.left + options.slip.right + options.slip.stay
        if abs(total - 1) > 1e-9:
            yield Finding(("slip",), f"the probabilities sum to {total:.12g}, not 1")
    if wrong:
        return
    where = space(options)
    yield from _check_teleports(options, where)
    yield from check_reset(options.reset, where)


def _check_map(text: str) -> Iterator[Finding]:
    rows = rows_of(text)
    width = len(rows[0])
    seen: dict[str, tuple[int, int]] = {}
    for number, row in enumerate(rows):
        if len(row) != width:
            message = f"row {number} has {len(row)} characters, row 0 has {width}"
            yield Finding(("map",), message, "a map is a rectangle")
        for column, mark in enumerate(row):
            if mark.isascii() and mark.isalpha():
                if mark in seen:
                    yield Finding(("map",), f"'{mark}' names two cells, {seen[mark]} and {(number, column)}")
                seen.setdefault(mark, (number, column))
            elif mark != WALL and mark not in FREE:
                hint = "# is a wall, . or a space is free, a letter names a free cell"
                yield Finding(("map",), f"unknown character {mark!r} in row {number}, column {column}", hint)
    if all(mark == WALL for row in rows for mark in row):
        yield Finding(("map",), "no free cell")


def _check_teleports(options: Options, where: FiniteSpace) -> Iterator[Finding]:
    taken: dict[int, int] = {}
    widest = 4
    for number, teleport in enumerate(options.teleports):
        wrong = list(_check_cells(teleport.from_, where, ("teleports", number, "from")))
        yield from wrong
        for state in [] if wrong else cells_of(teleport.from_, where).tolist():
            if state in taken:
                message = f"cell {where.names[state]} teleports already, by teleports[{taken[state]}]"
                yield Finding(("teleports", number, "from"), message)
            taken.setdefault(state, number)
        wrong = list(_check_cells(teleport.to, where, ("teleports", number, "to")))
        yield from wrong
        widest = max(widest, 0 if wrong else len(cells_of(teleport.to, where)))
    if widest * where.size * len(options.actions) > LARGEST:
        yield Finding(("teleports",), f"{widest} landing cells in a map of {where.size} make too large a kernel")


def _check_cells(cells: Any, where: FiniteSpace, path: Path) -> Iterator[Finding]:
    if not isinstance(cells, dict):
        yield from check_states(cells, where, path)
        return
    assert where.shape is not None
    for key, limit in zip(("rows", "columns"), where.shape, strict=True):
        low, high = cells[key]
        if low > high:
            yield Finding((*path, key), f"from {low} to {high} is empty")
        elif low < 0 or high >= limit:
            yield Finding((*path, key), f"the map has {key} 0 to {limit - 1}")
    (top, bottom), (left, right) = cells["rows"], cells["columns"]
    if 0 <= top <= bottom < where.shape[0] and 0 <= left <= right < where.shape[1] and not len(cells_of(cells, where)):
        yield Finding(path, "no free cell there")


def cells_of(cells: Any, where: FiniteSpace) -> np.ndarray:
    """The states that a teleport leads from or to, each once, in order."""
    if isinstance(cells, dict):
        (top, bottom), (left, right) = cells["rows"], cells["columns"]
        block = where.lookup[top : bottom + 1, left : right + 1]
        return block[block >= 0]
    return np.unique([where.index(state) for _, state in as_states(cells, ())])


def space(options: Options) -> FiniteSpace:
    """The free cells of the map."""
    marks = np.array([list(row) for row in rows_of(options.map)])
    named = ~np.isin(marks, [WALL, *FREE])
    letters = {(row, column): str(marks[row, column]) for row, column in np.argwhere(named).tolist()}
    return FiniteSpace.grid(marks != WALL, options.actions, letters)


def kernel(options: Options, where: FiniteSpace) -> Kernel:
    """Where each action leads from each cell."""
    slip = options.slip or Slip(1.0)
    turns = [(0, slip.straight), (-1, slip.left), (1, slip.right), (None, slip.stay)]
    meant = np.array([STAY if action == "stay" else DIRECTIONS.index(action) for action in options.actions])
    moves = np.stack([np.full_like(meant, STAY) if turn is None else (meant + turn) % 4 for turn, _ in turns], axis=1)
    moves = np.where((meant == STAY)[:, None], STAY, moves)  # [A, 4]
    successors = _destinations(where)[:, moves]  # [S, A, 4]
    chances = np.broadcast_to([chance for _, chance in turns], successors.shape)
    moving = Kernel.merged(successors, chances)
    jumps = [(cells_of(jump.from_, where), cells_of(jump.to, where)) for jump in options.teleports]
    return _with_teleports(moving, {int(state): targets for states, targets in jumps for state in states})


def _destinations(where: FiniteSpace) -> np.ndarray:
    """The state one step on in each direction, and in place: [S, 5]. A wall, or the edge of the map, holds."""
    assert where.cells is not None
    bordered = np.pad(where.lookup, 1, constant_values=-1)
    at = where.cells[:, None, :] + STEPS + 1
    beyond = bordered[at[..., 0], at[..., 1]]
    return np.where(beyond < 0, np.arange(where.size)[:, None], beyond)


def _with_teleports(moving: Kernel, jumps: dict[int, np.ndarray]) -> Kernel:
    width = max([moving.width, *(len(targets) for targets in jumps.values())])
    extra = ((0, 0), (0, 0), (0, width - moving.width))
    successors = np.pad(moving.successors, extra, mode="edge")
    successors[..., moving.width :] = moving.successors[..., :1]
    probabilities = np.pad(moving.probabilities, extra)
    for state, targets in jumps.items():
        successors[state] = targets[0]
        successors[state, :, : len(targets)] = targets
        probabilities[state] = 0.0
        probabilities[state, :, : len(targets)] = 1.0 / len(targets)
    return Kernel(successors, probabilities)


def max_successors(options: Options, where: FiniteSpace) -> int:
    """The most cells that a move or a teleport may lead to."""
    slip = options.slip or Slip(1.0)
    turns = sum(chance > 0 for chance in (slip.straight, slip.left, slip.right, slip.stay))
    return max([turns, *(len(cells_of(jump.to, where)) for jump in options.teleports)])


@mdps.register(
    "gridworld", Options, WorldTraits(space=space, sort="finite", max_successors=max_successors), check=check
)
def gridworld(options: Options, seed: int) -> FiniteWorld:
    """A grid of cells and walls, with slippery moves and teleports where wanted."""
    where = space(options)
    return FiniteWorld(where, kernel(options, where), reset_distribution(options.reset, where), options.horizon)
