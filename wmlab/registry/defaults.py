"""Defaults that depend on the world, or on a preset: declared with the option, written into the schema, filled in by
`spec/compose`.

    encoding: … = option(by_world(finite="one_hot", continuous="sincos"), doc="How a state is written.")
    grid: … = option(by_world(continuous=budget("points", 10_000, at_most=200)), doc="Points along each variable.")

A default that is a budget is the greatest number that costs no more than it: of points along each variable or component
of an action, or of nodes for each random number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

UNSAID: Any = object()
BUDGET = "x-budget"  # mark of a budget in a schema
# What a default may depend on: in words, the more special first. The first that holds and has a value counts.
CASES = {
    "quick": "preset: quick",
    "nowhere": "goals without a point of arrival",
    "unbounded": "goals whose rewards have no known bounds",
    "wide": "actions from a box, and more than four variables or components",
    "box": "actions from a box",
    "endless": "a continuous world with a variable that has no range",
    "continuous": "a continuous world",
    "finite": "a finite world",
    "otherwise": "",
}
# Points of a grid; outcomes of a step of the world or the model, or of the world alone; actions on a lattice in a box.
Cost = Literal["points", "outcomes", "true outcomes", "actions"]


@dataclass(frozen=True)
class ByWorld:
    """One default for each sort of world, or for a preset; None: none there. A case that is left out goes by a more
    general one."""

    quick: Any = UNSAID
    nowhere: Any = UNSAID
    unbounded: Any = UNSAID
    wide: Any = UNSAID
    box: Any = UNSAID
    endless: Any = UNSAID
    continuous: Any = UNSAID
    finite: Any = UNSAID
    otherwise: Any = UNSAID

    @property
    def cases(self) -> dict[str, Any]:
        """Case: default, as it stands in a schema, the more special first."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {case: value for case, value in values.items() if value is not UNSAID}

    @property
    def plain(self) -> Any:
        """The default where nothing is known of the world: that of a finite one, if it has any."""
        value = next(self.cases[case] for case in ("otherwise", "finite", "continuous") if case in self.cases)
        return value[BUDGET]["at_most"] if isinstance(value, Mapping) and BUDGET in value else value


def by_world(**cases: Any) -> ByWorld:
    """A default for each of `CASES`: by_world(finite="all", continuous="reset")."""
    return ByWorld(**cases)


def budget(of: Cost, total: int, *, at_most: int) -> dict[str, Any]:
    """As many as cost no more than `total` points of a grid, or outcomes of a step, and no more than `at_most`."""
    return {BUDGET: {"of": of, "total": total, "at_most": at_most}}


def within_budget(allowed: Mapping[str, Any], cost: Callable[[int], int]) -> int:
    """The greatest number whose cost is allowed, and 2 at least: fewer points or nodes would tell nothing."""
    numbers = range(allowed["at_most"], 2, -1)
    return next((number for number in numbers if cost(number) <= allowed["total"]), 2)


def in_words(case: str) -> str:
    """Where a case holds, behind a value: ' for a continuous world', or nothing where it holds everywhere."""
    return f" for {CASES[case]}" if CASES[case] else ""
