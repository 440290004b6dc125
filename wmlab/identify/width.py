"""The identified set: between which bounds each transition probability must lie.

It holds every kernel that fits within `slack` of the best, in the sense of `identify.fitting`. `low` and `high` are the
least and the greatest probability that it gives to each candidate, each found by a linear program and certified by a
dual bound.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, n different problems among them,
K candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.problem import candidates
from wmlab.identify.fitting import CHUNK, FittingKernels, fitting_of


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


def identified_set(view: FiniteView, slack: float = 1e-9) -> IdentifiedSet:
    """The least and greatest probability of each candidate among the kernels that fit within `slack` of the best."""
    fitting, pair = fitting_of(view, slack)
    low, high = intervals(fitting)
    allowed = candidates(view).reshape(*pair.shape, -1)
    return IdentifiedSet(allowed, low[pair], high[pair], fitting.least[pair])


def intervals(fitting: FittingKernels) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest probability of each candidate, [n, K] both."""
    which, candidate = np.nonzero(fitting.allowed >= 0)
    width = fitting.allowed.shape[1]
    bounds = []
    for side in (-1.0, 1.0):
        table = np.zeros(fitting.allowed.shape)
        step = max(1, CHUNK // width)  # a cost is a row of K numbers, and there are n K of them
        for start in range(0, len(which), step):
            problem, one = which[start : start + step], candidate[start : start + step]
            best = fitting.greatest(side * np.eye(width)[one], problem, fitting.basis[problem])
            table[problem, one] = side * best.value
        bounds.append(np.clip(table, 0.0, 1.0))
    return bounds[0], bounds[1]
