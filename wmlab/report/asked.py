"""What the figures of `report.figures` show, taken from stored metrics."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.registry.metrics import axis_label
from wmlab.report.data import Results
from wmlab.report.series import entries_of, states_of
from wmlab.report.text import compact, number, plural, point


@dataclass(frozen=True)
class Spot:
    """A metric at one point of the sweep."""

    mean: float | None = None
    error: float | None = None  # standard error over seeds; None where there are fewer than two
    seeds: tuple[float, ...] = ()  # the value of each seed that has one
    hole: str = "no value"  # or "not run", "failed"
    x: float | None = None  # of a scatter: the other metric
    x_error: float | None = None


@dataclass(frozen=True)
class AskedPanel:
    """One panel: a row of spots for each label of `by`, in the order of the labels of `over`."""

    title: str
    rows: tuple[tuple[Spot, ...], ...]


@dataclass(frozen=True)
class AskedChart:
    """A figure as a spec asks for it."""

    name: str
    sort: str  # line, bar, heatmap, scatter, distribution
    title: str
    metric: str
    x_label: str
    y_label: str
    columns: tuple[str, ...]  # labels of `over`
    places: tuple[float, ...]  # where they stand
    series: tuple[str, ...]  # labels of `by`; one empty label where there is none
    by: str
    panels: tuple[AskedPanel, ...]
    log: bool = False
    x_log: bool = False
    lost: int = 0  # spots that a logarithmic scale cannot show, or that have no number

    @property
    def numbers(self) -> list[Spot]:
        return [spot for panel in self.panels for row in panel.rows for spot in row if spot.mean is not None]


def asked_charts(results: Results) -> list[AskedChart]:
    """Every figure of `report.figures` for which there is a number."""
    asked = (results.get("report") or {}).get("figures") or {}
    charts = [asked_chart(results, str(name), figure) for name, figure in asked.items()]
    return [chart for chart in charts if chart.numbers]


def not_drawn(results: Results) -> list[str]:
    """Figures for which this run has no number."""
    drawn = {chart.name for chart in asked_charts(results)}
    asked = (results.get("report") or {}).get("figures") or {}
    return [f"report.figures.{name}: no point has a number in this run" for name in asked if name not in drawn]


def asked_chart(results: Results, name: str, figure: Mapping[str, Any]) -> AskedChart:
    axes = results.get("axes") or {}
    over, by = figure.get("over"), figure.get("by")
    sort, log = str(figure.get("as", "line")), figure.get("scale") == "log"
    x_log = figure.get("across") == "log"
    columns = axes[over]["values"] if over else ()
    series = axes[by]["values"] if by else ("",)
    facets = list(figure.get("facets") or ())
    panels = []
    for labels in itertools.product(*(axes[facet]["values"] for facet in facets)):
        held = dict(zip(facets, labels, strict=True))
        rows = [row_of(results, figure, {**held, **({by: label} if by else {})}, columns) for label in series]
        panels.append(AskedPanel(point(held), tuple(rows)))
    spots = [spot for panel in panels for row in panel.rows for spot in row]
    even = figure.get("across", "even") == "even" or sort == "scatter"
    return AskedChart(
        name=name,
        sort=sort,
        title=str(figure.get("title") or ""),
        metric=str(figure["metric"]),
        x_label=str(over) if over else axis_label(str(figure.get("against"))),
        y_label=axis_label(str(figure["metric"])),
        columns=tuple(map(compact, columns)),
        places=tuple(float(place) if even else float(label) for place, label in enumerate(columns)),
        series=tuple(compact(label) if by else "" for label in series),
        by=str(by or ""),
        panels=tuple(panels),
        log=log,
        x_log=x_log,
        lost=sum(is_lost(spot, log, x_log and sort == "scatter", sort == "scatter") for spot in spots),
    )


def is_lost(spot: Spot, log: bool, x_log: bool, scatter: bool) -> bool:
    """Whether a spot cannot be shown."""
    if spot.mean is None or (scatter and spot.x is None):
        return True
    return (log and spot.mean <= 0) or (x_log and spot.x is not None and spot.x <= 0)


def row_of(
    results: Results, figure: Mapping[str, Any], held: Mapping[str, Any], columns: Sequence[Any]
) -> tuple[Spot, ...]:
    """The spots of one line: along an axis, or of a scatter at every point that has these labels."""
    entries = {point(entry["where"]): entry for entry in entries_of(results, str(figure["metric"]))}
    if figure.get("as") != "scatter":
        places = [place_of(results, {**held, figure["over"]: label}) for label in columns]
        holes = states_of(results)
        return tuple(
            spot_of(entries[place]) if place in entries else Spot(hole=holes.get(place, "no value")) for place in places
        )
    others = {point(entry["where"]): entry for entry in entries_of(results, str(figure["against"]))}
    chosen = [
        (place, entry)
        for place, entry in entries.items()
        if all(compact(entry["where"].get(axis)) == compact(label) for axis, label in held.items())
    ]
    return tuple(spot_of(entry, others.get(place, {})) for place, entry in chosen)


def place_of(results: Results, where: Mapping[str, Any]) -> str:
    """A point by its labels, in the order of the axes; of an axis with one label, that one."""
    axes = results.get("axes") or {}
    return point({axis: where.get(axis, described["values"][0]) for axis, described in axes.items()})


def spot_of(entry: Mapping[str, Any], other: Mapping[str, Any] | None = None) -> Spot:
    seeds = tuple(float(value) for value in entry.get("values") or () if value is not None)
    x, x_error = (mean_of(other), error_of(other)) if other is not None else (None, None)
    return Spot(mean_of(entry), error_of(entry), seeds, x=x, x_error=x_error)


def mean_of(entry: Mapping[str, Any]) -> float | None:
    return entry.get("mean")


def error_of(entry: Mapping[str, Any]) -> float | None:
    return entry.get("se_over_seeds") if (entry.get("n") or 0) > 1 else None


def caption(chart: AskedChart, seeds: int) -> str:
    """What bars and points are, and what is not shown."""
    few = sum(len(spot.seeds) < seeds for spot in chart.numbers)
    fewer = f", at {plural(few, 'place')} over fewer" if few else ""
    each = {
        "distribution": "Each point is one seed; the line is the mean.",
        "heatmap": "Mean ± standard error over n seeds.",
    }.get(chart.sort, f"Means over {plural(seeds, 'seed')}{fewer}; bars are standard errors.")
    each = each if seeds > 1 else "One seed."
    why = "without a number" + (" above 0" if chart.log or chart.x_log else "")
    lost = f" {plural(chart.lost, 'place')} {why} not drawn." if chart.lost else ""
    return f"{chart.metric} by {chart.x_label}{f' and {chart.by}' if chart.by else ''}. {each}{lost}"


def describe(chart: AskedChart) -> str:
    """The figure in a sentence, for those who do not see it."""
    ends = sorted(spot.mean for spot in chart.numbers if spot.mean is not None)
    panels = f" in {plural(len(chart.panels), 'panel')}" if len(chart.panels) > 1 else ""
    return f"{chart.metric} by {chart.x_label} as a {chart.sort}{panels}: from {number(ends[0])} to {number(ends[-1])}."
