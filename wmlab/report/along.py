"""Metrics along a sweep, with their intervals, drawn without being asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from wmlab.report.asked import AskedChart, asked_chart
from wmlab.report.data import Results
from wmlab.report.listing import headline_metrics
from wmlab.report.series import ERRORS, WIDE_RANGE

MOST = 2  # figures along an axis of numbers: those that the spec speaks of first
MOST_OF_WORDS = 1  # figures along an axis of words: its means stand side by side in a table
SPREAD = 0.02  # of the height of a figure: seeds that lie closer than that are one point
MOST_LINES = 7  # labels of a second axis


def along_charts(results: Results) -> list[AskedChart]:
    """The metrics that say most along the only axis of a sweep, or along one of two, with standard errors over seeds.

    What the spec asks for is drawn elsewhere, as are returns on unseen goals, which have bars of their own. Along words
    a figure shows how seeds scatter: where they do not, the table of means says as much.
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
    charts = (chart_of(results, name, over, by, axes[over]) for name in names)
    first = islice(filter(shows_something, charts), MOST if are_numbers(axes[over]) else MOST_OF_WORDS)
    return [chart for chart in first if chart.sort != "distribution" or scatters(chart)]


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


def scatters(chart: AskedChart) -> bool:
    """Whether the seeds of some place lie apart, as seen on the figure, or there is one seed alone."""
    if all(len(spot.seeds) < 2 for spot in chart.numbers):
        return True
    drawn = [heights(spot.seeds, chart.log) for spot in chart.numbers]
    known = [height for each in drawn for height in each]
    whole = max(known, default=0.0) - min(known, default=0.0)
    return whole > 0 and any(max(each) - min(each) > SPREAD * whole for each in drawn if each)


def heights(values: Sequence[float], log: bool) -> list[float]:
    """Where numbers lie on an axis; those that a logarithmic one cannot show are left out."""
    return [math.log10(value) for value in values if value > 0] if log else list(values)
