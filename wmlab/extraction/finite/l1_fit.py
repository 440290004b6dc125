"""Least absolute residuals on the simplex, for thousands of small problems at once.

    minimise  ||C p - q||_1   over   p >= 0, sum p = 1

A simplex method on condensed tableaux: residuals are signed and free, with a kink at 0, so one pivot walks through
all kinks at which the objective still falls. All problems of a batch pivot together in array operations; float64.
The walk starts at the nearest single column, so where that column fits exactly there is nothing left to do.
Every optimum is certified by a dual bound that holds whatever rounding did on the way.

Shapes: n problems, R rows, K columns, m = R + 1 basic variables, k = K - 1 others.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

NOISE = 1e-12  # what counts as rounding in a reduced cost, relative to the spread of the columns
PIVOT = 1e-11  # least pivot, relative to the largest entry of its column
PATIENCE = 20  # pivots allowed per row and column; beyond it a problem is left as it stands, without a certificate


@dataclass(frozen=True, eq=False)
class Fit:
    """The vertex found for each problem, and the proof that no point does better."""

    weights: np.ndarray  # [n, K]
    residual: np.ndarray  # [n]  ||C p - q||_1
    gap: np.ndarray  # [n]  residual minus a lower bound on the least one: 0 up to rounding
    prices: np.ndarray  # [n, R]  dual solution, in [-1, 1]
    basis: np.ndarray  # [n, m]  indices of the basic variables: column j, or K + row


@dataclass(eq=False)
class _Tableau:
    """Basic variables as affine functions of the others: x_B = values - matrix @ x_N."""

    matrix: np.ndarray  # [n, m, k]
    values: np.ndarray  # [n, m]
    basic: np.ndarray  # [n, m]  column j of C, or K + row for the residual of a row
    others: np.ndarray  # [n, k]  the same for the variables at 0
    barred: np.ndarray  # [n, k]  padding, which never enters
    sign: np.ndarray  # [n, m]  the side of 0 on which a basic residual is
    spread: np.ndarray  # [n]
    number: np.ndarray  # [n]  which problem this is

    def keep(self, chosen: np.ndarray) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[chosen])


def fit_l1(columns: np.ndarray, valid: np.ndarray, targets: np.ndarray, patience: int = PATIENCE) -> Fit:
    """The least ||C p - q||_1 over the simplex: columns [n, R, K], valid [n, K], targets [n, R]."""
    count, rows, width = columns.shape
    tableau = _start(columns, valid, targets)
    basis, values = tableau.basic.copy(), tableau.values.copy()
    prices = np.zeros((count, rows))
    for step in range(patience * (rows + width) + 1):
        costs = _reduced_costs(tableau, width)
        finished = np.isinf(costs.best) | (costs.objective <= 1e-15 * rows * tableau.spread)
        if step == patience * (rows + width):
            finished[:] = True
        if finished.any():
            where = tableau.number[finished]
            basis[where], values[where] = tableau.basic[finished], tableau.values[finished]
            prices[where] = _prices(tableau, costs, finished, rows, width)
            if finished.all():
                break
            tableau.keep(~finished)
            costs.keep(~finished)
        _pivot(tableau, costs, width)
    weights = np.zeros((count, width + rows))
    np.put_along_axis(weights, basis, values, axis=1)
    return certify(columns, valid, targets, weights[:, :width], prices, basis)


def certify(
    columns: np.ndarray,
    valid: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    prices: np.ndarray,
    basis: np.ndarray,
) -> Fit:
    """Puts weights on the simplex and bounds how much better any other point could be.

    For every y in [-1, 1]^R and every p on the simplex, ||C p - q||_1 >= y.(q - C p) >= y.q - max_j (C'y)_j.
    """
    weights = np.where(valid, np.maximum(weights, 0.0), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    residual = np.abs(np.matmul(columns, weights[..., None])[..., 0] - targets).sum(axis=1)
    prices = np.clip(prices, -1.0, 1.0)
    worth = np.where(valid, np.matmul(prices[:, None, :], columns)[:, 0], -np.inf)
    bound = np.maximum((prices * targets).sum(axis=1) - worth.max(axis=1), 0.0)
    return Fit(weights, residual, residual - bound, prices, basis)


def _start(columns: np.ndarray, valid: np.ndarray, targets: np.ndarray) -> _Tableau:
    """All weight on the nearest column; every residual is basic."""
    count, rows, width = columns.shape
    distance = np.stack([np.abs(columns[..., j] - targets).sum(axis=1) for j in range(width)], axis=1)
    first = np.where(valid, distance, np.inf).argmin(axis=1)
    places = np.arange(width - 1)
    others = places + (places >= first[:, None])
    nearest = np.take_along_axis(columns, first[:, None, None], axis=2)
    barred = ~np.take_along_axis(valid, others, axis=1)
    matrix = np.ones((count, rows + 1, width - 1))
    matrix[:, :rows] = np.where(barred[:, None], 0.0, np.take_along_axis(columns, others[:, None], axis=2) - nearest)
    values = np.ones((count, rows + 1))
    values[:, :rows] = targets - nearest[..., 0]
    basic = np.empty((count, rows + 1), np.int64)
    basic[:, :rows], basic[:, rows] = width + np.arange(rows), first
    sign = np.where(values < 0, -1.0, 1.0)
    spread = np.maximum(np.abs(matrix[:, :rows]).max(axis=(1, 2), initial=0.0), 1e-300)
    return _Tableau(matrix, values, basic, others, barred, sign, spread, np.arange(count))


@dataclass(eq=False)
class _Costs:
    """How the objective changes when a variable leaves 0, upwards or, for a residual, downwards."""

    slope: np.ndarray  # [n, k]  sum over basic residuals of sign * matrix
    entering: np.ndarray  # [n]  the steepest descent, by the length of its column
    direction: np.ndarray  # [n]  +1 or -1
    descent: np.ndarray  # [n]  its reduced cost, negative
    best: np.ndarray  # [n]  infinite at an optimum
    objective: np.ndarray  # [n]

    def keep(self, chosen: np.ndarray) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[chosen])


def _reduced_costs(tableau: _Tableau, width: int) -> _Costs:
    pull = np.where(tableau.basic >= width, tableau.sign, 0.0)
    slope = np.matmul(pull[:, None, :], tableau.matrix)[:, 0]
    objective = (pull * tableau.values).sum(axis=1)
    if slope.shape[1] == 0:  # one column: nothing to choose
        count = len(slope)
        none = np.full(count, np.inf)
        return _Costs(slope, np.zeros(count, np.int64), np.ones(count), none, none.copy(), objective)
    residual = tableau.others >= width
    up = np.where(residual, 1.0, 0.0) - slope
    down = np.where(residual, 1.0 + slope, np.inf)
    cost = np.minimum(up, down)
    noise = NOISE * np.where(residual, 1.0, tableau.spread[:, None])
    length = np.sqrt(1.0 + np.einsum("nmk,nmk->nk", tableau.matrix, tableau.matrix))
    score = np.where((cost < -noise) & ~tableau.barred, cost / length, np.inf)
    entering = score.argmin(axis=1)
    every = np.arange(len(entering))
    direction = np.where(down[every, entering] < up[every, entering], -1.0, 1.0)
    return _Costs(slope, entering, direction, cost[every, entering], score[every, entering], objective)


def _pivot(tableau: _Tableau, costs: _Costs, width: int) -> None:
    """Moves every problem along its entering variable to the kink, or the bound, where descent ends."""
    every = np.arange(len(costs.entering))
    column = tableau.matrix[every, :, costs.entering]
    leaving = _leaving(tableau, costs, column * costs.direction[:, None], width)
    pivot = column[every, leaving]
    row = tableau.matrix[every, leaving] / pivot[:, None]
    row[every, costs.entering] = 1.0 / pivot
    value = tableau.values[every, leaving] / pivot
    tableau.matrix -= column[:, :, None] * row[:, None, :]
    tableau.matrix[every, :, costs.entering] = -column / pivot[:, None]
    tableau.matrix[every, leaving] = row
    tableau.values -= column * value[:, None]
    tableau.values[every, leaving] = value
    out = tableau.basic[every, leaving]
    tableau.basic[every, leaving] = tableau.others[every, costs.entering]
    tableau.others[every, costs.entering] = out
    tableau.sign[every, leaving] = costs.direction


def _leaving(tableau: _Tableau, costs: _Costs, change: np.ndarray, width: int) -> np.ndarray:
    """The basic variable at which the objective stops to fall; residuals passed on the way change their sign."""
    residual = tableau.basic >= width
    size = np.abs(change)
    toward = np.where(residual, tableau.sign * change, change)
    meets = toward > PIVOT * np.maximum(size.max(axis=1, keepdims=True), 1e-300)
    height = np.maximum(np.where(residual, tableau.sign * tableau.values, tableau.values), 0.0)
    time = np.where(meets, height / np.where(meets, size, 1.0), np.inf)
    bend = np.where(meets, np.where(residual, 2.0 * size, np.inf), 0.0)
    order = np.argsort(time, axis=1, kind="stable")
    slope = costs.descent[:, None] + np.cumsum(np.take_along_axis(bend, order, axis=1), axis=1)
    stop = (slope >= 0.0).argmax(axis=1)
    passed = np.zeros(time.shape, bool)
    np.put_along_axis(passed, order, np.arange(time.shape[1]) < stop[:, None], axis=1)
    tableau.sign = np.where(passed, -tableau.sign, tableau.sign)
    return order[np.arange(len(order)), stop]


def _prices(tableau: _Tableau, costs: _Costs, chosen: np.ndarray, rows: int, width: int) -> np.ndarray:
    """The dual solution: the side of a basic residual, the slope along one that is held at 0."""
    table = np.zeros((int(chosen.sum()), width + rows))
    np.put_along_axis(table, tableau.others[chosen], costs.slope[chosen], axis=1)
    np.put_along_axis(table, tableau.basic[chosen], tableau.sign[chosen], axis=1)
    return table[:, width:]
