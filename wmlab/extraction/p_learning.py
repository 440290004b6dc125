"""P-learning with a network: gradient descent on the Bellman residual, over the weights of a world model.

The agent is frozen and no step is taken in the world: states are drawn, the model says what follows, and its weights
change until the values there explain the values here. Further than one step: the model is unrolled under the agent's
own policy, so that the signal grows with the horizon while the agent's TD error does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wmlab.extraction.continuous.options import FitOptions, check_agents, check_fit, check_rates, check_states
from wmlab.registry import ExtractionTraits, Finding, Scope, always, extractions, option


@dataclass(frozen=True)
class Members:
    """An ensemble: several models of one form, fitted side by side to one agent."""

    members: int = option(5, at_least=1, at_most=100, doc="How many models. 1: a single model, no ensemble.")
    goals: Literal["weighted", "alike"] = option(
        "weighted",
        doc="`weighted`: each member gives every goal a random weight of its own (a Bayesian bootstrap), so that"
        " members part where goals contradict each other. `alike`: members differ in first weights and draws alone,"
        " which says where a fit is loose, and far less of what the agent itself gets wrong.",
    )


@dataclass(frozen=True)
class Options(FitOptions):
    """How the model is fitted, how many of them, and when."""

    ensemble: int | Members = option(
        1,
        at_least=1,
        at_most=100,
        whole=True,
        doc="How many models are fitted side by side, as a number or with `goals`. Of several, the mean of their moves"
        " is what is predicted, and how far they are apart is what `evaluate.disagreement` measures. The `batch` states"
        " of an update are dealt out among them: five take 1.08 to 1.18 times as long as one, and 3.6 to 9.8 times"
        " with `batch` times five, so that each has as many as one model would.",
        example=5,
    )
    when: Literal["final", "checkpoints"] = option(
        "final", doc="Extract from the final agent only, or at every checkpoint too."
    )

    @property
    def members(self) -> Members:
        """The ensemble as a record, however it is said."""
        return self.ensemble if isinstance(self.ensemble, Members) else Members(self.ensemble)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Mistakes that the options hold among themselves, or against the state space."""
    yield from check_fit(options)
    yield from check_agents(options, scope)
    yield from check_rates(options, scope)
    yield from check_states(options, scope)


@extractions.register(
    "p_learning",
    Options,
    ExtractionTraits(
        worlds="continuous",
        from_box=True,
        draws=always,
        model_is_deterministic=lambda options: options.estimator == "deterministic",
        members=lambda options: options.members.members * options.agents,
        random_numbers=lambda options, size: size if options.model.family == "gaussian" else 0,
    ),
    check=check,
)
def p_learning(view: Any, options: Options, seed: int, **hooks: Any) -> Any:
    """P-learning with a network: gradient descent on the Bellman residual, over one step or many."""
    from wmlab.extraction.continuous.rates import read_with_rates

    return read_with_rates(read, view, options, seed, **hooks)


def read(view: Any, options: Options, seed: int, **hooks: Any) -> Any:
    """One fit, of one model or of an ensemble."""
    if options.members.members > 1:
        from wmlab.extraction.continuous.ensemble import extract_ensemble

        weighted = options.members.goals == "weighted"
        return extract_ensemble(view, options, seed, options.members.members, weighted, **hooks)
    from wmlab.extraction.continuous.fit import extract

    return extract(view, options, seed, **hooks)
