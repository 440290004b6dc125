"""P-learning with a network: gradient descent on the Bellman residual, over the weights of a world model.

The agent is frozen and no step is taken in the world: states are drawn, the model says what follows, and its weights
change until the values there explain the values here. Further than one step: the model is unrolled under the agent's
own policy, so that the signal grows with the horizon while the agent's TD error does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wmlab.extraction.continuous.options import FitOptions, check_fit, check_states
from wmlab.registry import ExtractionTraits, Finding, Scope, always, extractions, option


@dataclass(frozen=True)
class Options(FitOptions):
    """How the model is fitted, and when."""

    when: Literal["final", "checkpoints"] = option(
        "final", doc="Extract from the final agent only, or at every checkpoint too."
    )


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Mistakes that the options hold among themselves, or against the state space."""
    yield from check_fit(options)
    yield from check_states(options, scope)


@extractions.register(
    "p_learning",
    Options,
    ExtractionTraits(
        worlds="continuous",
        draws=always,
        model_is_deterministic=lambda options: options.estimator == "deterministic",
        random_numbers=lambda options, size: size if options.model.family == "gaussian" else 0,
    ),
    check=check,
)
def p_learning(view: Any, options: Options, seed: int, **hooks: Any) -> Any:
    """P-learning with a network: gradient descent on the Bellman residual, over one step or many."""
    from wmlab.extraction.continuous.fit import extract

    return extract(view, options, seed, **hooks)
