"""A simplex method for many small linear programs in standard form at once.

    maximise  c.x   over   A x = b, x >= 0,   from a basis that is feasible

All problems pivot together in array operations; float64. After a while each problem that is not done changes to
Bland's rule, which cannot cycle. The caller certifies the result: see `width.py`.

Shapes: n problems, m basic variables, k others.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

NOISE = 1e-11  # what counts as rounding in a reduced cost
PIVOT = 1e-10  # least pivot, relative to the largest entry of its column
SWIFT = 4  # pivots per variable before Bland's rule, and as many again before giving up


@dataclass(eq=False)
class Tableau:
    """x_B = values - matrix @ x_N, objective = constant + gains @ x_N."""

    matrix: np.ndarray  # [n, m, k]
    values: np.ndarray  # [n, m]
    gains: np.ndarray  # [n, k]
    basic: np.ndarray  # [n, m] indices of variables
    others: np.ndarray  # [n, k]
    barred: np.ndarray  # [n, k] variables that must stay at 0
    number: np.ndarray  # [n] which problem this is

    def keep(self, chosen: np.ndarray) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[chosen])


def final_bases(tableau: Tableau) -> np.ndarray:
    """An optimal basis [n, m] for each problem, or the last one tried. The tableau is used up."""
    bases = tableau.basic.copy()
    swift = SWIFT * (tableau.values.shape[1] + tableau.gains.shape[1])
    for step in range(2 * swift):
        open_ = (tableau.gains > NOISE) & ~tableau.barred
        finished = ~open_.any(axis=1)
        if finished.any():
            bases[tableau.number[finished]] = tableau.basic[finished]
            if finished.all():
                return bases
            tableau.keep(~finished)
            open_ = open_[~finished]
        _pivot(tableau, open_, bland=step >= swift)
    bases[tableau.number] = tableau.basic
    return bases


def _pivot(tableau: Tableau, open_: np.ndarray, bland: bool) -> None:
    every = np.arange(len(open_))
    last = np.iinfo(np.int64).max
    if bland:
        entering = np.where(open_, tableau.others, last).argmin(axis=1)
    else:
        length = np.sqrt(1.0 + np.einsum("nmk,nmk->nk", tableau.matrix, tableau.matrix))
        entering = np.where(open_, tableau.gains / length, -np.inf).argmax(axis=1)
    column = tableau.matrix[every, :, entering]
    falls = column > PIVOT * np.maximum(np.abs(column).max(axis=1, keepdims=True), 1e-300)
    time = np.where(falls, np.maximum(tableau.values, 0.0) / np.where(falls, column, 1.0), np.inf)
    first = falls & (time <= time.min(axis=1, keepdims=True))
    leaving = (
        np.where(first, tableau.basic, last).argmin(axis=1) if bland else np.where(first, column, -1.0).argmax(axis=1)
    )
    pivot = column[every, leaving]
    row = tableau.matrix[every, leaving] / pivot[:, None]
    row[every, entering] = 1.0 / pivot
    value = np.maximum(tableau.values[every, leaving], 0.0) / pivot
    gain = tableau.gains[every, entering]
    tableau.matrix -= column[:, :, None] * row[:, None, :]
    tableau.matrix[every, :, entering] = -column / pivot[:, None]
    tableau.matrix[every, leaving] = row
    tableau.values -= column * value[:, None]
    tableau.values[every, leaving] = value
    tableau.gains -= gain[:, None] * row
    tableau.gains[every, entering] = -gain / pivot
    out = tableau.basic[every, leaving]
    tableau.basic[every, leaving] = tableau.others[every, entering]
    tableau.others[every, entering] = out
