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
from wmlab.extraction.finite.least_norm import least_norm
from wmlab.extraction.finite.problem import Extraction, Pairs, candidates, chunks, conclude, kernel_of
from wmlab.extraction.options import Common, check_dense
from wmlab.registry import ExtractionTraits, always, extractions, option

CERTIFIED = 1e-9  # how far from the least residual a kernel may be, relative to the spread of M
TRUSTED = 1e-7  # the same for a pair that HiGHS had to solve, with its coarser tolerances


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


@extractions.register("lp", Options, ExtractionTraits(worlds="finite", stays_in_simplex=always), check=check_dense)
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
    spread = np.maximum(np.ptp(pairs.columns, axis=2).sum(axis=1), np.abs(fit.residual))
    doubtful = np.flatnonzero(~(fit.gap <= CERTIFIED * np.maximum(spread, 1e-300)) | anew)
    if not len(doubtful):
        return fit, 0
    weights, prices = fit.weights.copy(), fit.prices.copy()
    for pair in doubtful:
        valid = pairs.valid[pair]
        weights[pair, valid], prices[pair] = fit_one(pairs.columns[pair][:, valid], pairs.targets[pair])
    fit = certify(pairs.columns, pairs.valid, pairs.targets, weights, prices, fit.basis)
    if not (fit.gap <= TRUSTED * np.maximum(spread, 1e-300)).all():
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
