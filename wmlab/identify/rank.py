"""Rank, its kin, and the gap between columns: different notions of uniqueness, each by its own name.

Shapes: R rows (goal x discount x policy), S states, A actions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.view import FiniteView

CHUNK = 4_000_000  # distances held at once
FEW = 4_000  # states up to which all pairs of columns are compared; beyond, a tree finds the nearest


@dataclass(frozen=True)
class Rank:
    """What linear algebra says of M, in float64."""

    rank: int  # of M
    nullity: int  # dimension of the kernel of M: S - rank
    simplex_nullity: int  # of the kernel of [M; 1]: the freedom that is left to probabilities that sum to one
    sigma_min: float  # S-th singular value of M: 0 where there are fewer rows than states
    sigma_max: float
    inverse_norm: float  # ||M+||_1, the largest absolute column sum; of singular values above the tolerance


def rank(view: FiniteView, tolerance: float = 1e-9) -> Rank:
    """Rank and freedom of M = r + gamma D V; singular values below `tolerance` times the largest count as zero."""
    backup = np.asarray(view.backup, np.float64)
    rows, states = backup.shape
    sigma = np.linalg.svd(backup, compute_uv=False)
    full = int((sigma > tolerance * sigma[0]).sum()) if sigma[0] > 0 else 0
    largest = (
        float(np.abs(backup).max(initial=0.0)) or 1.0
    )  # a row of ones of this size leaves the tolerance its meaning
    bordered = np.vstack([backup, np.full((1, states), largest)])
    return Rank(
        rank=full,
        nullity=states - full,
        simplex_nullity=states - int(np.linalg.matrix_rank(bordered, rtol=tolerance)),
        sigma_min=float(sigma[-1]) if rows >= states else 0.0,
        sigma_max=float(sigma[0]),
        inverse_norm=float(np.abs(np.linalg.pinv(backup, rcond=tolerance)).sum(axis=0).max()),
    )


def least_rank(view: FiniteView, goals: int, tolerance: float = 1e-9) -> int:
    """The least rank among the M of each discount and policy on its own; rows are goal x discount x policy."""
    backup = np.asarray(view.backup, np.float64)
    each = np.swapaxes(backup.reshape(goals, -1, backup.shape[1]), 0, 1)  # [D N, G, S]
    sigma = np.linalg.svd(each, compute_uv=False)
    return int((sigma > tolerance * sigma[:, :1]).sum(axis=1).min())


def gap(view: FiniteView) -> float:
    """Column separation: the least ||M(s) - M(s')||_1 over pairs of different states."""
    points = np.ascontiguousarray(view.backup.T, dtype=np.float64)  # [S, R]
    states = len(points)
    if states < 2:
        return float("inf")
    if points.shape[1] == 1:
        return float(np.diff(np.sort(points[:, 0])).min())
    if states > FEW:
        from scipy.spatial import cKDTree

        return float(cKDTree(points).query(points, k=2, p=1)[0][:, 1].min())
    from scipy.spatial.distance import cdist

    least = np.inf
    step = max(1, CHUNK // states)
    for start in range(0, states, step):
        distance = cdist(points[start : start + step], points, "cityblock")
        own = np.arange(len(distance))
        distance[own, start + own] = np.inf
        least = min(least, float(distance.min()))
    return float(least)


def freedom(view: FiniteView, tolerance: float = 1e-9) -> np.ndarray:
    """How many directions the values leave to P(s, a), int32 [S, A]: the nullity of [M; 1] over its candidates.

    Without a prior every state is a candidate, and all pairs have the same freedom.
    """
    backup = np.asarray(view.backup, np.float64)
    states, actions = view.q.shape[1:]
    support = np.arange(states)[None] if view.support is None else view.support.reshape(-1, view.support.shape[-1])
    kinds, which = np.unique(support, axis=0, return_inverse=True)  # [n, K]
    largest = float(np.abs(backup).max(initial=0.0)) or 1.0
    bordered = np.vstack([backup, np.full((1, states), largest)])  # [R + 1, S]
    left = np.empty(len(kinds), np.int32)
    step = max(1, CHUNK // (bordered.shape[0] * kinds.shape[1]))
    for start in range(0, len(kinds), step):
        part = kinds[start : start + step]
        columns = np.where((part >= 0)[:, None], np.moveaxis(bordered[:, part], 0, 1), 0.0)  # [n, R + 1, K]
        ranks = np.linalg.matrix_rank(columns, rtol=tolerance)
        left[start : start + step] = (part >= 0).sum(axis=1) - ranks
    found = left[which.ravel()]
    if view.support is None:
        return np.full((states, actions), found[0], np.int32)
    return np.repeat(found[:, None], actions, axis=1) if view.support.ndim == 2 else found.reshape(states, actions)
