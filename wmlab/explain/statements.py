"""The statements of the paper that explain knows, each with its premises and what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wmlab.explain.facts import Facts
from wmlab.explain.premises import Check, Premise

Promise = Literal["uniqueness", "bound", "limit", "any values", "impossibility"]


@dataclass(frozen=True)
class Statement:
    """A theorem, proposition or corollary."""

    name: str
    where: str  # in the paper
    promises: Promise
    premises: tuple[Check, ...]
    conclusion: Callable[[Facts], str]

    def check(self, facts: Facts) -> tuple[Premise, ...]:
        """Every premise held against a spec."""
        return tuple(premise(facts) for premise in self.premises)


def says(text: str) -> Callable[[Facts], str]:
    return lambda facts: text


def every_statement() -> tuple[Statement, ...]:
    """All of them: those that promise most with least come first."""
    from wmlab.explain.continuous import CONTINUOUS
    from wmlab.explain.finite import FINITE

    return (*FINITE, *CONTINUOUS)
