"""The identified set: between which bounds each transition probability must lie.

For a state and an action, let e be the least ||M P - Q||_1 over kernels in the simplex and on the support. The
identified set holds every such kernel with ||M P - Q||_1 <= e + slack. `low` and `high` are the least and the greatest
probability that it gives to each candidate, each found by a linear program and certified by a dual bound.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, K candidates, n problems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.errors import StageError
from wmlab.extraction.finite.l1_fit import TIGHT, L1Fit
from wmlab.extraction.finite.problem import Pairs, candidates, chunks
from wmlab.extraction.finite.simplex import Ascent, final_bases
from wmlab.extraction.lp import solve

CHUNK = 2_000_000  # numbers in the tableaux that are worked on at once
CERTIFIED = 1e-9  # how far a bound may be from the dual bound that certifies it


@dataclass(frozen=True, eq=False)
class IdentifiedSet:
    """Bounds on every probability, and the candidates that they are about."""

    candidates: np.ndarray  # int [S, A, K], -1 is padding
    low: np.ndarray  # [S, A, K]; 0 in padding
    high: np.ndarray  # [S, A, K]; 0 in padding
    least_residual: np.ndarray  # [S, A]  e

    @property
    def intervals(self) -> np.ndarray:
        """How wide each interval is, [S, A, K]."""
        return self.high - self.low

    @property
    def width(self) -> np.float64:
        """The widest interval: 0 where the values leave no choice."""
        return np.float64(self.intervals.max())


@dataclass(frozen=True, eq=False)
class _Program:
    """A x = b for some pairs; variables are weights, residuals above, residuals below, and unused slack."""

    matrix: np.ndarray  # [n, R + 2, K + 2 R + 1]
    level: np.ndarray  # [n, R + 2]
    basis: np.ndarray  # [n, R + 2]


def identified_set(view: FiniteView, slack: float = 1e-9) -> IdentifiedSet:
    """The least and greatest probability of each candidate among the kernels that fit within `slack` of the best."""
    states, actions = view.q.shape[1:]
    allowed = candidates(view)
    low, high = np.zeros(allowed.shape), np.zeros(allowed.shape)
    least = np.empty(len(allowed))
    for pairs in chunks(view):
        fit, _ = solve(pairs)
        least[pairs.rows] = fit.residual
        low[pairs.rows], high[pairs.rows] = _extremes(pairs, fit, slack)
    shape = (states, actions, -1)
    return IdentifiedSet(
        allowed.reshape(shape), low.reshape(shape), high.reshape(shape), least.reshape(states, actions)
    )


def _extremes(pairs: Pairs, fit: L1Fit, slack: float) -> tuple[np.ndarray, np.ndarray]:
    program = _program(pairs, fit, slack)
    pair, candidate = np.nonzero(pairs.valid)
    bounds = []
    step = max(1, CHUNK // (program.matrix.shape[1] * (program.matrix.shape[2] - program.matrix.shape[1])))
    for side in (-1.0, 1.0):
        table = np.zeros(pairs.valid.shape)
        for start in range(0, len(pair), step):
            which, what = pair[start : start + step], candidate[start : start + step]
            table[which, what] = side * _greatest(pairs, program, which, what, side)
        bounds.append(np.clip(table, 0.0, 1.0))
    return bounds[0], bounds[1]


def _program(pairs: Pairs, fit: L1Fit, slack: float) -> _Program:
    count, rows, width = pairs.columns.shape
    matrix = np.zeros((count, rows + 2, width + 2 * rows + 1))
    matrix[:, :rows, :width] = pairs.columns
    matrix[:, :rows, width : width + rows] = np.eye(rows)
    matrix[:, :rows, width + rows : width + 2 * rows] = -np.eye(rows)
    matrix[:, rows, :width] = 1.0
    matrix[:, rows + 1, width:] = 1.0
    level = np.concatenate([pairs.targets, np.ones((count, 1)), fit.residual[:, None] + slack], axis=1)
    error = pairs.targets - np.matmul(pairs.columns, fit.weights[..., None])[..., 0]
    row = np.maximum(fit.basis - width, 0)
    below = (fit.basis >= width) & (np.take_along_axis(error, row, axis=1) < 0)
    basis = np.concatenate([fit.basis + rows * below, np.full((count, 1), width + 2 * rows)], axis=1)
    return _Program(matrix, level, basis)


def _greatest(pairs: Pairs, program: _Program, pair: np.ndarray, candidate: np.ndarray, side: float) -> np.ndarray:
    """The greatest `side` * probability of one candidate each, [n]."""
    width = pairs.columns.shape[2]
    cost = np.zeros((len(pair), program.matrix.shape[2]))
    cost[np.arange(len(pair)), candidate] = side
    try:
        bases = final_bases(_tableau(program, pair, cost, pairs.valid[pair]))
        value, bound = _certified(pairs, program, pair, cost, bases)
    except np.linalg.LinAlgError:  # a singular basis somewhere: leave them all to HiGHS
        value, bound = np.zeros(len(pair)), np.full(len(pair), np.inf)
    for problem in np.flatnonzero(~(np.abs(bound - value) <= CERTIFIED)):
        value[problem] = _by_highs(program, pair[problem], cost[problem], pairs.valid[pair[problem]], width)
    return value


def _tableau(program: _Program, pair: np.ndarray, cost: np.ndarray, valid: np.ndarray) -> Ascent:
    needed, where = np.unique(pair, return_inverse=True)  # one factorisation a pair, shared by its candidates
    basis = program.basis[needed]
    inside = np.zeros((len(needed), program.matrix.shape[2]), bool)
    np.put_along_axis(inside, basis, True, axis=1)
    others = np.argsort(inside, axis=1, kind="stable")[:, : inside.shape[1] - basis.shape[1]]
    square = np.take_along_axis(program.matrix[needed], basis[:, None], axis=2)
    rest = np.take_along_axis(program.matrix[needed], others[:, None], axis=2)
    both = np.linalg.solve(square, np.concatenate([rest, program.level[needed][..., None]], axis=2))[where]
    matrix, values = np.ascontiguousarray(both[..., :-1]), both[..., -1].copy()
    basic, others = basis[where].copy(), others[where].copy()
    of_basis = np.take_along_axis(cost, basic, axis=1)
    gains = np.take_along_axis(cost, others, axis=1) - np.matmul(of_basis[:, None], matrix)[:, 0]
    padding = np.pad(~valid, ((0, 0), (0, cost.shape[1] - valid.shape[1])))
    barred = np.take_along_axis(padding, others, axis=1)
    return Ascent(matrix, values, basic, others, barred, np.arange(len(pair)), gains)


def _certified(
    pairs: Pairs, program: _Program, pair: np.ndarray, cost: np.ndarray, bases: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What each final basis attains, solved afresh, and an upper bound on what any kernel attains.

    For any y and any P of the set, c.P <= max_j (c - M'y)_j + y.Q + ||y||_inf (e + slack).
    A basis that is not feasible attains nothing: its value is NaN.
    """
    rows, width = pairs.columns.shape[1:]
    square = np.take_along_axis(program.matrix[pair], bases[:, None], axis=2)
    values = np.linalg.solve(square, program.level[pair][..., None])[..., 0]
    of_basis = np.take_along_axis(cost, bases, axis=1)
    prices = np.linalg.solve(np.swapaxes(square, 1, 2), of_basis[..., None])[..., 0][:, :rows]
    attained = (of_basis * values).sum(axis=1)
    left = cost[:, :width] - np.matmul(prices[:, None], pairs.columns[pair])[:, 0]
    best = np.where(pairs.valid[pair], left, -np.inf).max(axis=1)
    budget = program.level[pair, -1]
    bound = best + (prices * pairs.targets[pair]).sum(axis=1) + np.abs(prices).max(axis=1, initial=0.0) * budget
    return np.where(values.min(axis=1) >= -CERTIFIED, attained, np.nan), bound


def _by_highs(program: _Program, pair: int, cost: np.ndarray, valid: np.ndarray, width: int) -> float:
    from scipy.optimize import linprog

    limits = [(0.0, None if column >= width or valid[column] else 0.0) for column in range(len(cost))]
    equal, level = program.matrix[pair], program.level[pair]
    solution = linprog(-cost, A_eq=equal, b_eq=level, bounds=limits, method="highs", options=TIGHT)
    if solution.x is None:
        raise StageError(f"HiGHS could not bound a probability: {solution.message}")
    return -float(solution.fun)
