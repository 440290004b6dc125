"""The kernels that explain an agent's values: for each state and action a polytope.

Let e be the least ||M p - Q(s, a)||_1 over kernels p in the simplex and on the support. Those that fit are

    { p in the simplex, on the support : ||M p - Q(s, a)||_1 <= e + slack }

What is feasible does not depend on what is asked of them: the last basis of a program is a start for the next one.

Shapes: B views, R rows (goal x discount x policy), S states, A actions, n problems, K candidates, m = R + 2 basic
variables, k programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.problem import CHUNK as PAIRS
from wmlab.extraction.finite.problem import Pairs, candidates, targets
from wmlab.extraction.lp import solve
from wmlab.identify.programs import Optima, Programs

CHUNK = 2_000_000  # numbers in the tableaux that are worked on at once


def fitting_of(view: FiniteView, slack: float) -> tuple[FittingKernels, np.ndarray]:
    """The kernels that explain a view, and which problem each pair is, int [S, A]; alike pairs share one."""
    allowed, wanted = candidates(view), targets(view)
    asked = wanted if view.support is None else np.concatenate([wanted, allowed], axis=1)
    _, first, problem = np.unique(asked, axis=0, return_index=True, return_inverse=True)
    backup = np.asarray(view.backup, np.float64)[None]
    fitting = fitting_kernels(backup, np.zeros(len(first), np.int64), allowed[first], wanted[first], slack)
    return fitting, problem.reshape(view.q.shape[1:])


@dataclass(frozen=True, eq=False)
class FittingKernels:
    """For each of n problems, the kernels that fit: how far they may miss its values, and one vertex of them."""

    backups: np.ndarray  # [B, R, S]  M of each view
    view: np.ndarray  # int [n] whose view a problem is from
    allowed: np.ndarray  # int [n, K] candidates, padded with -1
    targets: np.ndarray  # [n, R]  Q(s, a)
    least: np.ndarray  # [n]  e
    budget: np.ndarray  # [n]  e + slack
    basis: np.ndarray  # int [n, m] a feasible one; variables are K weights, R residuals above, R below, unused slack
    weights: np.ndarray  # [n, K] a kernel with the least residual

    @property
    def count(self) -> int:
        return len(self.targets)

    def columns(self, which: np.ndarray) -> np.ndarray:
        """The columns of M that may explain some problems int [k]: [k, R, K]; padding repeats column 0."""
        states = np.maximum(self.allowed[which], 0)
        rows = np.arange(self.backups.shape[1])
        return self.backups[self.view[which][:, None, None], rows[:, None], states[:, None]]

    def greatest(self, cost: np.ndarray, which: np.ndarray, basis: np.ndarray) -> Optima:
        """The greatest cost.p of some problems int [k], for costs [k, K], from feasible bases int [k, m]."""
        rows, width = self.targets.shape[1], self.allowed.shape[1]
        step = max(1, CHUNK // ((rows + 2) * (width + rows)))
        parts = []
        for start in range(0, max(1, len(which)), step):
            some = slice(start, start + step)
            needed, problem = np.unique(which[some], return_inverse=True)  # programs of one problem share its matrix
            asked = self.columns(needed), self.allowed[needed] >= 0, self.targets[needed], self.budget[needed]
            parts.append(Programs.of(*asked, problem, cost[some]).solved(basis[some]))
        return Optima(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Optima)))


def fitting_kernels(
    backups: np.ndarray, view: np.ndarray, allowed: np.ndarray, targets: np.ndarray, slack: float
) -> FittingKernels:
    """The kernels that fit within `slack` of the best: backups [B, R, S], view [n], allowed [n, K], targets [n, R]."""
    count, rows, width = len(targets), targets.shape[1], allowed.shape[1]
    least, weights, basis = np.empty(count), np.empty((count, width)), np.empty((count, rows + 2), np.int64)
    asked = FittingKernels(backups, view, allowed, targets, least, least, basis, weights)
    for pairs in _chunks(asked):
        fit, _ = solve(pairs)
        least[pairs.rows], weights[pairs.rows] = fit.residual, fit.weights
        error = pairs.targets - np.matmul(pairs.columns, fit.weights[..., None])[..., 0]
        row = np.maximum(fit.basis - width, 0)
        below = (fit.basis >= width) & (np.take_along_axis(error, row, axis=1) < 0)
        basis[pairs.rows, : rows + 1] = fit.basis + rows * below
    basis[:, rows + 1] = width + 2 * rows
    return FittingKernels(backups, view, allowed, targets, least, least + slack, basis, weights)


def _chunks(asked: FittingKernels) -> Iterator[Pairs]:
    step = max(1, PAIRS // (asked.targets.shape[1] * asked.allowed.shape[1]))
    for start in range(0, asked.count, step):
        rows = slice(start, min(start + step, asked.count))
        columns = asked.columns(np.arange(rows.start, rows.stop))
        yield Pairs(rows, columns, asked.allowed[rows] >= 0, asked.targets[rows])
