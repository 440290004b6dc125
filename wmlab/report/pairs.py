"""What differs between two sides, each thing on both of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.registry.metrics import meaning
from wmlab.report.text import MISSING, apart, compact, exact, number

CHANCE = {
    True: "within chance",
    False: "beyond chance",
    None: "cannot be told",
}


@dataclass(frozen=True)
class ValuePair:
    """A value on both sides, each with where it was written; a side without origin does not have it."""

    path: str
    one: Any
    one_source: str | None
    other: Any
    other_source: str | None

    @property
    def sides(self) -> tuple[tuple[str, str], tuple[str, str]]:
        pairs = ((self.one, self.one_source), (self.other, self.other_source))
        first, second = ((MISSING, "") if source is None else (compact(value), source) for value, source in pairs)
        return first, second


@dataclass(frozen=True)
class MetricPair:
    """A metric on both sides; the 95 % interval is of the other less the one."""

    name: str
    one: float | None
    other: float | None
    interval: tuple[float, float] | None
    within: bool | None

    @property
    def about(self) -> str:
        return meaning(self.name.rpartition(": ")[2].rpartition("/")[2]) or ""

    @property
    def numbers(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Each side in as many digits as tell it from the other, and exact."""
        return (apart(self.one, self.other), exact(self.one)), (apart(self.other, self.one), exact(self.other))

    @property
    def difference(self) -> str:
        return MISSING if self.one is None or self.other is None else number(self.other - self.one)

    @property
    def spread(self) -> str:
        return "" if self.interval is None else f"[{number(self.interval[0])}, {number(self.interval[1])}]"

    @property
    def chance(self) -> str:
        return CHANCE[self.within]


@dataclass(frozen=True, eq=False)
class Compared:
    """What differs between the results of a page and others that were stored when it was drawn."""

    title: str
    sort: str  # an earlier run, another profile, another spec
    results: Mapping[str, Any]  # of the other
    values: tuple[ValuePair, ...] = ()
    metrics: tuple[MetricPair, ...] = ()
    same_metrics: int = 0
    claims: tuple[tuple[str, str | None, str | None], ...] = ()  # id, and what became of it here and there
