"""Least absolute residuals on the simplex, for thousands of small problems at once.

    minimise  ||C p - q||_1   over   p >= 0, sum p = 1

A simplex method on condensed tableaux: residuals are signed and free, with a kink at 0, so one pivot walks through
all kinks at which the objective still falls. All problems of a batch pivot together in array operations; float64.
The walk starts at the nearest single column, so where that column fits exactly there is nothing left to do.
Every optimum is certified by a dual bound that holds whatever rounding did on the way.

Shapes: n problems, R rows, K columns, m = R + 1 basic variables, k = K - 1 others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.errors import StageError
from wmlab.extraction.finite.simplex import Problems, Tableau

NOISE = 1e-12  # what counts as rounding in a reduced cost, relative to the spread of the columns
PIVOT = 1e-11  # least pivot, relative to the largest entry of its column
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # the least that HiGHS takes
PATIENCE = 20  # pivots allowed per row and column; beyond it a problem is left as it stands, without a certificate


@dataclass(frozen=True, eq=False)
class L1Fit:
    """The vertex found for each problem, and the proof that no point does better."""

    weights: np.ndarray  # [n, K]
    residual: np.ndarray  # [n]  ||C p - q||_1
    gap: np.ndarray  # [n]  residual minus a lower bound on the least one: 0 up to rounding
    prices: np.ndarray  # [n, R]  dual solution, in [-1, 1]
    basis: np.ndarray  # [n, m]  indices of the basic variables: column j, or K + row


@dataclass(eq=False)
class _Walk(Tableau):
    """A tableau whose variables are columns j of C, or K + row for the residual of a row; padding is barred."""

    sign: np.ndarray  # [n, m]  the side of 0 on which a basic residual is
    spread: np.ndarray  # [n]


def fit_l1(columns: np.ndarray, valid: np.ndarray, targets: np.ndarray, patience: int = PATIENCE) -> L1Fit:
    """The least ||C p - q||_1 over the simplex: columns [n, R, K], valid [n, K], targets [n, R]."""
    count, rows, width = columns.shape
    walk = _start(columns, valid, targets)
    basis, values = walk.basic.copy(), walk.values.copy()
    prices = np.zeros((count, rows))
    for step in range(patience * (rows + width) + 1):
        costs = _reduced_costs(walk, width)
        finished = np.isinf(costs.best) | (costs.objective <= 1e-15 * rows * walk.spread)
        if step == patience * (rows + width):
            finished[:] = True
        if finished.any():
            where = walk.number[finished]
            basis[where], values[where] = walk.basic[finished], walk.values[finished]
            prices[where] = _prices(walk, costs, finished, rows, width)
            if finished.all():
                break
            walk.keep(~finished)
            costs.keep(~finished)
        _pivot(walk, costs, width)
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
) -> L1Fit:
    """Puts weights on the simplex and bounds how much better any other point could be.

    For every y in [-1, 1]^R and every p on the simplex, ||C p - q||_1 >= y.(q - C p) >= y.q - max_j (C'y)_j.
    """
    weights = np.where(valid, np.maximum(weights, 0.0), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    residual = np.abs(np.matmul(columns, weights[..., None])[..., 0] - targets).sum(axis=1)
    prices = np.clip(prices, -1.0, 1.0)
    worth = np.where(valid, np.matmul(prices[:, None, :], columns)[:, 0], -np.inf)
    bound = np.maximum((prices * targets).sum(axis=1) - worth.max(axis=1), 0.0)
    return L1Fit(weights, residual, residual - bound, prices, basis)


def _start(columns: np.ndarray, valid: np.ndarray, targets: np.ndarray) -> _Walk:
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
    return _Walk(matrix, values, basic, others, barred, np.arange(count), sign, spread)


@dataclass(eq=False)
class _Costs(Problems):
    """How the objective changes when a variable leaves 0, upwards or, for a residual, downwards."""

    slope: np.ndarray  # [n, k]  sum over basic residuals of sign * matrix
    entering: np.ndarray  # [n]  the steepest descent, by the length of its column
    direction: np.ndarray  # [n]  +1 or -1
    descent: np.ndarray  # [n]  its reduced cost, negative
    best: np.ndarray  # [n]  infinite at an optimum
    objective: np.ndarray  # [n]


def _reduced_costs(walk: _Walk, width: int) -> _Costs:
    pull = np.where(walk.basic >= width, walk.sign, 0.0)
    slope = np.matmul(pull[:, None, :], walk.matrix)[:, 0]
    objective = (pull * walk.values).sum(axis=1)
    if slope.shape[1] == 0:  # one column: nothing to choose
        count = len(slope)
        none = np.full(count, np.inf)
        return _Costs(slope, np.zeros(count, np.int64), np.ones(count), none, none.copy(), objective)
    residual = walk.others >= width
    up = np.where(residual, 1.0, 0.0) - slope
    down = np.where(residual, 1.0 + slope, np.inf)
    cost = np.minimum(up, down)
    noise = NOISE * np.where(residual, 1.0, walk.spread[:, None])
    length = np.sqrt(1.0 + np.einsum("nmk,nmk->nk", walk.matrix, walk.matrix))
    score = np.where((cost < -noise) & ~walk.barred, cost / length, np.inf)
    entering = score.argmin(axis=1)
    every = np.arange(len(entering))
    direction = np.where(down[every, entering] < up[every, entering], -1.0, 1.0)
    return _Costs(slope, entering, direction, cost[every, entering], score[every, entering], objective)


def _pivot(walk: _Walk, costs: _Costs, width: int) -> None:
    """Moves every problem along its entering variable to the kink, or the bound, where descent ends."""
    every = np.arange(len(costs.entering))
    column = walk.matrix[every, :, costs.entering]
    leaving = _leaving(walk, costs, column * costs.direction[:, None], width)
    walk.exchange(costs.entering, leaving, column, walk.values[every, leaving])
    walk.sign[every, leaving] = costs.direction


def _leaving(walk: _Walk, costs: _Costs, change: np.ndarray, width: int) -> np.ndarray:
    """The basic variable at which the objective stops to fall; residuals passed on the way change their sign."""
    residual = walk.basic >= width
    size = np.abs(change)
    toward = np.where(residual, walk.sign * change, change)
    meets = toward > PIVOT * np.maximum(size.max(axis=1, keepdims=True), 1e-300)
    height = np.maximum(np.where(residual, walk.sign * walk.values, walk.values), 0.0)
    time = np.where(meets, height / np.where(meets, size, 1.0), np.inf)
    bend = np.where(meets, np.where(residual, 2.0 * size, np.inf), 0.0)
    order = np.argsort(time, axis=1, kind="stable")
    slope = costs.descent[:, None] + np.cumsum(np.take_along_axis(bend, order, axis=1), axis=1)
    stop = (slope >= 0.0).argmax(axis=1)
    passed = np.zeros(time.shape, bool)
    np.put_along_axis(passed, order, np.arange(time.shape[1]) < stop[:, None], axis=1)
    walk.sign = np.where(passed, -walk.sign, walk.sign)
    return order[np.arange(len(order)), stop]


def _prices(walk: _Walk, costs: _Costs, chosen: np.ndarray, rows: int, width: int) -> np.ndarray:
    """The dual solution: the side of a basic residual, the slope along one that is held at 0."""
    table = np.zeros((int(chosen.sum()), width + rows))
    np.put_along_axis(table, walk.others[chosen], costs.slope[chosen], axis=1)
    np.put_along_axis(table, walk.basic[chosen], walk.sign[chosen], axis=1)
    return table[:, width:]


def fit_one(columns: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One problem by HiGHS, for the rare one whose optimum is not certified otherwise.

    Weights [K] on the simplex with the least l1 residual for columns [R, K] and a target [R], and the dual prices [R].
    """
    from scipy.optimize import linprog

    rows, width = columns.shape
    scale = max(float(np.abs(columns).max()), float(np.abs(target).max()), 1e-300)
    equal = np.block([[columns / scale, np.eye(rows), -np.eye(rows)], [np.ones((1, width)), np.zeros((1, 2 * rows))]])
    cost = np.r_[np.zeros(width), np.ones(2 * rows)]
    solution = linprog(cost, A_eq=equal, b_eq=np.r_[target / scale, 1.0], method="highs", options=TIGHT)
    if solution.x is None:
        raise StageError(f"HiGHS found no kernel: {solution.message}")
    return solution.x[:width], solution.eqlin.marginals[:rows]
