"""Which states of a continuous world are looked at: drawn as a spec says, or on a plane through their space.

Shapes: N states, m points along a variable, d variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.randomness import generator

STARTS = 512  # where a spec says where evaluation starts, and not how often


def states_of(
    said: str | int,
    space: ContinuousSpace,
    count: int,
    purpose: str,
    bounds: Mapping[str, Sequence[float]] | None = None,
) -> np.ndarray:
    """States [N, d] as a spec says: `uniform` or `reset`, `count` of them, or a number of resets.

    They are the same for every seed: what is compared, is compared on the same states. Uniform ones lie in the
    variables' ranges, or in bounds that take their place.
    """
    number = count if isinstance(said, str) else said
    return space.sample(generator(0, purpose), number, "uniform" if said == "uniform" else "reset", bounds)


@dataclass(frozen=True)
class Slice:
    """A plane: two variables run through their ranges, the others stand still."""

    across: tuple[str, str]
    columns: list[int]  # [2] of the state
    ranges: tuple[tuple[float, float], ...]  # [2]
    fixed: dict[str, float]  # the other variables
    centre: tuple[float, ...]  # [d]

    def states(self, points: int) -> np.ndarray:
        """States [m², d], float32, in the middle of m x m equal cells, the second variable fastest."""
        steps = (np.arange(points) + 0.5) / points
        first, second = (low + steps * (high - low) for low, high in self.ranges)
        states = np.tile(np.array(self.centre, np.float32), (points * points, 1))
        states[:, self.columns[0]], states[:, self.columns[1]] = np.repeat(first, points), np.tile(second, points)
        return states


def slice_of(space: ContinuousSpace, across: Sequence[str] | None, at: Mapping[str, float]) -> Slice:
    """The plane over two variables, by default the first two; others stand where said, or midway among the starts."""
    first, second = across or space.names[:2]
    columns = [space.names.index(first), space.names.index(second)]
    middle = {name: (low + high) / 2 for name, (low, high) in zip(space.names, space.starts, strict=True)}
    fixed = {name: float(at.get(name, middle[name])) for name in space.names if name not in (first, second)}
    centre = tuple(fixed.get(name, 0.0) for name in space.names)
    ranges = tuple(space.variables[column].scale for column in columns)
    return Slice((first, second), columns, ranges, fixed, centre)
