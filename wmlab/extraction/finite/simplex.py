"""Simplex tableaux for many small linear programs at once; all problems pivot together in array operations, float64.

    maximise  c.x   over   A x = b, x >= 0,   from a basis that is feasible

After a while each problem that is not done changes to Bland's rule, which cannot cycle. Whoever uses a final basis
certifies it.

Shapes: n problems, m basic variables, k others.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

NOISE = 1e-11  # what counts as rounding in a reduced cost
PIVOT = 1e-10  # least pivot, relative to the largest entry of its column
SWIFT = 4  # pivots per variable before Bland's rule, and as many again before giving up


class Problems:
    """A record of arrays whose first axis is that of problems [n]."""

    def keep(self, chosen: np.ndarray) -> None:
        """Go on with the chosen problems, bool [n], alone."""
        for field in fields(self):  # type: ignore[arg-type]  # every batch is a dataclass
            setattr(self, field.name, getattr(self, field.name)[chosen])


@dataclass(eq=False)
class Tableau(Problems):
    """Basic variables as affine functions of the others: x_B = values - matrix @ x_N."""

    matrix: np.ndarray  # [n, m, k]
    values: np.ndarray  # [n, m]
    basic: np.ndarray  # int [n, m] indices of variables
    others: np.ndarray  # int [n, k] the same of those at 0
    barred: np.ndarray  # bool [n, k] variables that must stay at 0
    number: np.ndarray  # int [n] which problem this is

    def exchange(
        self, entering: np.ndarray, leaving: np.ndarray, column: np.ndarray, level: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Swap one variable of each problem: the `entering` other [n] for the `leaving` basic one [n].

        `column` [n, m] is the entering one's, `level` [n] what the leaving one had. Gives the pivot row [n, k] and the
        pivot [n], for rows of costs that go along.
        """
        every = np.arange(len(entering))
        pivot = column[every, leaving]
        row = self.matrix[every, leaving] / pivot[:, None]
        row[every, entering] = 1.0 / pivot
        value = level / pivot
        self.matrix -= column[:, :, None] * row[:, None, :]
        self.matrix[every, :, entering] = -column / pivot[:, None]
        self.matrix[every, leaving] = row
        self.values -= column * value[:, None]
        self.values[every, leaving] = value
        out = self.basic[every, leaving]
        self.basic[every, leaving] = self.others[every, entering]
        self.others[every, entering] = out
        return row, pivot


@dataclass(eq=False)
class Ascent(Tableau):
    """A tableau of programs to be maximised: objective = constant + gains @ x_N."""

    gains: np.ndarray  # [n, k]


def final_bases(ascent: Ascent) -> np.ndarray:
    """An optimal basis [n, m] for each problem, or the last one tried. The tableau is used up."""
    bases = ascent.basic.copy()
    swift = SWIFT * (ascent.values.shape[1] + ascent.gains.shape[1])
    for step in range(2 * swift):
        open_ = (ascent.gains > NOISE) & ~ascent.barred
        finished = ~open_.any(axis=1)
        if finished.any():
            bases[ascent.number[finished]] = ascent.basic[finished]
            if finished.all():
                return bases
            ascent.keep(~finished)
            open_ = open_[~finished]
        _climb(ascent, open_, bland=step >= swift)
    bases[ascent.number] = ascent.basic
    return bases


def _climb(ascent: Ascent, open_: np.ndarray, bland: bool) -> None:
    """One pivot of every problem, to a variable that is open to it, bool [n, k]."""
    every = np.arange(len(open_))
    last = np.iinfo(np.int64).max
    if bland:
        entering = np.where(open_, ascent.others, last).argmin(axis=1)
    else:
        length = np.sqrt(1.0 + np.einsum("nmk,nmk->nk", ascent.matrix, ascent.matrix))
        entering = np.where(open_, ascent.gains / length, -np.inf).argmax(axis=1)
    column = ascent.matrix[every, :, entering]
    falls = column > PIVOT * np.maximum(np.abs(column).max(axis=1, keepdims=True), 1e-300)
    time = np.where(falls, np.maximum(ascent.values, 0.0) / np.where(falls, column, 1.0), np.inf)
    first = falls & (time <= time.min(axis=1, keepdims=True))
    leaving = (
        np.where(first, ascent.basic, last).argmin(axis=1) if bland else np.where(first, column, -1.0).argmax(axis=1)
    )
    level, gain = np.maximum(ascent.values[every, leaving], 0.0), ascent.gains[every, entering]
    row, pivot = ascent.exchange(entering, leaving, column, level)
    ascent.gains -= gain[:, None] * row
    ascent.gains[every, entering] = -gain / pivot
