"""Finite state spaces: names, cells and topology, and nothing about what the actions do.

Shapes: S states, A actions, K neighbours.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wmlab.core.finite.chart import Chart
from wmlab.core.finite.coordinates import Coordinates
from wmlab.core.finite.names import WrittenNames
from wmlab.errors import suggest

Cell = tuple[int, int]  # row, column
CELL_NAME = re.compile(r"\((\d{1,9}), (\d{1,9})\)")
# A name, a position in the list of states, a cell [row, column], or the values of its variables.
State = str | float | Sequence[float] | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class FiniteSpace:
    """States by name or by cell, and the names of the actions. Nothing about what the actions do."""

    names: Sequence[str]  # [S]; in a grid "(row, column)", or the letter that the map gives the cell
    actions: tuple[str, ...]  # [A]
    cells: np.ndarray | None = None  # [S, 2] row, column of each state, in a grid
    shape: tuple[int, int] | None = None  # rows, columns of the whole map, walls included
    coordinates: Coordinates | None = None  # named numbers that describe each state, where it has variables
    regions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # name: the states of a part of the map

    @classmethod
    def named(cls, states: Sequence[str] | int, actions: Sequence[str] | int) -> FiniteSpace:
        """A space without a map; counts become s0, s1, … and a0, a1, …"""
        return cls(_names(states, "s"), _names(actions, "a"))

    @classmethod
    def grid(
        cls,
        free: np.ndarray,
        actions: Sequence[str],
        letters: Mapping[Cell, str] | None = None,
        regions: Mapping[str, Sequence[Cell]] | None = None,
    ) -> FiniteSpace:
        """The free cells [rows, columns] of a map, in row-major order; some bear a letter, some belong to a region."""
        cells = np.argwhere(free).astype(np.int32)
        place = (np.cumsum(free) - 1).reshape(free.shape)  # the state of each free cell
        lettered = {int(place[cell]): letter for cell, letter in (letters or {}).items()}
        states_by_letter = {letter: state for state, letter in lettered.items()}
        named = {name: tuple(int(place[cell]) for cell in part) for name, part in (regions or {}).items()}

        def write(state: int) -> str:
            return lettered.get(state) or f"({cells[state, 0]}, {cells[state, 1]})"

        def guess(name: str) -> int | None:
            said = CELL_NAME.fullmatch(name)
            row, column = (int(part) for part in said.groups()) if said else (-1, -1)
            inside = 0 <= row < free.shape[0] and 0 <= column < free.shape[1]
            return int(place[row, column]) if inside else states_by_letter.get(name)

        names = WrittenNames(len(cells), write, guess).listed()
        return cls(names, tuple(actions), cells, (int(free.shape[0]), int(free.shape[1])), regions=named)

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

    def states(self, chosen: State) -> list[int]:
        """The states that a region's name stands for, or the one that is said; LookupError as from `index`."""
        if isinstance(chosen, str) and chosen in self.regions:
            return list(self.regions[chosen])
        return [self.index(chosen)]

    def action(self, name: str) -> int:
        """The position of an action; the LookupError's message is fit for a user."""
        if name in self.actions:
            return self.actions.index(name)
        raise LookupError(_unknown("action", name, self.actions))

    @functools.cached_property
    def chart(self) -> Chart | None:
        """The map of this world: that of its cells, or of two of its variables; None where it has neither."""
        if self.coordinates is not None:
            return Chart.of_variables(self.coordinates)
        return None if self.cells is None or self.shape is None else Chart(("row", "column"), self.cells, self.shape)

    def neighbours(self, of: int = 4, self_: bool = True) -> np.ndarray:
        """The states next door on the map, int32 [S, K] padded with -1 at the end, whatever the other variables.

        Topology only: no action is looked at.
        """
        if self.chart is None:
            raise LookupError("this world has no map: its states have names, not cells")
        return self.chart.neighbours(of, self_)

    def embedding(self) -> np.ndarray:
        """Where the states lie, float [S, d]: their cells or variables, or one-hot where there are none."""
        if self.coordinates is not None:
            return self.coordinates.values[:, : self.coordinates.own]
        return np.eye(self.size) if self.cells is None else self.cells.astype(float)

    def described(self) -> dict[str, np.ndarray]:
        """What the states are described by, each [S]: their variables, or row, column and regions (0 or 1) in a map."""
        if self.coordinates is not None:
            return {name: self.coordinates.values[:, column] for column, name in enumerate(self.coordinates.names)}
        if self.cells is not None:
            inside = {name: np.isin(np.arange(self.size), part).astype(float) for name, part in self.regions.items()}
            return {"row": self.cells[:, 0].astype(float), "column": self.cells[:, 1].astype(float), **inside}
        return {}

    @functools.cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def _by_name(self, name: str) -> int:
        names = self.names
        found = names.find(name) if isinstance(names, WrittenNames) else self._positions.get(name)
        if found is not None:
            return found
        if name in self.regions:
            raise LookupError(f"'{name}' is {len(self.regions[name])} cells; say one of them, as [row, column]")
        known = () if isinstance(names, WrittenNames) else names  # among so many, none is nearest
        raise LookupError(_unknown("state", name, (*self.regions, *known)))

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
