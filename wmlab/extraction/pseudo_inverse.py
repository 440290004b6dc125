"""The pseudo-inverse: P = M+ Q + (I - M+ M) P0 in closed form, the limit of tabular P-learning from P0.

It is the least-squares kernel that is nearest to the first guess P0; from nothing, P0 = 0, it is M+ Q.
Rows may leave the simplex: where M has not full rank this is a pseudo-world, and the notes say so.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, K candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.problem import (
    Extraction,
    Guess,
    candidates,
    chunks,
    conclude,
    first_guess,
    kernel_of,
    targets,
)
from wmlab.extraction.options import Common, check_dense
from wmlab.registry import ExtractionTraits, extractions, option


@dataclass(frozen=True)
class Options(Common):
    """What counts as zero, and what is done where values leave a choice."""

    rank_tolerance: float = option(
        1e-9, doc="Singular values below this, relative to the largest, count as zero.", at_least=0, below=1
    )
    initial: Guess = option(
        "zero",
        doc="Of all least-squares kernels, the one nearest to this is taken: zero, uniform over the support, "
        "or drawn uniformly from the simplex (by the run's seed, as for tabular_p_learning).",
    )
    project: bool = option(False, doc="Project each P(s, a) on the simplex, once, at the end.")


@extractions.register(
    "pseudo_inverse",
    Options,
    ExtractionTraits(
        worlds="finite",
        draws=lambda options: options.initial == "random",
        stays_in_simplex=lambda options: options.project,
        tables=1,
    ),
    check=check_dense,
)
def pseudo_inverse(view: FiniteView, options: Options, seed: int) -> Extraction:
    """The least-squares kernel nearest to a first guess, M+ Q from nothing; it may leave the simplex."""
    allowed = candidates(view)
    weights = first_guess(options.initial, allowed >= 0, seed)
    if view.support is None:
        backup = np.asarray(view.backup, np.float64)
        inverse = np.linalg.pinv(backup, rcond=options.rank_tolerance)
        weights = weights + (targets(view) - weights @ backup.T) @ inverse.T
    else:
        for pairs in chunks(view):
            columns = pairs.columns * pairs.valid[:, None]  # a column of zeros gets no weight
            inverse = np.linalg.pinv(columns, rcond=options.rank_tolerance)  # [n, K, R]
            missing = pairs.targets[..., None] - np.matmul(columns, weights[pairs.rows][..., None])
            weights[pairs.rows] += np.matmul(inverse, missing)[..., 0]
    if options.project:
        from wmlab.extraction.finite.descent import nearest_in_simplex

        weights = nearest_in_simplex(weights, allowed >= 0)
    kernel = kernel_of(view, weights)
    return conclude(view, kernel, off_the_simplex(kernel))


def off_the_simplex(kernel: Kernel) -> dict[str, float]:
    """How far a pseudo-world is from being a world."""
    return {
        "least_probability": float(kernel.probabilities.min()),
        "greatest_deviation_of_a_sum_from_one": float(np.abs(kernel.probabilities.sum(axis=-1) - 1.0).max()),
    }
