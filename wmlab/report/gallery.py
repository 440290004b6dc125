"""The figures of a report in order, with captions, as files and inline."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup

from wmlab.registry.metrics import meaning
from wmlab.report import asked, certain, relations, series, suite
from wmlab.report.data import GridMap, Plane, ReportData, Sheet, SuiteRow
from wmlab.report.drawings import Draw, Drawing, Picture
from wmlab.report.studio import draw_here
from wmlab.report.text import plural, slug

KEYS = "keys.json"  # among the figures: by which a later page knows that one shows the same


@dataclass(frozen=True)
class GalleryFigure:
    """One figure on the page."""

    file: str  # without its ending
    title: str
    caption: str
    alt: str
    svg: Markup
    picture: Picture
    key: str  # of what it shows and what painted it

    @property
    def wide(self) -> bool:
        """Whether it takes the whole width of a page."""
        return self.file.startswith(("sheet", "scatter"))


@dataclass(frozen=True)
class FigureGroup:
    """Figures under one heading."""

    title: str
    items: tuple[GalleryFigure, ...]


def gallery(data: ReportData, draw: Draw = draw_here) -> list[FigureGroup]:
    """Every figure that the results allow and the spec asks for."""
    return _groups(_wanted(data), draw)


def drawings(data: ReportData) -> list[Drawing]:
    """What `gallery` has painted, so that it can be begun before the page is made."""
    return [Drawing(sort, chart) for sort, _, charts in _wanted(data).values() for chart in charts]


def _wanted(data: ReportData) -> Wanted:
    results = data.results
    seeds = len(results.get("seeds") or ())
    spread = f"; mean ± standard error over {seeds} seeds." if seeds > 1 else "; one seed."
    return {
        "Figures asked for": ("asked", partial(_asked, seeds), asked.asked_charts(results)),
        "Returns on unseen goals": ("bars", partial(_bars, spread), series.bars(results)),
        "What is certain and what is possible": (
            "certain",
            partial(_certain, spread),
            certain.certain_returns(results),
        ),
        "Over training": ("curves", partial(_curves, spread), series.curves(results)),
        "Over the sweep": ("heat", _heat, series.heats(results)),
        "Relations across the sweep": ("scatter", _scatter, relations.scatters(results)),
        "Maps": ("map", _map, data.maps),
        "The agent and its model beside the truth": ("sheet", _sheet, data.sheets),
        "Over two variables": ("plane", _plane, data.planes),
    }


def not_drawn(data: ReportData) -> list[str]:
    """What the spec asks for and this run has nothing to draw for."""
    missing = relations.not_drawn(data.results) + series.not_drawn(data.results) + asked.not_drawn(data.results)
    if (data.results.get("report") or {}).get("maps") is not None and not (data.maps or data.planes or data.sheets):
        missing.append("report.maps: no stage that it draws has a result in this run")
    return missing


def suite_gallery(rows: Sequence[SuiteRow], draw: Draw = draw_here) -> list[FigureGroup]:
    """The figures over several specs of a suite."""
    return _groups({"Returns on unseen goals": ("suite", _suite_bars, suite.suite_bars(rows))}, draw)


Words = tuple[str, str, str, str]  # of a figure: file name, title, caption, description for those who do not see it
Wanted = Mapping[str, tuple[str, Callable[[Any], Words], Sequence[Any]]]  # heading: who paints and tells them, and they


def _groups(wanted: Wanted, draw: Draw) -> list[FigureGroup]:
    """Figures under their headings, painted and put into words; no two have the same file name."""
    used: set[str] = set()
    groups = []
    for heading, (sort, words, charts) in wanted.items():
        asked_for = [Drawing(sort, chart) for chart in charts]
        items = []
        for drawing, picture in zip(asked_for, draw(asked_for), strict=True):
            file, title, caption, alt = words(drawing.chart)
            name, count = file, 1
            while name in used:
                count += 1
                name = f"{file}-{count}"
            used.add(name)
            inline = Markup(picture.inline(f"f{len(used)}"))
            items.append(GalleryFigure(name, title, caption, alt, inline, picture, drawing.key))
        if items:
            groups.append(FigureGroup(heading, tuple(items)))
    return groups


def _suite_bars(chart: suite.SuiteBars) -> Words:
    title, alt = f"R* and Rᵂᴹ by {chart.x_label}.", suite.describe_suite_bars(chart)
    return slug("bars", chart.x_label), title, suite.suite_bars_caption(chart), alt


def _asked(seeds: int, chart: asked.AskedChart) -> Words:
    title = chart.title or f"{chart.name}."
    return slug("figure", chart.name), title, asked.caption(chart, seeds), asked.describe(chart)


def _bars(spread: str, chart: series.Bars) -> Words:
    title = f"Unseen goal {chart.goal}." if chart.goal else "Unseen goals."
    beside = ", and of what is had without it" if chart.beside else ""
    caption = f"Optimal return against that of the policy planned in the extracted model{beside}" + spread
    return slug("bars", chart.goal or "goals"), title, caption, series.describe_bars(chart)


def _certain(spread: str, chart: certain.CertainReturns) -> Words:
    title = f"What is certain of {chart.goal}." if chart.goal else "What is certain of unseen goals."
    caption = (
        "Bars reach from the return that is certain, in every world that explains the values, to the one that is "
        "possible in some; the cautious policy is the one whose return is certain"
    )
    return slug("certain", chart.goal or "goals"), title, caption + spread, certain.describe(chart)


def _curves(spread: str, chart: series.MetricCurves) -> Words:
    place = f" at {chart.place}" if chart.place else ""
    about = meaning(chart.metric) or "mean at each checkpoint"
    left = f" {plural(chart.left_out, 'further line')} not drawn." if chart.left_out else ""
    points = max((line.n or 0 for line in chart.lines), default=0)
    of_points = f"; the band is its interval, over {plural(points, 'point')} at the end."
    band = of_points if chart.metric.startswith("relate.") else spread
    name = slug("curve", chart.metric, *([chart.place] if chart.place else []))
    return name, f"{chart.metric}{place}.", _sentence(about) + band + left, series.describe_curves(chart)


def _heat(chart: series.Heat) -> Words:
    place = f" at {chart.place}" if chart.place else ""
    left = f"{plural(chart.left_out, 'further heatmap')} not drawn." if chart.left_out else ""
    holes = f"Hatched: {' or '.join(chart.holes)}." if chart.holes else ""
    about = f"{_sentence(meaning(chart.metric) or 'mean over seeds')}; mean ± standard error over n seeds."
    name = slug("heat", chart.metric, *([chart.place] if chart.place else []))
    return name, f"{chart.metric}{place}.", _joined(about, holes, left), series.describe_heat(chart)


def _scatter(chart: relations.Scatter) -> Words:
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


def _map(chart: GridMap) -> Words:
    jumps = "Dotted arcs are jumps." if any(_jumps(way) for way in chart.paths.values()) else ""
    same = len(chart.paths) > 1 and len({tuple(map(tuple, way)) for way in chart.paths.values()}) == 1
    size = f"{chart.shape[0]} rows and {chart.shape[1]} columns"
    drawn = _ways(chart.paths, ", the same" if same else "")
    alt = f"Map {chart.title} of {size}, coloured by {chart.label}.{drawn} {chart.note}"
    return slug("map", chart.title), f"{chart.title}.", _joined(chart.note, _unreachable(chart), jumps), alt.strip()


def _plane(chart: Plane) -> Words:
    alt = f"{chart.title}: {chart.label} over {chart.x} and {chart.y}.{_ways(chart.paths)} {chart.note}"
    caption = _joined(chart.note, _white(chart.blank, [chart.values]))
    return slug("plane", chart.title), f"{chart.title}.", caption, alt.strip()


def _sheet(chart: Sheet) -> Words:
    titles = "; ".join(panel.title for panel in chart.panels)
    alt = f"{chart.title} over {chart.x} and {chart.y}: {titles}. {chart.note}"
    caption = _joined(chart.note, _white(chart.blank, [panel.values for panel in chart.panels]))
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


def _white(why: str, values: Sequence[np.ndarray | None]) -> str:
    """Why places are white, where there are any."""
    blank = any(panel is not None and np.isnan(panel).any() for panel in values)
    return f"White: {why}." if why and blank else ""


def _unreachable(chart: GridMap) -> str:
    """Cells of value 0 lie below the scale of a plan's map."""
    marked = {*map(tuple, chart.target), *map(tuple, chart.avoid)}
    cells = map(tuple, np.asarray(chart.cells).tolist())
    plain = [value for cell, value in zip(cells, chart.values, strict=True) if cell not in marked]
    below = not chart.from_zero and min(plain, default=1) == 0 < max(plain, default=0)
    return "White: the goal cannot be reached from there." if below else ""


def _jumps(way: tuple[tuple[int, int], ...]) -> bool:
    return any(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 1 for a, b in zip(way, way[1:], strict=False))


def figure_files(groups: list[FigureGroup]) -> dict[str, bytes]:
    """Each figure as it stands beside the page, by the name of its file; and the keys of what they show."""
    files: dict[str, bytes] = {}
    items = [item for group in groups for item in group.items]
    for item in items:
        files[f"{item.file}.svg"] = item.picture.svg.encode()
        files[f"{item.file}.pdf"] = item.picture.pdf
    if items:
        files[KEYS] = (json.dumps({item.file: item.key for item in items}, indent=1) + "\n").encode()
    return files
