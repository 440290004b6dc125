"""The map of a finite world: its cells, or two of its variables as rows and columns.

Shapes: S states, K neighbours, H states in one cell of the map.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.coordinates import Coordinates

AXES = ("row", "column")
SIDES = ((-1, 0), (0, 1), (1, 0), (0, -1))
CORNERS = ((-1, 1), (1, 1), (1, -1), (-1, -1))


@dataclass(frozen=True, eq=False)
class Chart:
    """Where each state lies on a map; several lie in one cell where other variables tell them apart."""

    axes: tuple[str, str]  # what rows and columns are; the first is empty where there is one variable
    cells: np.ndarray  # int [S, 2] row, column of each state, from 0
    shape: tuple[int, int]  # rows, columns
    origin: tuple[int, int] = (0, 0)  # the values of the first row and column
    round: tuple[bool, bool] = (False, False)  # whether the last row (column) is next to the first
    others: tuple[str, ...] = ()  # variables that the map does not show

    @classmethod
    def of_variables(cls, coordinates: Coordinates) -> Chart:
        """The variables row and column, else the first two; one variable is a map of one row."""
        own = coordinates.names[: coordinates.own]
        shown = AXES if set(AXES) <= set(own) else own[:2]
        columns = [own.index(name) for name in shown]
        values = coordinates.values[:, columns].astype(int)
        low, high = values.min(axis=0), values.max(axis=0)
        circles = [bool(np.isfinite(coordinates.periods[column])) for column in columns]
        lengths, ends = (high - low + 1).tolist(), low.tolist()
        cells = (values - low).astype(np.int32)
        if len(shown) == 1:
            cells = np.insert(cells, 0, 0, axis=1)
            return cls(("", shown[0]), cells, (1, lengths[0]), (0, ends[0]), (False, circles[0]))
        return cls(
            *((shown[0], shown[1]), cells, (lengths[0], lengths[1]), (ends[0], ends[1]), (circles[0], circles[1])),
            others=tuple(name for name in own if name not in shown),
        )

    @functools.cached_property
    def crowd(self) -> int:
        """H, the most states that lie in one cell."""
        return int(np.bincount(self._flat).max())

    @property
    def _flat(self) -> np.ndarray:
        return self.cells[:, 0] * self.shape[1] + self.cells[:, 1]

    def states(self) -> np.ndarray:
        """The states in each cell, int32 [rows, columns, H] padded with -1; a wall has none."""
        order = np.argsort(self._flat, kind="stable")
        cells = self._flat[order]
        rank = np.arange(len(order)) - np.searchsorted(cells, cells)
        table = np.full((self.shape[0] * self.shape[1], self.crowd), -1, np.int32)
        table[cells, rank] = order
        return table.reshape(*self.shape, self.crowd)

    def neighbours(self, of: int, self_: bool) -> np.ndarray:
        """The states in the cells next door, int32 [S, K] padded with -1 at the end."""
        if of not in (4, 8):
            raise LookupError(f"a cell has 4 or 8 neighbours, not {of}")
        steps = (*(((0, 0),) if self_ else ()), *SIDES, *(CORNERS if of == 8 else ()))
        at = self.cells[:, None, :] + np.array(steps)  # [S, cells next door, 2]
        at = np.where(self.round, at % self.shape, at)
        flat = np.where(((at >= 0) & (at < self.shape)).all(axis=-1), at[..., 0] * self.shape[1] + at[..., 1], -1)
        for place in range(1, flat.shape[1]):  # on a small circle both ways lead to one cell
            flat[(flat[:, :place] == flat[:, [place]]).any(axis=1), place] = -1
        if not self_:
            flat[flat == self._flat[:, None]] = -1
        table = self.states().reshape(-1, self.crowd)
        beside = np.where((flat < 0)[..., None], -1, table[flat]).reshape(len(flat), -1)
        return np.take_along_axis(beside, np.argsort(beside < 0, axis=1, kind="stable"), axis=1)
