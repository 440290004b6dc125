"""P-learning with the score function: a softmax model, trained on its own samples alone.

Two independent successors are drawn from the model for each state, action and goal: the product of their TD errors,
times the gradient of the log-probability of the second, is an unbiased estimate of the gradient of the Bellman
residual. No expectation over successors is ever computed, as none could be in a large world.
"""

from __future__ import annotations

from dataclasses import dataclass

from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.problem import Extraction
from wmlab.extraction.options import Common, check_dense
from wmlab.registry import ExtractionTraits, always, extractions, option


@dataclass(frozen=True)
class Options(Common):
    """How many samples, and how fast."""

    steps: int = option(5_000, doc="Updates of the model.", at_least=1)
    draws: int = option(16, doc="Goals drawn for every state and action in each update.", at_least=1)
    rate: float = option(0.1, doc="First learning rate of Adam; it falls linearly to 0.", above=0)
    independent: bool = option(
        True,
        doc="Whether the two TD errors are of samples of their own. With one sample for both, what falls is the mean of"
        " the squared error and not the square of its mean: the model shuns chance.",
    )


@extractions.register(
    "score_function",
    Options,
    ExtractionTraits(worlds="finite", draws=always, stays_in_simplex=always),
    check=check_dense,
)
def score_function(view: FiniteView, options: Options, seed: int) -> Extraction:
    """Stochastic P-learning on a softmax model: two independent samples a step, unbiased."""
    from wmlab.core.randomness import jax_key
    from wmlab.extraction.finite.descent import extract, train_by_scores

    key = jax_key(seed, "score function")
    settings = (options.rate, options.steps, options.draws, options.independent)
    return extract(view, lambda table: train_by_scores(key, table, *settings), options.steps)
