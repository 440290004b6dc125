"""The same l1 problem by HiGHS, one at a time: for the rare pair whose optimum is not certified otherwise.

Shapes: R rows, K columns.
"""

from __future__ import annotations

import numpy as np

from wmlab.errors import StageError

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # the least that HiGHS takes


def fit_one(columns: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights [K] on the simplex with the least l1 residual for columns [R, K], and the dual prices [R]."""
    from scipy.optimize import linprog

    rows, width = columns.shape
    scale = max(float(np.abs(columns).max()), float(np.abs(target).max()), 1e-300)
    equal = np.block(
        [
            [columns / scale, np.eye(rows), -np.eye(rows)],
            [np.ones((1, width)), np.zeros((1, 2 * rows))],
        ]
    )
    cost = np.r_[np.zeros(width), np.ones(2 * rows)]
    found = linprog(cost, A_eq=equal, b_eq=np.r_[target / scale, 1.0], method="highs", options=TIGHT)
    if found.x is None:
        raise StageError(f"HiGHS found no kernel: {found.message}")
    return found.x[:width], found.eqlin.marginals[:rows]
