"""Relations across a sweep as scatters: each point with its errors, the correlation with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.registry.metrics import axis_label
from wmlab.report.data import Results
from wmlab.report.series import entries_of
from wmlab.report.text import compact, grouped, number, point

MOST_PANELS = 4  # of a scatter over training


@dataclass(frozen=True)
class ScatterPoint:
    """One point of a sweep in the plane of two metrics: means with their standard errors over n seeds."""

    label: int  # position of its label on the axis that is coloured
    x: float
    y: float
    x_error: float | None
    y_error: float | None
    n: int


@dataclass(frozen=True)
class ScatterPanel:
    """A relation at one checkpoint."""

    title: str  # "1M steps"; empty where there is only the end
    words: str  # the correlation, its interval and how many points it is over
    points: tuple[ScatterPoint, ...]


@dataclass(frozen=True)
class Scatter:
    """A relation across the points of a sweep, coloured by one axis, over training."""

    relation: str
    axis: str
    labels: tuple[str, ...]  # of the axis
    x_metric: str
    y_metric: str
    panels: tuple[ScatterPanel, ...]
    seeds: int
    level: float | None = None  # of the intervals
    missing: int = 0  # points of the sweep without numbers at the end
    x_label: str = ""
    y_label: str = ""


def scatters(results: Results) -> list[Scatter]:
    """The scatters that `report.scatters` asks for: a figure for each relation and each axis that is coloured."""
    asked = (results.get("report") or {}).get("scatters") or {}
    relations = results.get("relations") or {}
    figures = [
        _scatter(results, name, relations[name], axis)
        for name in asked.get("relations") or ()
        for axis in asked.get("colours") or list(results.get("axes") or {})[:1]
        if name in relations
    ]
    return [figure for figure in figures if any(panel.points for panel in figure.panels)]


def _scatter(results: Results, name: str, relation: Mapping[str, Any], axis: str) -> Scatter:
    labels = results["axes"][axis]["values"]
    x, y = (_by_point(results, relation[side]) for side in ("x", "y"))
    stored = {
        entry["metric"].rpartition(".")[2]: entry
        for entry in (results.get("metrics") or {}).values()
        if str(entry.get("metric", "")).startswith(f"relate.{name}.")
    }
    count = max((len((entry.get("curve") or {}).get("value") or ()) for entry in stored.values()), default=0)
    steps = _spread_over(count) if count else [None]
    panels = []
    for step in steps:
        places = [
            _scatter_point(labels, where, axis, _at(x[where], step), _at(y[where], step)) for where in x if where in y
        ]
        found = tuple(place for place in places if place is not None)
        panels.append(ScatterPanel(_moment(results, step), _statistics(stored, step), found))
    everything = len(relation["points"])
    level = next((entry.get("level") for entry in stored.values()), None)
    seeds = len(results.get("seeds") or ())
    missing = everything - len(panels[-1].points)
    metrics = (relation["x"], relation["y"])
    told = (axis_label(metric) for metric in metrics)
    return Scatter(name, axis, tuple(map(compact, labels)), *metrics, tuple(panels), seeds, level, missing, *told)


def _by_point(results: Results, metric: str) -> dict[str, Mapping[str, Any]]:
    return {point(entry["where"]): entry for entry in entries_of(results, metric)}


def _spread_over(count: int, most: int = MOST_PANELS) -> Sequence[int]:
    """Checkpoints from the first to the last, at most so many and evenly apart."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


def _at(entry: Mapping[str, Any], step: int | None) -> tuple[Any, Any, int, Mapping[str, Any]]:
    """Mean, standard error and n at a checkpoint, or at the end where there are none."""
    curve = entry.get("curve") or {}
    if step is None or step >= len(curve.get("mean") or ()):
        return entry.get("mean"), entry.get("se_over_seeds"), int(entry.get("n") or 0), entry["where"]
    return curve["mean"][step], curve["se_over_seeds"][step], int(curve["n"][step] or 0), entry["where"]


def _scatter_point(labels: Sequence[Any], where: str, axis: str, x: Any, y: Any) -> ScatterPoint | None:
    if x[0] is None or y[0] is None:
        return None
    place = [compact(label) for label in labels].index(compact(x[3][axis]))
    across, along = (one[1] if one[2] > 1 else None for one in (x, y))
    return ScatterPoint(place, x[0], y[0], across, along, min(x[2], y[2]))


def _moment(results: Results, step: int | None) -> str:
    steps = results.get("steps") or ()
    if step is None:
        return ""
    return f"{grouped(steps[step])} steps" if step < len(steps) else f"checkpoint {step + 1}"


def _statistics(stored: Mapping[str, Mapping[str, Any]], step: int | None) -> str:
    """'spearman −0.93 [−0.98, −0.8], n = 16', a line for each statistic."""
    lines = []
    for statistic, entry in stored.items():
        curve = entry.get("curve")
        value, ends, n = (
            (entry.get(key) if step is None or not curve else curve[key][step]) for key in ("value", "ci", "n")
        )
        interval = f" [{number(ends[0], 2)}, {number(ends[1], 2)}]" if ends else ", no interval"
        lines.append(f"{statistic} {number(value, 2)}{interval}, n = {n}")
    return "\n".join(lines)


def describe_scatter(figure: Scatter) -> str:
    """The figure in a sentence, for those who do not see it."""
    last = figure.panels[-1]
    words = last.words.replace("\n", "; ")
    return f"{figure.y_metric} against {figure.x_metric}, coloured by {figure.axis}. At the end, {words}."


def not_drawn(results: Results) -> list[str]:
    """Scatters that `report` asks for and these results have no numbers for."""
    asked = ((results.get("report") or {}).get("scatters") or {}).get("relations") or ()
    drawn = {one.relation for one in scatters(results)}
    return [f"report.scatters of {name}: no point has both numbers in this run" for name in asked if name not in drawn]
