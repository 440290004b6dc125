"""Of all kernels that fit equally well, the one nearest to uniform.

The optimal kernels of an l1 problem are a polytope, and any dual solution describes it exactly: weights vanish where
the reduced cost is positive, residuals vanish where the price is inside (-1, 1) and keep their side where it is not.
The point of least Euclidean norm in it is unique, whatever solver found the first vertex.

Shapes: R rows, K columns.
"""

from __future__ import annotations

import numpy as np

FLAT = 1e-12  # a singular value below this, relative to the largest, leaves its direction free
TOUCH = 1e-12  # a constraint violated by less than this is met
LOOSE = 1e-9  # a price, a reduced cost or a weight within this of its bound counts as being on it


def least_norm(columns: np.ndarray, target: np.ndarray, weights: np.ndarray, prices: np.ndarray) -> np.ndarray | None:
    """The optimal weights [K] of least norm for columns [R, K]; None where rounding hides them.

    `weights` and `prices` are an optimal pair. All columns are allowed: leave padding out.
    """
    # Weights sum to one, so columns may be taken from their mean: what is left is what tells them apart.
    middle = columns.mean(axis=1)
    apart = columns - middle[:, None]
    rounding = 4 * np.finfo(float).eps * max(float(np.abs(columns).max(initial=0.0)), 1e-300)
    spread = float(np.ptp(columns))
    if spread <= rounding:  # one column, however often
        return np.full(columns.shape[1], 1 / columns.shape[1])
    residual = target - columns @ weights
    exact = np.abs(residual).sum() <= LOOSE * 1e-3 * spread
    if exact:
        prices = np.zeros_like(prices)
    worth = prices @ columns
    free = worth >= worth.max() - LOOSE * spread - rounding * len(prices)
    held = np.abs(prices) < 1.0 - LOOSE  # rows whose residual is 0 throughout
    side = np.sign(prices[~held])
    equal = np.vstack([apart[held][:, free] / spread, np.ones(free.sum())])
    keeps_side = -side[:, None] * apart[~held][:, free] / spread  # side * (q - C p) >= 0
    above = np.vstack([np.eye(free.sum()), keeps_side])
    floor = np.concatenate([np.zeros(free.sum()), -side * (target - middle)[~held] / spread])
    point = _shortest(weights[free], equal, above, floor)
    if point is None or not (point > 0).any():
        return None
    nearest = np.zeros_like(weights)
    nearest[free] = np.maximum(point, 0.0)
    nearest /= nearest.sum()
    worse = np.abs(target - columns @ nearest).sum() - np.abs(residual).sum()
    fits = worse <= LOOSE * spread + rounding * len(prices)
    return nearest if fits and nearest @ nearest <= weights @ weights + LOOSE else None


def _shortest(start: np.ndarray, equal: np.ndarray, above: np.ndarray, floor: np.ndarray) -> np.ndarray | None:
    """The shortest x with above @ x >= floor that differs from `start`, which is feasible, in the kernel of `equal`."""
    _, sigma, right = np.linalg.svd(equal)
    directions = right[int((sigma > FLAT * sigma[0]).sum()) :].T
    if not directions.shape[1]:
        return start
    foot = start - directions @ (directions.T @ start)  # shortest of the whole flat; x = foot + directions @ u
    bounds = np.minimum(floor, above @ start) - above @ foot  # rounding must not exclude the start
    along = _shortest_above(above @ directions, bounds)
    return None if along is None else foot + directions @ along


def _shortest_above(normals: np.ndarray, bounds: np.ndarray) -> np.ndarray | None:
    """The shortest u with normals @ u >= bounds, by adding violated constraints one by one.

    A dual active-set method: it starts at 0, which needs no feasible point, and cannot cycle, since every full step
    lengthens u. Constraints that depend on active ones (there are many at a degenerate vertex) only move multipliers.
    """
    point, bounds = np.zeros(normals.shape[1]), bounds.copy()
    active, forces = np.zeros(0, np.int64), np.zeros(0)
    for _ in range(20 * len(bounds)):
        lacking = normals @ point - bounds
        worst = int(lacking.argmin())
        if lacking[worst] >= -TOUCH:
            return point
        force = 0.0
        while True:
            normal = normals[worst]
            share = np.linalg.lstsq(normals[active].T, normal, rcond=FLAT)[0]
            step = normal - share @ normals[active]
            length = float(step @ step)
            full = (bounds[worst] - normal @ point) / length if length > TOUCH * float(normal @ normal) else np.inf
            ratios = np.where(share > TOUCH, forces / np.where(share > TOUCH, share, 1.0), np.inf)
            partial = float(ratios.min(initial=np.inf))
            if np.isinf(full) and np.isinf(partial):
                if lacking[worst] < -LOOSE:
                    return None
                bounds[worst] += lacking[worst]  # no point meets all of them, by rounding alone
                break
            move = min(full, partial)
            forces, force = forces - move * share, force + move
            if np.isfinite(full):
                point = point + move * step
            if full <= partial:
                active, forces = np.append(active, worst), np.append(forces, force)
                break
            gone = int(ratios.argmin())
            active, forces = np.delete(active, gone), np.delete(forces, gone)
    return None
