"""Relations across the points of a sweep: correlations and slopes, with intervals from resampled points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.errors import WmlabError
from wmlab.results.names import Entries, Where, at_step, estimate, failed_seeds, find, point_text, same_label, steps_of
from wmlab.results.resampling import Drawing, interval, of_means
from wmlab.results.statistics import STATISTICS, Statistic
from wmlab.sections.spec import Relate

OVER = {"points": "points", "seeds": "seeds", "both": "points_and_seeds"}
INTERVALS = {"percentile": "bootstrap_over_{}", "bca": "bca_bootstrap_over_{}"}


@dataclass(frozen=True)
class PointRuns:
    """What a relation reads at one point."""

    mean: float
    seeds: tuple[float, ...]  # NaN for one that gave no number; none where the value is of no seed


@dataclass(frozen=True)
class Relation:
    """One entry of `relate`, and the points that it spans."""

    asked: Relate
    points: tuple[Where, ...]
    step: str | int


def relate(
    section: Mapping[str, Relate],
    metrics: Entries,
    points: Sequence[Where],
    numbers: Mapping[str, Mapping[Any, float]] | None = None,
) -> dict[str, dict[str, Any]]:
    """The results `relate.<name>.<statistic>` of a spec's `relate` section.

    A point's x and y are means over its seeds. `numbers` gives the numeric value of each label of an axis, for
    `axis.<name>`; labels that are numbers need none. Points without a number are left out of n, and they and points
    with failed seeds are told in `incomplete`.
    """
    results: dict[str, dict[str, Any]] = {}
    for name, entry in section.items():
        relation = _relation(name, entry, points)
        for statistic in entry.statistics:
            metric = f"relate.{name}.{statistic}"
            results[metric] = {"metric": metric, "where": {}, **_result(relation, statistic, metrics, numbers or {})}
    return results


def related_points(name: str, entry: Relate, points: Sequence[Where]) -> tuple[Where, ...]:
    """The points that a relation spans."""
    return _relation(name, entry, points).points


def _relation(name: str, entry: Relate, points: Sequence[Where]) -> Relation:
    where = dict(entry.where)
    step = where.pop("step", "final")
    axes = sorted({axis for point in points for axis in point})
    across = list(entry.across or [axis for axis in axes if axis not in where])
    loose = [axis for axis in axes if axis not in across and axis not in where]
    if loose:
        raise WmlabError(f"relate.{name}: the axis '{loose[0]}' is neither in across nor fixed by where")
    unknown = [axis for axis in [*across, *where] if axis not in axes]
    if unknown:
        raise WmlabError(f"relate.{name}: there is no axis '{unknown[0]}'")
    chosen = tuple(point for point in points if all(_matches(point[axis], asked) for axis, asked in where.items()))
    several = [axis for axis in where if axis not in across and len({str(point[axis]) for point in chosen}) > 1]
    if several:
        raise WmlabError(f"relate.{name}: where.{several[0]} chooses several labels; put '{several[0]}' into across")
    return Relation(entry, chosen, step)


def _matches(label: Any, asked: Any) -> bool:
    if isinstance(asked, str) and asked == "all":
        return True
    return any(same_label(label, one) for one in (asked if isinstance(asked, (list, tuple)) else [asked]))


def _result(
    relation: Relation, statistic: str, metrics: Entries, numbers: Mapping[str, Mapping[Any, float]]
) -> dict[str, Any]:
    bootstrap = relation.asked.bootstrap
    incomplete: dict[str, None] = {}  # in order, each once
    steps: list[str | int] = [relation.step]
    if relation.step == "all":
        steps = list(range(_checkpoints(relation, metrics)))
    at = [_at(relation, STATISTICS[statistic], step, metrics, numbers, incomplete) for step in steps]
    missing = {"value": None, "ci": None, "n": 0}  # no point has a checkpoint
    result: dict[str, Any] = {
        **(at[-1] if at else missing),
        "kind": STATISTICS[statistic].kind,
        "interval": None if bootstrap is None else INTERVALS[bootstrap.method].format(OVER[bootstrap.resample]),
        "level": bootstrap.level if bootstrap is not None else None,
    }
    if relation.step == "all":
        result["curve"] = {key: [one[key] for one in at] for key in missing}
    if not at:
        incomplete[f"no point has checkpoints of {relation.asked.x} and {relation.asked.y}"] = None
    if incomplete:
        result["incomplete"] = list(incomplete)
    return result


def _checkpoints(relation: Relation, metrics: Entries) -> int:
    names = [name for name in (relation.asked.x, relation.asked.y) if not name.startswith("axis.")]
    entries = (find(metrics, name, point) for name in names for point in relation.points)
    return max((steps_of(entry) for entry in entries if entry is not None), default=0)


def _at(
    relation: Relation,
    statistic: Statistic,
    step: str | int,
    metrics: Entries,
    numbers: Mapping[str, Mapping[Any, float]],
    incomplete: dict[str, None],
) -> dict[str, Any]:
    """The statistic at one checkpoint."""
    pairs: list[tuple[PointRuns, PointRuns]] = []
    for point in relation.points:
        names = (relation.asked.x, relation.asked.y)
        x, y = (_value(name, point, step, metrics, numbers, incomplete) for name in names)
        if x is not None and y is not None:
            pairs.append((x, y))
    data = np.array([[x.mean, y.mean] for x, y in pairs], float).reshape(-1, 2).T  # [2, n]
    value = float(statistic.of(data[0], data[1])) if len(pairs) >= 2 else math.nan
    found, asked = None, relation.asked.bootstrap
    if asked is not None and math.isfinite(value):
        runs = data[..., None] if asked.resample == "points" else _runs(pairs)
        drawing = Drawing(asked.resample, asked.method, asked.resamples, asked.level, asked.seed)
        found = interval(runs, of_means(statistic.of), drawing)
    known = value if math.isfinite(value) else None
    return {"value": known, "ci": list(found) if found else None, "n": len(pairs)}


def _runs(pairs: Sequence[tuple[PointRuns, PointRuns]]) -> np.ndarray:
    """Both quantities of every run, [2, n, s]; what is of no seed is the same in each."""
    count = max((len(one.seeds) for pair in pairs for one in pair), default=0)
    return np.array([[one.seeds or (one.mean,) * max(count, 1) for one in side] for side in zip(*pairs, strict=True)])


def _value(
    name: str,
    point: Where,
    step: str | int,
    metrics: Entries,
    numbers: Mapping[str, Mapping[Any, float]],
    incomplete: dict[str, None],
) -> PointRuns | None:
    if name.startswith("axis."):
        axis = name.removeprefix("axis.")
        number = numbers.get(axis, {}).get(point[axis], point[axis])
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise WmlabError(f"axis.{axis}: the label {number!r} has no numeric value")
        return PointRuns(float(number), ())
    entry = find(metrics, name, point)
    read = at_step(entry, step) if entry is not None else None
    place = point_text(point) or "the only point"
    centre = None if read is None else estimate(read)
    if read is None or centre is None:
        incomplete[f"{place}: no value of {name}"] = None
        return None
    if failed_seeds(read):
        incomplete[f"{place}: {failed_seeds(read)} of {len(read['values'])} seeds gave no {name}"] = None
    seeds = tuple(math.nan if value is None else float(value) for value in read.get("values", ()))
    return PointRuns(centre, seeds)
