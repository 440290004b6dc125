"""Relations across the points of a sweep, or over the training of each: correlations and slopes, with intervals.

Shapes: q quantities (x, y and what is held fixed), t checkpoints, n points, s seeds, b resamples.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.errors import WmlabError
from wmlab.results.names import Entries, Where, at_step, estimate, failed_seeds, find, point_text, same_label, steps_of
from wmlab.results.resampling import Drawing, Taken, interval, of_means
from wmlab.results.statistics import STATISTICS, Statistic, partial
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
    incomplete: dict[str, None] = {}  # in order, each once
    asked = relation.asked
    steps: list[str | int] = [relation.step]
    if relation.step == "all" or asked.over == "training":
        steps = list(range(_checkpoints(relation, metrics)))
    together = [steps] if asked.over == "training" else [[step] for step in steps]
    at = [_at(relation, STATISTICS[statistic], some, metrics, numbers, incomplete) for some in together if some]
    missing = {"value": None, "ci": None, "n": 0}  # no point has a checkpoint
    bootstrap = asked.bootstrap
    result: dict[str, Any] = {
        **(at[-1] if at else missing),
        "kind": _kind(asked, statistic),
        "interval": None if bootstrap is None else INTERVALS[bootstrap.method].format(OVER[bootstrap.resample]),
        "level": bootstrap.level if bootstrap is not None else None,
    }
    if relation.step == "all" and asked.over == "points":
        result["curve"] = {key: [one[key] for one in at] for key in missing}
    if not at:
        incomplete[f"no point has checkpoints of {' and '.join(asked.quantities)}"] = None
    if incomplete:
        result["incomplete"] = list(incomplete)
    return result


def _kind(asked: Relate, statistic: str) -> str:
    kind = STATISTICS[statistic].kind
    if asked.over == "training":
        kind = "mean_over_points_of_" + kind.replace("across_points", "over_training")
    return kind if asked.given is None else f"partial_{kind}"


def _checkpoints(relation: Relation, metrics: Entries) -> int:
    names = [name for name in relation.asked.quantities if not name.startswith("axis.")]
    entries = (find(metrics, name, point) for name in names for point in relation.points)
    return max((steps_of(entry) for entry in entries if entry is not None), default=0)


def _at(
    relation: Relation,
    statistic: Statistic,
    steps: Sequence[str | int],
    metrics: Entries,
    numbers: Mapping[str, Mapping[Any, float]],
    incomplete: dict[str, None],
) -> dict[str, Any]:
    """The statistic at one checkpoint, or over those of a training."""
    names, asked = relation.asked.quantities, relation.asked.bootstrap
    rows: list[list[PointRuns]] = []  # a point each: every quantity at every checkpoint
    for point in relation.points:
        found = [_value(name, point, step, metrics, numbers, incomplete) for name in names for step in steps]
        row = [value for value in found if value is not None]
        if len(row) == len(found):
            rows.append(row)
    means = np.array([[value.mean for value in row] for row in rows], float).reshape(len(rows), -1).T  # [q t, n]
    training = relation.asked.over == "training"
    of = statistic.of if relation.asked.given is None else functools.partial(partial, statistic)
    taken = _over_training(of, len(names)) if training else of_means(of)
    enough = len(rows) >= (1 if training else 2)
    value = float(taken(means[:, None, :, None])[0]) if enough else math.nan
    ends = None
    if asked is not None and math.isfinite(value):
        drawing = Drawing(asked.resample, asked.method, asked.resamples, asked.level, asked.seed)
        ends = interval(means[..., None] if asked.resample == "points" else _runs(rows), taken, drawing)
    return {"value": value if math.isfinite(value) else None, "ci": list(ends) if ends else None, "n": len(rows)}


def _over_training(statistic: Callable[..., np.ndarray], quantities: int) -> Taken:
    """The statistic of means over seeds, over the checkpoints of each point, and its mean over points where there is
    one: of runs [q t, b, n, s]."""

    def taken(runs: np.ndarray) -> np.ndarray:
        means = np.nanmean(runs, axis=-1)  # [q t, b, n]
        each = statistic(*np.moveaxis(means.reshape(quantities, -1, *means.shape[1:]), 1, -1))  # [b, n]
        there = np.isfinite(each)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(there, each, 0.0).sum(axis=-1) / there.sum(axis=-1))

    return taken


def _runs(rows: Sequence[Sequence[PointRuns]]) -> np.ndarray:
    """Every quantity of every run, [q t, n, s]; what is of no seed is the same in each."""
    count = max((len(one.seeds) for row in rows for one in row), default=0)
    return np.array([[one.seeds or (one.mean,) * max(count, 1) for one in side] for side in zip(*rows, strict=True)])


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
