"""What a spec may say of matching: how next states are looked for, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wmlab.extraction.continuous.options import FitOptions
from wmlab.registry import budget, by_world, option


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
class MatchOptions(FitOptions):
    """The options of matching."""

    search: Search = option(Search(), doc="How a next state is looked for.")
    store: Literal["grid", "network"] = option(
        "grid",
        doc="What becomes of the matched states: a model on a grid of states, or a network fitted to them, to which"
        " the options of P-learning apply.",
    )
    grid: int = option(
        by_world(continuous=budget("points", 10_000, at_most=50)),
        at_least=2,
        doc="grid: points along each variable.",
    )
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
