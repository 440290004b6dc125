"""Figures in words: the name of the file, a title, a caption, and a description for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wmlab.registry.metrics import meaning
from wmlab.report import asked, certain, relations, series, suite
from wmlab.report.data import GridMap, Plane, Sheet
from wmlab.report.text import plural, slug

Words = tuple[str, str, str, str]  # of a figure: file name, title, caption, description


def suite_bars_words(chart: suite.SuiteBars) -> Words:
    title, alt = f"R* and Rᵂᴹ by {chart.x_label}.", suite.describe_suite_bars(chart)
    return slug("bars", chart.x_label), title, suite.suite_bars_caption(chart), alt


def asked_words(seeds: int, chart: asked.AskedChart) -> Words:
    title = chart.title or f"{chart.name}."
    return slug("figure", chart.name), title, asked.caption(chart, seeds), asked.describe(chart)


def bars_words(spread: str, chart: series.Bars) -> Words:
    title = f"Unseen goal {chart.goal}." if chart.goal else "Unseen goals."
    beside = ", and of what is had without it" if chart.beside else ""
    caption = f"Optimal return against that of the policy planned in the extracted model{beside}" + spread
    return slug("bars", chart.goal or "goals"), title, caption, series.describe_bars(chart)


def certain_words(spread: str, chart: certain.CertainReturns) -> Words:
    title = f"What is certain of {chart.goal}." if chart.goal else "What is certain of unseen goals."
    caption = (
        "Bars reach from the return that is certain, in every world that explains the values, to the one that is "
        "possible in some; the cautious policy is the one whose return is certain"
    )
    return slug("certain", chart.goal or "goals"), title, caption + spread, certain.describe(chart)


def curve_words(spread: str, chart: series.MetricCurves) -> Words:
    place = f" at {chart.place}" if chart.place else ""
    about = meaning(chart.metric) or "mean at each checkpoint"
    left = f" {plural(chart.left_out, 'further line')} not drawn." if chart.left_out else ""
    points = max((line.n or 0 for line in chart.lines), default=0)
    of_points = f"; the band is its interval, over {plural(points, 'point')} at the end."
    band = of_points if chart.metric.startswith("relate.") else spread
    name = slug("curve", chart.metric, *([chart.place] if chart.place else []))
    return name, f"{chart.metric}{place}.", _sentence(about) + band + left, series.describe_curves(chart)


def learning_words(spread: str, chart: series.MetricCurves) -> Words:
    left = f" {plural(chart.left_out, 'further line')} not drawn." if chart.left_out else ""
    counts = sorted({line.n or 0 for line in chart.lines})
    fewer = f" Some lines are of fewer seeds: {counts[0]} at the least." if len(counts) > 1 else ""
    name = slug("curve", "learning", chart.metric)
    return name, f"{_sentence(chart.y_label)}.", f"By updates{spread}{fewer}{left}", series.describe_curves(chart)


def along_words(seeds: int, chart: asked.AskedChart) -> Words:
    name, _, caption, alt = asked_words(seeds, chart)
    about = meaning(chart.metric)
    return name, f"{chart.metric} by {chart.x_label}.", _joined(_sentence(about) if about else "", caption), alt


def heat_words(chart: series.Heat) -> Words:
    place = f" at {chart.place}" if chart.place else ""
    left = f"{plural(chart.left_out, 'further heatmap')} not drawn." if chart.left_out else ""
    holes = f"Hatched: {' or '.join(chart.holes)}." if chart.holes else ""
    about = f"{_sentence(meaning(chart.metric) or 'mean over seeds')}; mean ± standard error over n seeds."
    name = slug("heat", chart.metric, *([chart.place] if chart.place else []))
    return name, f"{chart.metric}{place}.", _joined(about, holes, left), series.describe_heat(chart)


def scatter_words(chart: relations.Scatter) -> Words:
    level = f", with {100 * chart.level:g} % intervals" if chart.level is not None else ", without intervals"
    each = f"One point is the mean over {plural(chart.seeds, 'seed')}" if chart.seeds > 1 else "One point is one seed"
    bars = "; bars are standard errors." if chart.seeds > 1 else "."
    few = any(one.n < chart.seeds for panel in chart.panels for one in panel.points)
    hollow = "Hollow: fewer seeds, as others are missing." if few else ""
    lost = f"{plural(chart.missing, 'point')} of the sweep without numbers not drawn." if chart.missing else ""
    words = f"{each}{bars} Correlations over points{level}."
    title = f"{chart.y_metric} against {chart.x_metric}, by {chart.axis}."
    return (
        slug("scatter", chart.relation, chart.axis),
        title,
        _joined(words, hollow, lost),
        relations.describe_scatter(chart),
    )


def map_words(chart: GridMap) -> Words:
    jumps = "Dotted arcs are jumps." if any(_jumps(way) for way in chart.paths.values()) else ""
    same = len(chart.paths) > 1 and len({tuple(map(tuple, way)) for way in chart.paths.values()}) == 1
    size = f"{chart.shape[0]} rows and {chart.shape[1]} columns"
    drawn = _ways(chart.paths, ", the same" if same else "")
    alt = f"Map {chart.title} of {size}, coloured by {chart.label}.{drawn} {chart.note}"
    return slug("map", chart.title), f"{chart.title}.", _joined(chart.note, _unreachable(chart), jumps), alt.strip()


def plane_words(chart: Plane) -> Words:
    alt = f"{chart.title}: {chart.label} over {chart.x} and {chart.y}.{_ways(chart.paths)} {chart.note}"
    caption = _joined(chart.note, _blank(chart.blank, [chart.values]))
    return slug("plane", chart.title), f"{chart.title}.", caption, alt.strip()


def sheet_words(chart: Sheet) -> Words:
    titles = "; ".join(panel.title for panel in chart.panels)
    alt = f"{chart.title} over {chart.x} and {chart.y}: {titles}. {chart.note}"
    caption = _joined(chart.note, _blank(chart.blank, [panel.values for panel in chart.panels]))
    return slug("sheet", chart.title), f"{chart.title}.", caption, alt.strip()


def _ways(paths: Mapping[str, Any], more: str = "") -> str:
    """How long the drawn ways are."""
    ways = "; ".join(f"{name} way: {plural(max(0, len(way) - 1), 'step')}" for name, way in paths.items())
    return f" {ways}{more}." if ways else ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _joined(*sentences: str) -> str:
    """A caption of several sentences, some of them empty."""
    told = [sentence for sentence in sentences if sentence]
    return " ".join([*(f"{sentence.rstrip('.')}." for sentence in told[:-1]), *told[-1:]])


def _blank(why: str, values: Sequence[np.ndarray | None]) -> str:
    """Why places are left blank, where there are any; what shows through is the page, light or dark."""
    some = any(panel is not None and np.isnan(panel).any() for panel in values)
    return f"Blank: {why}." if why and some else ""


def _unreachable(chart: GridMap) -> str:
    """Cells of value 0 lie below the scale of a plan's map."""
    marked = {*map(tuple, chart.target), *map(tuple, chart.avoid)}
    cells = map(tuple, np.asarray(chart.cells).tolist())
    plain = [value for cell, value in zip(cells, chart.values, strict=True) if cell not in marked]
    below = not chart.from_zero and min(plain, default=1) == 0 < max(plain, default=0)
    return "White: the goal cannot be reached from there." if below else ""


def _jumps(way: tuple[tuple[int, int], ...]) -> bool:
    return any(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 1 for a, b in zip(way, way[1:], strict=False))
