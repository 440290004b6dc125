"""Matching: column matching's continuous sibling. Which next state would explain the values here?

For a state and an action, candidates around the state are compared by ||M(s', .) - Q(s, a, .)|| and the best are
searched around again. No gradient is taken, so flat stretches of M are crossed, wherever goals tell their far side.
The answers are a model by themselves, on a grid, or what a network is fitted to and then polished from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wmlab.extraction.continuous.options import FitOptions, check_fit, check_states
from wmlab.registry import ExtractionTraits, Finding, Scope, extractions, option


@dataclass(frozen=True)
class Search:
    """How a next state is looked for."""

    radius: float | tuple[float, ...] = option(
        0.1,
        above=0,
        doc="How far around a state the first candidates lie, as a fraction of each variable's range. Of several, a"
        " wider one is taken only where it leaves less than half the gap: near states are the better guess.",
    )
    candidates: int = option(256, at_least=2, doc="Next states compared in every round.")
    rounds: int = option(6, at_least=1, doc="Rounds of search, each around the best of the one before.")
    shrink: float = option(0.4, above=0, below=1, doc="Radius of a round relative to the one before.")
    beam: int = option(4, at_least=1, doc="How many of the best candidates a round searches around.")
    norm: Literal["l1", "l2"] = option("l1", doc="Distance between M(s', .) and Q(s, a, .) over the goals.")

    @property
    def radii(self) -> tuple[float, ...]:
        """All that are searched, the nearest first."""
        return tuple(sorted(self.radius)) if isinstance(self.radius, tuple) else (self.radius,)


@dataclass(frozen=True)
class Options(FitOptions):
    """How next states are looked for, and what becomes of them."""

    search: Search = option(Search(), doc="How a next state is looked for.")
    store: Literal["grid", "network"] = option(
        "grid",
        doc="What becomes of the matched states: a model on a grid of states, or a network fitted to them, to which"
        " the options of P-learning apply.",
    )
    grid: int = option(50, at_least=2, doc="grid: points along each variable.")
    between: Literal["linear", "nearest"] = option(
        "linear", doc="grid: between its points the change of state is interpolated, or that of the nearest point."
    )
    samples: int = option(
        16_384, at_least=1, doc="network: states whose successors are searched for, under every action."
    )
    steps: int = option(2_000, at_least=1, doc="network: updates of the fit to the matched states.")
    batch: int = option(1024, at_least=1, doc="network: states per update.")
    polish: int = option(0, at_least=0, doc="network: updates of P-learning after that fit; 0: none.")
    polish_rate: float = option(
        1e-4, above=0, doc="network: the first learning rate of these; a large one would undo what was matched."
    )
    when: Literal["final", "checkpoints"] = option(
        "final", doc="Extract from the final agent only, or at every checkpoint too."
    )


def check(options: Options, scope: Scope) -> Iterator[Finding]:
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
    yield from check_states(options, scope)


@extractions.register(
    "matching",
    Options,
    ExtractionTraits(worlds="continuous", draws=lambda options: True, model_is_deterministic=lambda options: True),
    check=check,
)
def matching(view: Any, options: Options, seed: int, **hooks: Any) -> Any:
    """The next state whose values explain those here, by searching around every state instead of by gradient."""
    from wmlab.extraction.continuous.match import match

    return match(view, options, seed, **hooks)
