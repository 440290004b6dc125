"""How sides differ, as records, and in which settings, metrics and claims they do: for `wmlab diff`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wmlab.report.differences import ClaimDifference, MetricDifference, ValueDifference, is_same
from wmlab.results.names import estimate
from wmlab.results.statistics import interval_of_difference

VERDICTS = {True: "holds", False: "fails", None: "shown"}
Setting = tuple[Any, str | None]  # a value and its origin


@dataclass(frozen=True)
class StageDifference:
    """The stages of one role: how many have the same key on two sides, and why others have not."""

    role: str
    same: int
    differ: int
    only_one: int
    only_other: int
    why: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """All that differs between sides, of which the first is what the others are held against."""

    sides: tuple[str, ...]
    values: tuple[ValueDifference, ...] = ()
    stages: tuple[tuple[StageDifference, ...], ...] = ()  # of each of the others beside the first
    metrics: tuple[MetricDifference, ...] = ()
    same_metrics: int = 0
    claims: tuple[ClaimDifference, ...] = ()

    @property
    def empty(self) -> bool:
        moved = any(row.differ or row.only_one or row.only_other for rows in self.stages for row in rows)
        return not (self.values or self.metrics or self.claims or moved)

    @property
    def data(self) -> dict[str, Any]:
        """All of it as JSON has it; of two sides, as one and the other."""
        if len(self.sides) > 2:
            return asdict(self)
        one, other = self.sides
        return {
            "one": one,
            "other": other,
            "values": [{"path": row.path, **_pair(row.values), **_pair(row.sources, "_source")} for row in self.values],
            "stages": [asdict(row) for rows in self.stages for row in rows],
            "metrics": [{"name": row.name, **_pair(row.values), "interval": row.intervals[0]} for row in self.metrics],
            "same_metrics": self.same_metrics,
            "claims": [{"id": row.id, **_pair(row.verdicts)} for row in self.claims],
        }


def _pair(both: Sequence[Any], ending: str = "") -> dict[str, Any]:
    return {f"{name}{ending}": value for name, value in zip(("one", "other"), both, strict=True)}


def comparable(sides: Sequence[Any]) -> list[int]:
    """The places of the others that have something to hold against the first; none where the first has nothing."""
    return [place for place, side in enumerate(sides) if place and side] if sides[0] else []


def setting_rows(sides: Sequence[Mapping[str, Setting]], prefix: str = "") -> list[ValueDifference]:
    """Settings that differ, each with its origin; a side that kept none has nothing to compare."""
    rows, others = [], comparable(sides)
    for path in dict.fromkeys(path for side in sides for path in side):
        found = [side.get(path) for side in sides]
        if any(_is_other(found[0], found[place]) for place in others):
            values, sources = zip(*(each or (None, None) for each in found), strict=True)
            rows.append(ValueDifference(prefix + path, values, sources))
    return rows


def _is_other(one: Setting | None, other: Setting | None) -> bool:
    """Whether a setting differs; defaults that one side alone has follow from another kind, and say nothing more."""
    if one is None or other is None:
        _, origin = one or other or (None, "default")
        return str(origin).partition(" ")[0] != "default"
    return bool(one[0] != other[0])


def metric_rows(
    sides: Sequence[Mapping[str, Any]], prefix: str = "", *, exact: bool = False
) -> tuple[list[MetricDifference], int]:
    """Metrics that are not the same on all sides, and how many are; a side without any has nothing to compare.

    Numbers that differ by rounding are the same, unless `exact`.
    """
    if not (others := comparable(sides)):
        return [], 0
    names = dict.fromkeys(name for side in sides for name in side)
    changed = []
    for name in names:
        values = tuple(estimate(side[name]) if name in side else None for side in sides)
        if not all(is_same(values[0], values[place], exact) for place in others):
            intervals = tuple(_interval(sides[0].get(name), side.get(name)) for side in sides[1:])
            changed.append(MetricDifference(prefix + name, values, intervals))
    return changed, len(names) - len(changed)


def _interval(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> tuple[float, float] | None:
    if one is None or other is None:
        return None
    return interval_of_difference(one.get("values") or (), other.get("values") or ())


def claim_rows(sides: Sequence[Mapping[str, Any]], prefix: str = "") -> list[ClaimDifference]:
    """Claims of results that did not come out alike; a side without results has nothing to compare."""
    others = comparable(sides)
    made = [
        {str(claim.get("id")): VERDICTS.get(claim.get("holds"), "shown") for claim in side.get("claims") or ()}
        for side in sides
    ]
    names = dict.fromkeys(name for claims in made for name in claims)
    rows = [ClaimDifference(prefix + name, tuple(claims.get(name) for claims in made)) for name in names]
    return [row for row in rows if any(row.verdicts[place] != row.verdicts[0] for place in others)]
