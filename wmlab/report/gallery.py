"""The figures of a report in order, with captions, as files and inline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from wmlab.report import along, asked, captions, certain, relations, series, suite
from wmlab.report.data import ReportData, Results, SuiteRow
from wmlab.report.drawings import Draw, Drawing, Picture, drawings_file, style_of
from wmlab.report.studio import draw_here
from wmlab.sections.figure_style import FigureStyle

PANELLED = ("curves", "scatter", "sheet")  # sorts of figures that need a wide page where they have several panels
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
    drawing: Drawing  # what it shows
    wide: bool  # whether it takes the whole width of a page


@dataclass(frozen=True)
class FigureGroup:
    """Figures under one heading."""

    title: str
    items: tuple[GalleryFigure, ...]


def gallery(data: ReportData, draw: Draw = draw_here) -> list[FigureGroup]:
    """Every figure that the results allow and the spec asks for."""
    return _groups(_wanted(data), draw, style_of(data.results))


def drawings(data: ReportData) -> list[Drawing]:
    """What `gallery` has painted, so that it can be begun before the page is made."""
    style = style_of(data.results)
    return [Drawing(sort, chart, style) for sort, _, charts in _wanted(data).values() for chart in charts]


def _wanted(data: ReportData) -> Wanted:
    results = data.results
    seeds = len(results.get("seeds") or ())
    spread = f"; mean ± standard error over {seeds} seeds." if seeds > 1 else "; one seed."
    return {
        "Figures asked for": ("asked", partial(captions.asked_words, seeds), asked.asked_charts(results)),
        "Returns on unseen goals": ("bars", partial(captions.bars_words, spread), series.bars(results)),
        "What is certain and what is possible": (
            "certain",
            partial(captions.certain_words, spread),
            certain.certain_returns(results),
        ),
        "Over training": ("curves", partial(captions.curve_words, spread), series.curves(results)),
        "While it learnt": ("curves", partial(captions.learning_words, spread), data.learning),
        "Along the sweep": ("asked", partial(captions.along_words, seeds), along.along_charts(results)),
        "Over the sweep": ("heat", captions.heat_words, series.heats(results)),
        "Relations across the sweep": ("scatter", captions.scatter_words, relations.scatters(results)),
        "Maps": ("map", captions.map_words, data.maps),
        "The kernel": ("sheet", captions.sheet_words, data.kernels),
        "The agent and its model beside the truth": ("sheet", captions.sheet_words, data.sheets),
        "Over two variables": ("plane", captions.plane_words, data.planes),
    }


def not_drawn(data: ReportData) -> list[str]:
    """What the spec asks for and this run has nothing to draw for."""
    missing = relations.not_drawn(data.results) + series.not_drawn(data.results) + asked.not_drawn(data.results)
    if (data.results.get("report") or {}).get("maps") is not None and not (data.maps or data.planes or data.sheets):
        missing.append("report.maps: no stage that it draws has a result in this run")
    return missing


def suite_gallery(rows: Sequence[SuiteRow], results: Results, draw: Draw = draw_here) -> list[FigureGroup]:
    """The figures over several specs of a suite."""
    wanted = {"Returns on unseen goals": ("suite", captions.suite_bars_words, suite.suite_bars(rows))}
    return _groups(wanted, draw, style_of(results))


# By heading: the sort of the figures, what puts them into words, and they.
Wanted = Mapping[str, tuple[str, Callable[[Any], captions.Words], Sequence[Any]]]


def named_drawings(data: ReportData) -> dict[str, Drawing]:
    """What `gallery` has painted, by the names of the figures."""
    return {
        name: drawing for _, entries in _named(_wanted(data), style_of(data.results)) for name, drawing, _ in entries
    }


def _named(wanted: Wanted, style: FigureStyle) -> Iterator[tuple[str, list[tuple[str, Drawing, captions.Words]]]]:
    """What stands under each heading: name, drawing and words; no two have the same file name."""
    used: set[str] = set()
    for heading, (sort, words, charts) in wanted.items():
        entries = []
        for chart in charts:
            told = words(chart)
            name, count = told[0], 1
            while name in used:
                count += 1
                name = f"{told[0]}-{count}"
            used.add(name)
            entries.append((name, Drawing(sort, chart, style), told))
        yield heading, entries


def _groups(wanted: Wanted, draw: Draw, style: FigureStyle) -> list[FigureGroup]:
    """Figures under their headings, painted and put into words."""
    groups: list[FigureGroup] = []
    before = 0
    for heading, entries in _named(wanted, style):
        items: list[GalleryFigure] = []
        pictures = draw([drawing for _, drawing, _ in entries])
        for (name, drawing, (_, title, caption, alt)), picture in zip(entries, pictures, strict=True):
            inline = Markup(picture.inline(f"f{before + len(items) + 1}"))
            wide = drawing.sort in PANELLED and len(drawing.chart.panels) > 1
            items.append(GalleryFigure(name, title, caption, alt, inline, picture, drawing, wide))
        if items:
            groups.append(FigureGroup(heading, tuple(items)))
        before += len(items)
    return groups


def kept_drawings(groups: list[FigureGroup]) -> bytes:
    """What the figures show, as a report keeps it."""
    return drawings_file({item.file: item.drawing for group in groups for item in group.items})


def figure_files(groups: list[FigureGroup]) -> dict[str, bytes]:
    """Each figure as it stands beside the page, by the name of its file; and the keys of what they show."""
    files: dict[str, bytes] = {}
    items = [item for group in groups for item in group.items]
    for item in items:
        files[f"{item.file}.svg"] = item.picture.svg.encode()
        files[f"{item.file}.pdf"] = item.picture.pdf
    if items:
        files[KEYS] = (json.dumps({item.file: item.drawing.key for item in items}, indent=1) + "\n").encode()
    return files
