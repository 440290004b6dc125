"""Linear programs over kernels that explain values, many small ones at once, in float64.

    maximise  c.p   over   p >= 0, sum p = 1, ||M p - Q||_1 <= budget

A program starts from a basis that is feasible. Each answer comes with an upper bound by duality, which holds whatever
rounding did on the way; what pivoting cannot certify is put to HiGHS, and held to the same proof. Variables are
K weights, R residuals above, R below, and what is left of the budget.

Shapes: R rows, K candidates, m = R + 2 basic variables, u problems, k programs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from wmlab.errors import StageError
from wmlab.extraction.finite.l1_fit import TIGHT
from wmlab.extraction.finite.simplex import Ascent, final_bases

CERTIFIED = 1e-9  # how far an optimum may be from the dual bound that certifies it
CLOSED = 1e-13  # the same of a basis that is kept without another pivot
EXCUSED = 1e-6  # how much of a gap rounding may explain, as a share of the largest cost
ROUNDING = np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Optima:
    """The answers to k programs."""

    value: np.ndarray  # [k] what `weights` attain
    bound: np.ndarray  # [k] what no kernel that fits exceeds
    rounding: np.ndarray  # [k] by how much arithmetic may have moved the bound
    weights: np.ndarray  # [k, K] in the simplex
    basis: np.ndarray  # int [k, m] the last one

    @property
    def gap(self) -> np.ndarray:
        """How far what is attained lies from the bound, [k]: infinite where no kernel that fits was found."""
        gap = np.abs(self.bound - self.value)
        return np.where(np.isnan(gap), np.inf, gap)

    def at(self, chosen: np.ndarray) -> Optima:
        """Some of the answers, int."""
        return Optima(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def put(self, where: np.ndarray, other: Optima) -> None:
        """Take over the answers of another record at some places int."""
        for field in fields(self):
            getattr(self, field.name)[where] = getattr(other, field.name)


@dataclass(frozen=True, eq=False)
class Programs:
    """Some programs; those of the same problem share its matrix."""

    matrix: np.ndarray  # [u, m, K + 2 R + 1] of the problems that are there, each once
    level: np.ndarray  # [u, m]
    valid: np.ndarray  # bool [u, K]
    problem: np.ndarray  # int [k] which of the u
    cost: np.ndarray  # [k, K + 2 R + 1]

    @classmethod
    def of(
        cls,
        columns: np.ndarray,
        valid: np.ndarray,
        targets: np.ndarray,
        budget: np.ndarray,
        problem: np.ndarray,
        cost: np.ndarray,
    ) -> Programs:
        """The programs of problems: columns [u, R, K], valid [u, K], targets [u, R], budget [u]; costs are [k, K]."""
        count, rows, width = columns.shape
        matrix = np.zeros((count, rows + 2, width + 2 * rows + 1))
        matrix[:, :rows, :width] = columns
        matrix[:, :rows, width : width + rows] = np.eye(rows)
        matrix[:, :rows, width + rows : width + 2 * rows] = -np.eye(rows)
        matrix[:, rows, :width] = 1.0
        matrix[:, rows + 1, width:] = 1.0
        level = np.concatenate([targets, np.ones((count, 1)), budget[:, None]], axis=1)
        return cls(matrix, level, valid, problem, np.pad(cost, ((0, 0), (0, 2 * rows + 1))))

    @property
    def rows(self) -> int:
        return self.matrix.shape[1] - 2

    @property
    def width(self) -> int:
        return self.valid.shape[1]

    def at(self, chosen: np.ndarray) -> Programs:
        """Some of the programs, int."""
        return Programs(self.matrix, self.level, self.valid, self.problem[chosen], self.cost[chosen])

    def solved(self, basis: np.ndarray) -> Optima:
        """From the given bases int [k, m] to certified optima."""
        answers = self.certified(basis.copy())
        open_ = np.flatnonzero(~(answers.bound - answers.value <= CLOSED))
        if len(open_):
            left = self.at(open_)
            answers.put(open_, left.certified(final_bases(left.tableau(basis[open_]))))
        for program in np.flatnonzero(answers.gap > CERTIFIED):
            one = np.array([program])
            answers.put(one, self.at(one).by_highs(answers.at(one)))
        return answers

    def columns_at(self, which: np.ndarray, variables: np.ndarray) -> np.ndarray:
        """The columns of some variables int [c, j] in the matrices of problems int [c]: [c, m, j]."""
        every = np.arange(self.matrix.shape[1])
        return self.matrix[which[:, None, None], every[:, None], variables[:, None]]

    def tableau(self, basis: np.ndarray) -> Ascent:
        """The tableaux at these bases int [k, m]."""
        size = self.matrix.shape[2]
        inside = np.zeros((len(basis), size), bool)
        np.put_along_axis(inside, basis, True, axis=1)
        others = np.argsort(inside, axis=1, kind="stable")[:, : size - basis.shape[1]]
        square, rest = (self.columns_at(self.problem, variables) for variables in (basis, others))
        both = _solve(square, np.concatenate([rest, self.level[self.problem][..., None]], axis=2))
        matrix, values = np.ascontiguousarray(both[..., :-1]), both[..., -1].copy()
        of_basis = np.take_along_axis(self.cost, basis, axis=1)
        gains = np.take_along_axis(self.cost, others, axis=1) - np.matmul(of_basis[:, None], matrix)[:, 0]
        padding = np.pad(~self.valid, ((0, 0), (0, size - self.width)))[self.problem]
        barred = np.take_along_axis(padding, others, axis=1)
        return Ascent(matrix, values, basis.copy(), others, barred, np.arange(len(basis)), gains)

    def certified(self, basis: np.ndarray) -> Optima:
        """What each basis attains, solved afresh, and what any kernel attains at most.

        A basis that is not feasible attains nothing: its value is NaN.
        """
        square = self.columns_at(self.problem, basis)
        values = _solve(square, self.level[self.problem][..., None])[..., 0]
        of_basis = np.take_along_axis(self.cost, basis, axis=1)
        prices = _solve(np.swapaxes(square, 1, 2), of_basis[..., None])[..., 0][:, : self.rows]
        table = np.zeros(self.cost.shape)
        np.put_along_axis(table, basis, values, axis=1)
        feasible = values.min(axis=1) >= -CERTIFIED
        return self.answers(table[:, : self.width], prices, basis, feasible)

    def answers(self, weights: np.ndarray, prices: np.ndarray, basis: np.ndarray, feasible: np.ndarray) -> Optima:
        """Weights [k, K] put on the simplex, and the bound that prices [k, R] prove.

        For any y and any p that fits, c.p <= max_j (c - M'y)_j + y.Q + ||y||_inf (e + slack).
        """
        valid, level, cost = self.valid[self.problem], self.level[self.problem], self.cost[:, : self.width]
        columns, targets = self.matrix[self.problem, : self.rows, : self.width], level[:, : self.rows]
        kept = np.where(valid, np.maximum(weights, 0.0), 0.0)
        total = kept.sum(axis=1, keepdims=True)
        kept /= np.where(total > 0, total, 1.0)
        value = np.where(feasible & (total[:, 0] > 0), (cost * kept).sum(axis=1), np.nan)
        left = np.where(valid, cost - np.matmul(prices[:, None], columns)[:, 0], -np.inf)
        steep = np.abs(prices).max(axis=1, initial=0.0) * level[:, -1]
        bound = left.max(axis=1) + (prices * targets).sum(axis=1) + steep
        size = np.where(valid, np.abs(cost) + np.matmul(np.abs(prices)[:, None], np.abs(columns))[:, 0], 0.0)
        size = size.max(axis=1) + (np.abs(prices) * np.abs(targets)).sum(axis=1) + steep
        rounding = (self.rows + 4) * ROUNDING * size
        known = np.isfinite(bound)
        return Optima(value, np.where(known, bound, np.inf), np.where(known, rounding, 0.0), kept, basis)

    def by_highs(self, pivots: Optima) -> Optima:
        """The one program that is there by HiGHS, or the answer of the pivots where that is as near to its bound.

        HiGHS gives up on budgets near its tolerances where columns are nearly alike. Arithmetic cannot tell there,
        either, and an answer whose gap is no more than rounding is as good as there is. The basis is handed on.
        """
        solution, best = self.solution_of_highs(), pivots
        if solution.x is not None and solution.success:
            weights, prices = solution.x[None, : self.width], -solution.eqlin.marginals[None, : self.rows]
            found = self.answers(weights, prices, pivots.basis, np.ones(1, bool))
            found = replace(found, value=np.where(self.fits(found.weights), found.value, np.nan))
            best = min(pivots, found, key=lambda each: float(each.gap[0]))
        gap, largest = best.gap[0], np.abs(self.cost[:, : self.width][self.valid[self.problem]]).max()
        if gap > CERTIFIED + min(best.rounding[0], EXCUSED * largest):
            raise StageError(
                "HiGHS could not find the greatest value among kernels that fit: the best answer is"
                f" {gap:.2g} from what bounds it; HiGHS says: {solution.message}"
            )
        return best

    def solution_of_highs(self) -> Any:
        """What HiGHS makes of the one program that is there, as SciPy hands it on."""
        from scipy.optimize import linprog

        problem, cost = self.problem[0], self.cost[0]
        open_ = np.append(self.valid[problem], np.ones(len(cost) - self.width, bool))
        limits = [(0.0, None if free else 0.0) for free in open_]
        equal, level = self.matrix[problem], self.level[problem]
        return linprog(-cost, A_eq=equal, b_eq=level, bounds=limits, method="highs", options=TIGHT)

    def fits(self, weights: np.ndarray) -> np.ndarray:
        """Whether kernels [k, K] keep to their budgets, but for a tolerance on each row: bool [k]."""
        columns, level = self.matrix[self.problem, : self.rows, : self.width], self.level[self.problem]
        missed = np.abs(np.matmul(columns, weights[..., None])[..., 0] - level[:, : self.rows]).sum(axis=1)
        size = np.maximum(np.abs(columns).max(axis=(1, 2), initial=0.0), 1.0)
        fitting: np.ndarray = missed <= level[:, -1] + CERTIFIED * self.rows * size
        return fitting


def _solve(square: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Many linear systems [k, m, m] with right-hand sides [k, m, j]; NaN where one is singular."""
    try:
        return np.linalg.solve(square, right)
    except np.linalg.LinAlgError:
        singular = np.linalg.slogdet(square)[0] == 0
        sound = np.where(singular[:, None, None], np.eye(square.shape[1]), square)
        return np.where(singular[:, None, None], np.nan, np.linalg.solve(sound, right))
