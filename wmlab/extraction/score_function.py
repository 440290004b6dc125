"""P-learning with the score function: a softmax model, trained on its own samples alone.

Two independent successors are drawn from the model for each state, action and goal: the product of their TD errors,
times the gradient of the log-probability of the second, is an unbiased estimate of the gradient of the Bellman
residual. No expectation over successors is ever computed, as none could be in a large world.

Shapes: N = S A pairs, K candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.dense import check_dense
from wmlab.extraction.finite.pairs import candidates, kernel_of
from wmlab.extraction.finite.result import Extraction, conclude
from wmlab.extraction.options import Common
from wmlab.registry import ExtractionTraits, extractions, option


@dataclass(frozen=True)
class Options(Common):
    """How many samples, and how fast."""

    steps: int = option(5_000, doc="Updates of the model.", at_least=1)
    draws: int = option(16, doc="Goals drawn for every state and action in each update.", at_least=1)
    rate: float = option(0.1, doc="First learning rate of Adam; it falls linearly to 0.", above=0)


@extractions.register(
    "score_function",
    Options,
    ExtractionTraits(worlds="finite", draws=lambda options: True, stays_in_simplex=lambda options: True),
    check=check_dense,
)
def score_function(view: FiniteView, options: Options, seed: int) -> Extraction:
    """Stochastic P-learning on a softmax model: two independent samples a step, unbiased."""
    from wmlab.core.randomness import jax_key
    from wmlab.extraction.finite.softmax import train_by_scores

    allowed = candidates(view)
    weights = train_by_scores(view, allowed, jax_key(seed, "score function"), options)
    return conclude(view, kernel_of(view, np.where(allowed >= 0, weights, 0.0)), {"updates": options.steps})
