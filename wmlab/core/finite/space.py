"""Finite state spaces: names, cells and topology, and nothing about what the actions do.

Shapes: S states, A actions, K neighbours; n named numbers that describe a state, G points.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.errors import suggest

# A name, a position in the list of states, a cell [row, column], or the values of its variables.
State = str | float | Sequence[float] | Mapping[str, float]

SIDES = ((-1, 0), (0, 1), (1, 0), (0, -1))
CORNERS = ((-1, 1), (1, 1), (1, -1), (-1, -1))
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


@dataclass(frozen=True, eq=False)
class FiniteSpace:
    """States by name or by cell, and the names of the actions. Nothing about what the actions do."""

    names: tuple[str, ...]  # [S]; in a grid "(row, column)", or the letter that the map gives the cell
    actions: tuple[str, ...]  # [A]
    cells: np.ndarray | None = None  # [S, 2] row, column of each state, in a grid
    shape: tuple[int, int] | None = None  # rows, columns of the whole map, walls included
    coordinates: Coordinates | None = None  # named numbers that describe each state, where it has variables

    @classmethod
    def named(cls, states: Sequence[str] | int, actions: Sequence[str] | int) -> FiniteSpace:
        """A space without a map; counts become s0, s1, … and a0, a1, …"""
        return cls(_names(states, "s"), _names(actions, "a"))

    @classmethod
    def grid(
        cls, free: np.ndarray, actions: Sequence[str], letters: dict[tuple[int, int], str] | None = None
    ) -> FiniteSpace:
        """The free cells [rows, columns] of a map, in row-major order; some of them may bear a letter."""
        cells = np.argwhere(free).astype(np.int32)
        letters = letters or {}
        names = tuple(letters.get((row, column), f"({row}, {column})") for row, column in cells.tolist())
        return cls(names, tuple(actions), cells, (int(free.shape[0]), int(free.shape[1])))

    @property
    def size(self) -> int:
        return len(self.names)

    @functools.cached_property
    def lookup(self) -> np.ndarray:
        """The state at each place of the map, int32 [rows, columns]; -1 in a wall."""
        if self.cells is None or self.shape is None:
            raise LookupError("this world has no map: its states have names, not cells")
        table = np.full(self.shape, -1, np.int32)
        table[self.cells[:, 0], self.cells[:, 1]] = np.arange(self.size)
        return table

    def index(self, state: State) -> int:
        """The position of a state; the LookupError's message is fit for a user."""
        if isinstance(state, str):
            return self._by_name(state)
        if isinstance(state, (int, float, np.integer)):
            return self._by_position(state)
        return self._by_values(state) if isinstance(state, Mapping) else self._by_cell(state)

    def action(self, name: str) -> int:
        """The position of an action; the LookupError's message is fit for a user."""
        if name in self.actions:
            return self.actions.index(name)
        raise LookupError(_unknown("action", name, self.actions))

    def neighbours(self, of: int = 4, self_: bool = True) -> np.ndarray:
        """The cells next door, int32 [S, K] padded with -1 at the end. Topology only: no action is looked at."""
        if of not in (4, 8):
            raise LookupError(f"a cell has 4 or 8 neighbours, not {of}")
        steps = (*(((0, 0),) if self_ else ()), *SIDES, *(CORNERS if of == 8 else ()))
        bordered = np.pad(self.lookup, 1, constant_values=-1)
        at = np.argwhere(self.lookup >= 0)[:, None, :] + np.array(steps) + 1  # [S, K, 2]
        beside = bordered[at[..., 0], at[..., 1]]
        return np.take_along_axis(beside, np.argsort(beside < 0, axis=1, kind="stable"), axis=1)

    def embedding(self) -> np.ndarray:
        """Where the states lie, float [S, d]: their cells or variables, or one-hot where there are none."""
        if self.coordinates is not None:
            return self.coordinates.values[:, : self.coordinates.own]
        return np.eye(self.size) if self.cells is None else self.cells.astype(float)

    def described(self) -> dict[str, np.ndarray]:
        """What the states are described by, each [S]: their variables, or row and column in a map."""
        if self.coordinates is not None:
            return {name: self.coordinates.values[:, column] for column, name in enumerate(self.coordinates.names)}
        if self.cells is not None:
            return {"row": self.cells[:, 0].astype(float), "column": self.cells[:, 1].astype(float)}
        return {}

    @functools.cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def _by_name(self, name: str) -> int:
        if name in self._positions:
            return self._positions[name]
        raise LookupError(_unknown("state", name, self.names))

    def _by_position(self, position: float) -> int:
        if self.cells is not None:
            raise LookupError(f"{position:g} is not a cell; say [row, column]")
        if self.coordinates is not None:  # a value, or a place in the list? it is not guessed
            raise LookupError(f"{position:g} names no variable; say {self.coordinates.by_name([position])}")
        if position in range(self.size):
            return int(position)
        raise LookupError(f"no state {position:g}; there are {self.size}, from 0 to {self.size - 1}")

    def _by_values(self, values: Mapping[str, float]) -> int:
        if self.coordinates is None:
            raise LookupError(
                f"this world has no named variables: say a {'cell' if self.shape else 'state by its name'}"
            )
        point = self.coordinates.point(values)
        meeting = self.coordinates.meeting(point)
        if len(meeting) != 1:
            told = self.coordinates.label(point)
            raise LookupError(f"no state has {told}" if not len(meeting) else f"{len(meeting)} states have {told}")
        return int(meeting[0])

    def _by_cell(self, cell: Sequence[float]) -> int:
        if self.coordinates is not None:
            raise LookupError(f"{list(cell)} names no variable; say {self.coordinates.by_name(cell)}")
        if self.cells is None or self.shape is None:
            raise LookupError("this world has no map: say a state by its name")
        if len(cell) != 2 or not all(isinstance(part, (int, np.integer)) for part in cell):
            raise LookupError(f"{list(cell)} is not a cell; say [row, column]")
        row, column = int(cell[0]), int(cell[1])
        rows, columns = self.shape
        if not (0 <= row < rows and 0 <= column < columns):
            raise LookupError(f"cell ({row}, {column}) is off the map of {rows} rows and {columns} columns")
        if self.lookup[row, column] < 0:
            raise LookupError(f"cell ({row}, {column}) is a wall")
        return int(self.lookup[row, column])


def _names(given: Sequence[str] | int, letter: str) -> tuple[str, ...]:
    return tuple(f"{letter}{position}" for position in range(given)) if isinstance(given, int) else tuple(given)


def _unknown(noun: str, name: str, known: Sequence[str]) -> str:
    hint = suggest(name, known)
    return f"no {noun} '{name}'" + (f"; {hint}" if hint else "")


def by_name(values: Sequence[float], names: Sequence[str]) -> str:
    """Numbers as values of variables, {row: 3, stock: 1}; where they are too many or too few, only the variables."""
    texts = [f"{value:g}" for value in values] if len(values) == len(names) else ["…"] * len(names)
    return f"{{{', '.join(f'{name}: {value}' for name, value in zip(names, texts, strict=True))}}}"
