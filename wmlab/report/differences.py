"""What differs between sides, each thing on all of them; the first is what the others are held against."""

from __future__ import annotations

import math
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
# What two machines, or two orders of summation, make of one number.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
AS_FIRST = "as A"  # of a number that is that of the first side, where another side's is not


def is_same(one: float | None, other: float | None, exact: bool) -> bool:
    """Whether two numbers are equal, or both none, or differ by rounding alone."""
    if one is None or other is None or one != one or other != other:
        return all(value is None or value != value for value in (one, other))
    return one == other or (not exact and math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE))


def letter(place: int) -> str:
    """What a side is called: A is the first."""
    return chr(ord("A") + place)


@dataclass(frozen=True)
class ValueDifference:
    """A value that is not the same on all sides, and where each wrote it; a side that has none has no origin."""

    path: str
    values: tuple[Any, ...]
    sources: tuple[str | None, ...]

    @property
    def cells(self) -> list[tuple[str, str]]:
        sides = zip(self.values, self.sources, strict=True)
        return [(MISSING, "") if source is None else (compact(value), source) for value, source in sides]


@dataclass(frozen=True)
class MetricCell:
    """A metric on one side, in words."""

    text: str
    exact: str
    difference: str = ""  # from the first side
    spread: str = ""  # the interval of the difference
    chance: str = ""
    within: bool | None = None


@dataclass(frozen=True)
class MetricDifference:
    """A metric that is not the same on all sides; None where a side has none."""

    name: str
    values: tuple[float | None, ...]
    intervals: tuple[tuple[float, float] | None, ...]  # 95 %, of each of the others less the first; None: too few seeds

    @property
    def within(self) -> tuple[bool | None, ...]:
        """Whether chance alone may have made each difference; None where that cannot be told."""
        return tuple(None if ends is None else ends[0] <= 0 <= ends[1] for ends in self.intervals)

    @property
    def as_first(self) -> tuple[bool, ...]:
        """Which of the others have the first side's number, rounding aside; none where rounding is all there is."""
        same = tuple(is_same(self.values[0], other, exact=False) for other in self.values[1:])
        return tuple(each and not all(same) for each in same)

    @property
    def about(self) -> str:
        return meaning(self.name.rpartition(": ")[2].rpartition("/")[2]) or ""

    @property
    def cells(self) -> list[MetricCell]:
        """Each side in as many digits as tell it from the first, or from the others."""
        first, *others = self.values
        told = max(
            (apart(first, other) for other, same in zip(others, self.as_first, strict=True) if not same), key=len
        )
        cells = [MetricCell(told, exact(first))]
        for other, same, ends, within in zip(others, self.as_first, self.intervals, self.within, strict=True):
            if same:
                cells.append(MetricCell(told, exact(other), chance=AS_FIRST))
                continue
            difference = MISSING if first is None or other is None else number(other - first)
            spread = "" if ends is None else f"[{number(ends[0])}, {number(ends[1])}]"
            cells.append(MetricCell(apart(other, first), exact(other), difference, spread, CHANCE[within], within))
        return cells


@dataclass(frozen=True)
class ClaimDifference:
    """A claim that did not come out alike: holds, fails or shown; None where a side does not make it."""

    id: str
    verdicts: tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class Compared:
    """What differs between the results of a page and others that were stored when it was drawn."""

    title: str
    sort: str  # an earlier run, another profile, another spec
    results: Mapping[str, Any]  # of the other
    values: tuple[ValueDifference, ...] = ()
    metrics: tuple[MetricDifference, ...] = ()
    same_metrics: int = 0
    claims: tuple[ClaimDifference, ...] = ()
