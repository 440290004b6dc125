"""What differs between two sides, as records, and which metrics do: for `wmlab diff`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.results.names import estimate
from wmlab.results.statistics import interval_of_difference

# What two machines, or two orders of summation, make of one number.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
VERDICTS = {True: "holds", False: "fails", None: "shown"}


@dataclass(frozen=True)
class ValueDifference:
    """A value that only one side has, or that both have otherwise; None where a side has none."""

    path: str
    one: Any
    other: Any
    one_source: str | None
    other_source: str | None


@dataclass(frozen=True)
class StageDifference:
    """The stages of one role: how many have the same key on both sides, and why others have not."""

    role: str
    same: int
    differ: int
    only_one: int
    only_other: int
    why: tuple[str, ...]


@dataclass(frozen=True)
class MetricDifference:
    """What was measured on both sides, where it is not the same."""

    name: str
    one: float | None
    other: float | None
    interval: tuple[float, float] | None = None  # 95 %, of other less one, over seeds; None where seeds are too few

    @property
    def within(self) -> bool | None:
        """Whether chance alone may have made the difference; None where that cannot be told."""
        return None if self.interval is None else self.interval[0] <= 0 <= self.interval[1]


@dataclass(frozen=True)
class ClaimDifference:
    """A claim that came out otherwise: holds, fails or shown; None where a side does not make it."""

    id: str
    one: str | None
    other: str | None


@dataclass(frozen=True)
class Difference:
    """All that differs between two sides."""

    one: str
    other: str
    values: tuple[ValueDifference, ...] = ()
    stages: tuple[StageDifference, ...] = ()
    metrics: tuple[MetricDifference, ...] = ()
    same_metrics: int = 0
    claims: tuple[ClaimDifference, ...] = ()

    @property
    def empty(self) -> bool:
        moved = any(row.differ or row.only_one or row.only_other for row in self.stages)
        return not (self.values or self.metrics or self.claims or moved)


def metric_rows(
    one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "", *, exact: bool = False
) -> tuple[list[MetricDifference], int]:
    """Metrics of both sides that are not the same, and how many are; a side without any has nothing to compare.

    Numbers that differ by rounding are the same, unless `exact`.
    """
    if not one or not other:
        return [], 0
    rows = []
    for name in dict.fromkeys([*one, *other]):
        left, right = (estimate(side[name]) if name in side else None for side in (one, other))
        rows.append(MetricDifference(prefix + name, left, right, _interval(one.get(name), other.get(name))))
    changed = [row for row in rows if not is_same(row.one, row.other, exact)]
    return changed, len(rows) - len(changed)


def _interval(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> tuple[float, float] | None:
    if one is None or other is None:
        return None
    return interval_of_difference(one.get("values") or (), other.get("values") or ())


def claim_rows(one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> list[ClaimDifference]:
    """Claims of two results that came out otherwise; a side without results has nothing to compare."""
    if not one or not other:
        return []
    ours, theirs = (
        {str(claim.get("id")): VERDICTS.get(claim.get("holds"), "shown") for claim in side.get("claims") or ()}
        for side in (one, other)
    )
    names = [name for name in dict.fromkeys([*ours, *theirs]) if ours.get(name) != theirs.get(name)]
    return [ClaimDifference(prefix + name, ours.get(name), theirs.get(name)) for name in names]


def is_same(one: float | None, other: float | None, exact: bool) -> bool:
    """Whether two numbers are equal, or both none, or differ by rounding alone."""
    if one is None or other is None or one != one or other != other:
        return all(value is None or value != value for value in (one, other))
    return one == other or (not exact and math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE))
