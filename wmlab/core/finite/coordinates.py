"""Named numbers that describe the states of a finite world.

Shapes: S states, n named numbers that describe a state, G points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.errors import suggest

SLACK = 1e-9  # relative: what rounding makes of a derived number


@dataclass(frozen=True, eq=False)
class Coordinates:
    """What each state is called by, number by number. A point that leaves a number open has NaN there."""

    names: tuple[str, ...]  # [n]
    values: np.ndarray  # float [S, n]
    periods: tuple[float, ...]  # [n] the length of a circle; infinite where there is none
    own: int  # the first so many are the state's variables, the others are derived from them

    def point(self, values: Mapping[str, float]) -> np.ndarray:
        """Values of named variables as a point [n]; the LookupError's message is fit for a user."""
        point = np.full(len(self.names), np.nan)
        for name, value in values.items():
            column = self.column(name)
            low, high = float(self.values[:, column].min()), float(self.values[:, column].max())
            if not low - SLACK * (1 + abs(low)) <= value <= high + SLACK * (1 + abs(high)):
                raise LookupError(f"{value:g} is outside the range of {name}, [{low:g}, {high:g}]")
            point[column] = value
        return point

    def column(self, name: str) -> int:
        if name in self.names:
            return self.names.index(name)
        hint = suggest(name, self.names)
        raise LookupError(f"no variable '{name}'; " + (hint or f"there are {', '.join(self.names)}"))

    def by_name(self, values: Sequence[float]) -> str:
        """How to say numbers without names, which could be read in any order, in a spec."""
        return by_name(values, self.names[: self.own])

    def meeting(self, point: np.ndarray) -> np.ndarray:
        """The states that a point [n] describes, in order."""
        return np.flatnonzero(self.met(point[None])[0])

    def met(self, points: np.ndarray) -> np.ndarray:
        """Which states points [G, n] describe, but for rounding: bool [G, S]."""
        meets = np.ones((len(points), len(self.values)), bool)
        for column, (_, gap) in enumerate(self.gaps(points)):
            meets &= gap <= SLACK * (1 + np.abs(np.nan_to_num(points[:, column, None])))
        return meets

    def gaps(self, points: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """Name and distance [G, S] of each number from points [G, n], the short way round on circles, 0 where open."""
        for column, name in enumerate(self.names[: points.shape[1]]):
            gap = np.abs(points[:, column, None] - self.values[:, column])
            period = self.periods[column]
            yield name, np.nan_to_num(np.minimum(gap, period - gap) if np.isfinite(period) else gap)

    def label(self, point: np.ndarray) -> str:
        """A point [n] as a spec says it: stock=3."""
        told = zip(self.names[: len(point)], point.tolist(), strict=True)
        return ", ".join(f"{name}={value:g}" for name, value in told if np.isfinite(value))


def by_name(values: Sequence[float], names: Sequence[str]) -> str:
    """Numbers as values of variables, {row: 3, stock: 1}; where they are too many or too few, only the variables."""
    texts = [f"{value:g}" for value in values] if len(values) == len(names) else ["…"] * len(names)
    return f"{{{', '.join(f'{name}: {value}' for name, value in zip(names, texts, strict=True))}}}"
