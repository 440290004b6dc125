"""P-learning by evolution strategies: a softmax model, improved by trying neighbours of its parameters.

For agents whose values or rewards give no gradient: only the residual of each trial is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wmlab.core.finite.view import FiniteView
from wmlab.extraction.finite.problem import Extraction
from wmlab.extraction.options import Common, check_dense
from wmlab.registry import ExtractionTraits, Finding, Scope, always, extractions, option


@dataclass(frozen=True)
class Options(Common):
    """How many trials, and how far they go."""

    steps: int = option(2_000, doc="Updates of the model.", at_least=1)
    population: int = option(32, doc="Trials per update, in mirrored pairs; an even number.", at_least=2)
    spread: float = option(0.1, doc="Standard deviation of a trial's parameters around the present ones.", above=0)
    rate: float = option(0.1, doc="First learning rate of Adam; it falls linearly to 0.", above=0)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Also: trials come in pairs."""
    yield from check_dense(options, scope)
    if options.population % 2:
        yield Finding(("population",), f"trials come in mirrored pairs, and {options.population} is odd")


@extractions.register(
    "evolution",
    Options,
    ExtractionTraits(worlds="finite", draws=always, stays_in_simplex=always),
    check=check,
)
def evolution(view: FiniteView, options: Options, seed: int) -> Extraction:
    """Evolution strategies on a softmax model: needs no gradient of values or rewards."""
    from wmlab.core.randomness import jax_key
    from wmlab.extraction.finite.descent import extract, train_by_trials

    key, settings = jax_key(seed, "evolution"), (options.rate, options.spread, options.steps, options.population // 2)
    return extract(view, lambda table: train_by_trials(key, table, *settings), options.steps)
