"""Metrics along a sweep, with their intervals, drawn without being asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wmlab.report.asked import AskedChart, asked_chart
from wmlab.report.data import Results
from wmlab.report.listing import headline_metrics
from wmlab.report.series import ERRORS, WIDE_RANGE

MOST = 2  # figures: those that the spec speaks of first
MOST_LINES = 7  # labels of a second axis


def along_charts(results: Results) -> list[AskedChart]:
    """The metrics that say most along the only axis of a sweep, or along one of two, with standard errors over seeds.

    What the spec asks for is drawn elsewhere, as are returns on unseen goals, which have bars of their own.
    """
    axes = {name: axis["values"] for name, axis in (results.get("axes") or {}).items() if len(axis["values"]) > 1}
    if not 1 <= len(axes) <= 2:
        return []
    over, by = placed(axes)
    if by is not None and len(axes[by]) > MOST_LINES:
        return []
    asked = results.get("report") or {}
    drawn = {str(figure.get("metric")) for figure in (asked.get("figures") or {}).values()}
    drawn |= set((asked.get("heatmaps") or {}).get("metrics") or ())
    names = [name for name in headline_metrics(results) if name not in drawn and not name.startswith("unseen.")]
    charts = [chart_of(results, name, over, by, axes[over]) for name in names]
    return [chart for chart in charts if shows_something(chart)][:MOST]


def placed(axes: Mapping[str, Sequence[Any]]) -> tuple[str, str | None]:
    """Which axis goes across, and which is lines: numbers go across where one of two axes has them."""
    over = next((name for name, labels in axes.items() if are_numbers(labels)), next(iter(axes)))
    return over, next((name for name in axes if name != over), None)


def are_numbers(labels: Sequence[Any]) -> bool:
    return all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)


def chart_of(results: Results, metric: str, over: str, by: str | None, labels: Sequence[Any]) -> AskedChart:
    """A line over numbers; over words, which are no line, each seed by itself with the mean."""
    figure = {"metric": metric, "over": over, "by": by, "as": "line" if are_numbers(labels) else "distribution"}
    plain = asked_chart(results, metric, figure)
    means = [spot.mean for spot in plain.numbers if spot.mean is not None]
    falls = metric.partition(".")[0] in ERRORS and min(means, default=0) > 0
    wide = falls and max(means) > WIDE_RANGE * min(means)
    return asked_chart(results, metric, {**figure, "scale": "log"}) if wide else plain


def shows_something(chart: AskedChart) -> bool:
    """Whether there are numbers at two places or more, and they are not all the same."""
    rows = [row for panel in chart.panels for row in panel.rows]
    places = {place for row in rows for place, spot in enumerate(row) if spot.mean is not None}
    return len(places) > 1 and len({spot.mean for spot in chart.numbers}) > 1
