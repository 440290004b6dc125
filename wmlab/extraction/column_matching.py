"""Column matching: in a deterministic world, Q(s, a) *is* a column of M.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, K candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.problem import Extraction, candidates, conclude, targets
from wmlab.extraction.options import Common, check_common
from wmlab.registry import ExtractionTraits, always, extractions, option

CHUNK = 4_000_000  # distances held at once
TIE = 1e-12  # relative to the size of M: two columns this near to each other are told apart by their index


@dataclass(frozen=True)
class Options(Common):
    """How near a column is."""

    norm: Literal["l1", "l2"] = option("l1", doc="Distance between a column of M and Q(s, a).")


@extractions.register(
    "column_matching", Options, ExtractionTraits(worlds="finite", model_is_deterministic=always), check=check_common
)
def column_matching(view: FiniteView, options: Options, seed: int) -> Extraction:
    """The successor whose column of M lies nearest to Q(s, a); of equally near ones the first."""
    allowed, wanted = candidates(view), targets(view)
    backup = np.ascontiguousarray(view.backup.T, dtype=np.float64)  # [S, R]
    size = float(np.maximum(np.ptp(view.backup, axis=1), np.abs(view.backup).max(axis=1)).sum())
    best = np.empty(len(allowed), np.int64)
    tied = 0
    step = max(1, CHUNK // allowed.shape[1])
    for start in range(0, len(allowed), step):
        rows = slice(start, start + step)
        listed = None if view.support is None else allowed[rows]
        distance = _distances(wanted[rows], backup, listed, options.norm)
        near = distance <= distance.min(axis=1, keepdims=True) + TIE * size
        best[rows] = near.argmax(axis=1)  # the first, whatever the rounding says
        tied += int((near.sum(axis=1) > 1).sum())
    successor = np.take_along_axis(allowed, best[:, None], axis=1).reshape(view.q.shape[1:])
    return conclude(view, Kernel.deterministic(successor), {"ties": tied})


def _distances(wanted: np.ndarray, backup: np.ndarray, listed: np.ndarray | None, norm: str) -> np.ndarray:
    """From each Q(s, a) [n, R] to each column that may explain it: [n, K]; infinite where none is listed."""
    from scipy.spatial.distance import cdist

    if listed is None:
        return np.asarray(cdist(wanted, backup, "cityblock" if norm == "l1" else "euclidean"))
    distance = np.full(listed.shape, np.inf)
    for slot in range(listed.shape[1]):  # never [n, K, R] at once
        gap = backup[np.maximum(listed[:, slot], 0)] - wanted
        distance[:, slot] = np.abs(gap).sum(axis=1) if norm == "l1" else np.sqrt((gap * gap).sum(axis=1))
    return np.where(listed >= 0, distance, np.inf)
