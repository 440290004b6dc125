"""The states of a continuous world that the explorer of a page keeps: a grid, as fine as a page has room for.

Shapes: v variables that can be chosen, d state variables, G goals, A actions, P points of the grid, S starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.errors import one_of, suggest
from wmlab.registry import Finding
from wmlab.sections.explorer import (
    COARSEST,
    EXPLORER_BYTES,
    MOST_VARIABLES,
    Explore,
    fitting,
    numbers_at,
    page_bytes,
)

STARTS = {2: 11, 3: 5, 4: 3}  # along each of so many variables, of trajectories
KNOTS = 50  # of a trajectory that are kept, beside its start
WAYS_BYTES = EXPLORER_BYTES // 5  # of a page for trajectories, beside the grid


@dataclass(frozen=True)
class ExplorerGrid:
    """Which states are kept: all combinations of points along the chosen variables, the others at one place."""

    variables: tuple[str, ...]  # [v]
    columns: tuple[int, ...]  # [v] of the state
    ranges: tuple[tuple[float, float], ...]  # [v]
    sizes: tuple[int, ...]  # [v] points along each
    starts: tuple[int, ...]  # [v] of trajectories, likewise
    fixed: dict[str, float]  # the other variables
    centre: tuple[float, ...]  # [d] of the state, where it is not chosen

    def states(self, sizes: tuple[int, ...]) -> np.ndarray:
        """States [P, d], float32, in the middle of equal cells, the last variable fastest."""
        axes = [
            low + (np.arange(size) + 0.5) / size * (high - low)
            for size, (low, high) in zip(sizes, self.ranges, strict=True)
        ]
        states = np.tile(np.array(self.centre, np.float32), (math.prod(sizes), 1))
        for column, values in zip(self.columns, np.meshgrid(*axes, indexing="ij"), strict=True):
            states[:, column] = values.ravel()
        return states


def explorer_grid(explore: Explore, space: ContinuousSpace, goals: int, exact: bool) -> ExplorerGrid:
    """The grid of an explorer; `goals` are those of training, `exact` whether exact values stand beside the agent's."""
    names = explore.over or space.names[:MOST_VARIABLES]
    kept = min(goals, explore.goals)
    sizes = sizes_of(explore, names) or (fitting(len(names), numbers_at(space, kept, exact)),) * len(names)
    middle = {name: (low + high) / 2 for name, (low, high) in zip(space.names, space.starts, strict=True)}
    said = explore.at or {}
    fixed = {name: float(said.get(name, middle[name])) for name in space.names if name not in names}
    columns = tuple(space.names.index(name) for name in names)
    return ExplorerGrid(
        names,
        columns,
        tuple(space.variables[column].scale for column in columns),
        sizes,
        fitting_starts(len(names), kept),
        fixed,
        tuple(fixed.get(name, 0.0) for name in space.names),
    )


def sizes_of(explore: Explore, names: tuple[str, ...]) -> tuple[int, ...] | None:
    """Points along each variable as a spec says; None where it leaves that open."""
    said = explore.points
    if said is None:
        return None
    return tuple(said[name] if isinstance(said, dict) else said for name in names)


def fitting_starts(variables: int, goals: int) -> tuple[int, ...]:
    """Starts along each variable, likewise: two trajectories from each of them for each goal."""
    along = STARTS[variables]
    while along > 1 and page_bytes((along,) * variables, 2 * goals * (KNOTS + 1) * variables) > WAYS_BYTES:
        along -= 2
    return (along,) * variables


def check_explorer(explore: Explore, space: ContinuousSpace, goals: int | None, exact: bool) -> Iterator[Finding]:
    """Variables that there are, two of them at least, and a grid that a page has room for."""
    if space.size < 2:
        yield Finding(("explore",), "draws over two variables, and this world has one", "leave it out", key=True)
        return
    wrong = [*_check_over(explore, space), *_check_at(explore, space)]
    names = explore.over or space.names[:MOST_VARIABLES]
    wrong = wrong or [*_check_points(explore, names)]
    yield from wrong
    if wrong or goals is None:
        return
    numbers = numbers_at(space, min(goals, explore.goals), exact)
    sizes = sizes_of(explore, names) or (COARSEST,) * len(names)
    needed, room = page_bytes(sizes, numbers), EXPLORER_BYTES
    if needed > room:
        message = f"{' x '.join(map(str, sizes))} points may take {needed / 1e6:.1f} MB of the page, and there is room"
        fewer = f"keep fewer goals, or say over: [{', '.join(names[:2])}]"
        if explore.points is None:
            yield Finding(("explore",), f"{message} for {room / 1e6:.0f}", fewer, key=True)
            return
        along = fitting(len(names), numbers)
        fits = page_bytes((along,) * len(names), numbers) <= room
        hint = f"{along} along each would fit" if fits else fewer
        yield Finding(("explore", "points"), f"{message} for {room / 1e6:.0f}", hint)


def _check_over(explore: Explore, space: ContinuousSpace) -> Iterator[Finding]:
    over = explore.over
    if over is None:
        return
    for place, name in enumerate(over):
        if name not in space.names:
            hint = suggest(name, space.names) or f"say {one_of(space.names)}"
            yield Finding(("explore", "over", place), f"'{name}' is not a state variable", hint)
    if not 2 <= len(set(over)) == len(over) <= MOST_VARIABLES:
        message = f"two to {MOST_VARIABLES} state variables, each once, of {one_of(space.names)}"
        yield Finding(("explore", "over"), message)


def _check_at(explore: Explore, space: ContinuousSpace) -> Iterator[Finding]:
    for name in explore.at or {}:
        if name not in space.names:
            hint = suggest(name, space.names) or f"say {one_of(space.names)}"
            yield Finding(("explore", "at", name), f"'{name}' is not a state variable", hint, key=True)
        elif name in (explore.over or space.names[:MOST_VARIABLES]):
            yield Finding(("explore", "at", name), f"{name} is one of those that can be chosen", key=True)


def _check_points(explore: Explore, names: tuple[str, ...]) -> Iterator[Finding]:
    if not isinstance(explore.points, dict):
        return
    for name in explore.points:
        if name not in names:
            hint = suggest(name, names) or f"say {one_of(names)}"
            yield Finding(("explore", "points", name), f"'{name}' is none of the variables", hint, key=True)
    for name in names:
        if name not in explore.points:
            yield Finding(("explore", "points"), f"how many points along {name}?")
