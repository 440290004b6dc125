"""Matching: column matching's continuous sibling. Which next state would explain the values here?

For a state and an action, candidates around the state are compared by ||M(s', .) - Q(s, a, .)|| and the best are
searched around again. No gradient is taken, so flat stretches of M are crossed, wherever goals tell their far side.
The answers are a model by themselves, on a grid, or what a network is fitted to and then polished from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wmlab.extraction.continuous.match_options import MatchOptions
from wmlab.extraction.continuous.options import FOUND, check_agents, check_fit, check_rates, check_states
from wmlab.registry import ExtractionTraits, Finding, Scope, always, extractions


def check(options: MatchOptions, scope: Scope) -> Iterator[Finding]:
    """Mistakes that the options hold among themselves, or against the state space."""
    most = options.search.candidates // 2
    if options.search.beam > most:
        yield Finding(
            ("search", "beam"),
            f"{options.search.beam} of {2 * most} candidates leave fewer than two for each; lower it to {most}",
        )
    if min(options.search.radii, default=0.0) <= 0:
        yield Finding(("search", "radius"), "a radius is more than 0; a list holds one or more")
    if options.store == "network" and options.model.family == "gaussian":
        yield Finding(("model", "family"), "a matched state is certain; choose another family than gaussian")
    elif options.store == "network":
        yield from check_fit(options)
        if options.model.rates == FOUND:
            hint = "say which variable is whose rate, or extract.kind: p_learning"
            yield Finding(
                ("model", "rates"), "matched states are fitted once, and rates are found by fitting twice", hint
            )
    elif options.model.rates:
        yield Finding(("model", "rates"), "a model on a grid holds the change of each variable", "say store: network")
    if options.agents > 1 and options.store == "grid":
        yield Finding(("agents",), "models on grids are not averaged", "say store: network, or leave it out")
    yield from check_agents(options, scope)
    yield from check_rates(options, scope)
    yield from check_states(options, scope)


@extractions.register(
    "matching",
    MatchOptions,
    ExtractionTraits(
        worlds="continuous", draws=always, model_is_deterministic=always, members=lambda options: options.agents
    ),
    check=check,
)
def matching(view: Any, options: MatchOptions, seed: int, **hooks: Any) -> Any:
    """The next state whose values explain those here, by searching around every state instead of by gradient."""
    from wmlab.extraction.continuous.match import match

    return match(view, options, seed, **hooks)
