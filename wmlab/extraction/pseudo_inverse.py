"""The pseudo-inverse: P = M+ Q in closed form, the limit of tabular P-learning from nothing.

Rows may leave the simplex: where M has not full rank this is a pseudo-world, and the notes say so.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, K candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.extraction.options import Common, check_common
from wmlab.extraction.pairs import candidates, chunks, kernel_of, targets
from wmlab.extraction.result import Extraction, conclude
from wmlab.kernels import Kernel
from wmlab.registry import extractions, option
from wmlab.views import FiniteView


@dataclass(frozen=True)
class Options(Common):
    """What counts as zero."""

    rank_tolerance: float = option(
        1e-9, doc="Singular values below this, relative to the largest, count as zero.", at_least=0, below=1
    )


@extractions.register("pseudo_inverse", Options, check=check_common, world="finite")
def pseudo_inverse(view: FiniteView, options: Options, key_seed: int) -> Extraction:
    """The least-squares kernel of least norm, M+ Q; it may leave the simplex."""
    allowed = candidates(view)
    if view.support is None:
        backup = np.asarray(view.backup, np.float64)
        weights = targets(view) @ np.linalg.pinv(backup, rcond=options.rank_tolerance).T
    else:
        weights = np.zeros(allowed.shape)
        for pairs in chunks(view):
            columns = pairs.columns * pairs.valid[:, None]  # a column of zeros gets no weight
            inverse = np.linalg.pinv(columns, rcond=options.rank_tolerance)  # [n, K, R]
            weights[pairs.rows] = np.matmul(inverse, pairs.targets[..., None])[..., 0]
    kernel = kernel_of(view, weights)
    return conclude(view, kernel, off_the_simplex(kernel))


def off_the_simplex(kernel: Kernel) -> dict[str, float]:
    """How far a pseudo-world is from being a world."""
    return {
        "least_probability": float(kernel.probabilities.min()),
        "greatest_deviation_of_a_sum_from_one": float(np.abs(kernel.probabilities.sum(axis=-1) - 1.0).max()),
    }
