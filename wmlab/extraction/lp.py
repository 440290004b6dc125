"""Linear programming: the kernel in the simplex with the least l1 Bellman residual, pair by pair.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, K candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.errors import StageError
from wmlab.extraction.finite.l1_fit import L1Fit, certify, fit_l1, fit_one
from wmlab.extraction.finite.problem import Extraction, Pairs, candidates, chunks, conclude, kernel_of
from wmlab.extraction.options import Common, check_dense
from wmlab.registry import ExtractionTraits, always, extractions, option

# How far from the least residual a kernel may be, relative to the spread of M and beyond what rounding explains:
CERTIFIED = 1e-9
TRUSTED = 1e-7  # the same for a pair that HiGHS had to solve, with its coarser tolerances
FLAT = 1e-12  # a singular value below this, relative to the largest, leaves its direction free
TOUCH = 1e-12  # a constraint violated by less than this is met
LOOSE = 1e-9  # a price, a reduced cost or a weight within this of its bound counts as being on it


@dataclass(frozen=True)
class Options(Common):
    """What is least, and which of several optima is taken."""

    norm: Literal["l1"] = option("l1", doc="The residual that is made least: the sum over goals of |M P - Q|.")
    tie_break: Literal["vertex", "least_norm", "highs"] = option(
        "vertex",
        doc="Which optimum, where there are several. vertex: the sparse one that pivoting reaches from the nearest "
        "single successor; the same on every run. least_norm: the one nearest to uniform over the support; unique, "
        "whatever the solver, and slower. highs: what HiGHS returns, as in a script that calls a solver; another "
        "version of it may return another.",
    )


@extractions.register(
    "lp", Options, ExtractionTraits(worlds="finite", stays_in_simplex=always, tables=1), check=check_dense
)
def lp(view: FiniteView, options: Options, seed: int) -> Extraction:
    """The kernel in the simplex with the least l1 residual, to a certified optimum."""
    allowed = candidates(view)
    weights = np.zeros(allowed.shape)
    gap, reworked, moved, unmoved = 0.0, 0, 0, 0
    for pairs in chunks(view):
        fit, redone = solve(pairs, anew=options.tie_break == "highs")
        reworked += redone
        if options.tie_break == "least_norm":
            fit, changed, failed = _nearest_to_uniform(pairs, fit)
            moved, unmoved = moved + changed, unmoved + failed
        weights[pairs.rows] = fit.weights
        gap = max(gap, float(fit.gap.max()))
    notes: dict[str, Any] = {"optimality_gap": gap, "solved_by_highs": reworked}
    if options.tie_break == "least_norm":
        notes |= {"moved_by_tie_break": moved, "left_at_a_vertex": unmoved}
    return conclude(view, kernel_of(view, weights), notes)


def solve(pairs: Pairs, anew: bool = False) -> tuple[L1Fit, int]:
    """Certified optima for some pairs, and how many of them HiGHS found: all that are asked for `anew`."""
    fit = fit_l1(pairs.columns, pairs.valid, pairs.targets)
    spread, rounding = np.maximum(pairs.spread, np.abs(fit.residual)), pairs.rounding
    doubtful = np.flatnonzero(~(fit.gap <= CERTIFIED * spread + rounding) | anew)
    if not len(doubtful):
        return fit, 0
    weights, prices = fit.weights.copy(), fit.prices.copy()
    for pair in doubtful:
        valid = pairs.valid[pair]
        weights[pair, valid], prices[pair] = fit_one(pairs.columns[pair][:, valid], pairs.targets[pair])
    fit = certify(pairs.columns, pairs.valid, pairs.targets, weights, prices, fit.basis)
    if not (fit.gap <= TRUSTED * spread + rounding).all():
        raise StageError(f"no solver could certify a least residual; the best gap is {fit.gap.max():.1e}")
    return fit, len(doubtful)


def _nearest_to_uniform(pairs: Pairs, fit: L1Fit) -> tuple[L1Fit, int, int]:
    """Moves each pair to the least-norm point of its optimal kernels: how many moved, how many could not."""
    weights = fit.weights.copy()
    moved = failed = 0
    for same in _alike(pairs, ~_only_one(pairs, fit)):
        valid, first = pairs.valid[same[0]], same[0]
        nearest = least_norm(
            pairs.columns[first][:, valid], pairs.targets[first], weights[first, valid], fit.prices[first]
        )
        if nearest is None:
            failed += len(same)
            continue
        weights[np.ix_(same, valid)] = nearest
        moved += int((np.abs(weights[same] - fit.weights[same]).max(axis=1) > CERTIFIED).sum())
    return certify(pairs.columns, pairs.valid, pairs.targets, weights, fit.prices, fit.basis), moved, failed


def _alike(pairs: Pairs, chosen: np.ndarray) -> Iterator[np.ndarray]:
    """The chosen pairs, those with the same problem together: many moves lead to the same place."""
    where = np.flatnonzero(chosen)
    groups: dict[bytes, list[int]] = {}
    for pair in where:
        problem = pairs.columns[pair].tobytes() + pairs.valid[pair].tobytes() + pairs.targets[pair].tobytes()
        groups.setdefault(hashlib.sha256(problem).digest(), []).append(int(pair))
    return (np.array(group) for group in groups.values())


def _only_one(pairs: Pairs, fit: L1Fit) -> np.ndarray:
    """Where an exact fit is the only one, as the columns are affinely independent: bool [n]."""
    count, rows, width = pairs.columns.shape
    if rows + 1 < width:
        return np.zeros(count, bool)
    spread = max(float(np.ptp(pairs.columns)), 1e-300)
    bordered = np.concatenate([pairs.columns / spread, np.ones((count, 1, width))], axis=1)
    bordered *= pairs.valid[:, None]
    same = bool((pairs.columns == pairs.columns[:1]).all()) and pairs.valid.all()
    rank = np.linalg.matrix_rank(bordered[:1] if same else bordered)
    exact = fit.residual <= 1e-12 * rows * spread
    return (rank == pairs.valid.sum(axis=1)) & exact


# --- of all kernels that fit equally well, the one nearest to uniform ------------------------------------------------
# The optimal kernels of an l1 problem are a polytope, and any dual solution describes it exactly: weights vanish where
# the reduced cost is positive, residuals vanish where the price is inside (-1, 1) and keep their side where it is not.
# The point of least Euclidean norm in it is unique, whatever solver found the first vertex.


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
