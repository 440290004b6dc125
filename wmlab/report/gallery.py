"""The figures of a report in order, with captions, as files and inline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from wmlab.registry.metrics import meaning
from wmlab.report import series, suite
from wmlab.report.data import GridMap, ReportData, SuiteRow
from wmlab.report.text import plural, slug

FAMILIES = ("bars", "curve", "heat", "map", "plane", "sheet")  # how the names of our files begin


@dataclass(frozen=True)
class GalleryFigure:
    """One figure on the page."""

    file: str  # without its ending
    title: str
    caption: str
    alt: str
    svg: Markup
    picture: Any

    @property
    def wide(self) -> bool:
        """Whether it takes the whole width of a page."""
        return self.file.startswith("sheet")


@dataclass(frozen=True)
class FigureGroup:
    """Figures under one heading."""

    title: str
    items: tuple[GalleryFigure, ...]


def gallery(data: ReportData) -> list[FigureGroup]:
    """Every figure that the results allow and the spec asks for."""
    used: set[str] = set()
    groups = [
        ("Returns on unseen goals", _bars(data)),
        ("Over training", _curves(data)),
        ("Over the sweep", _heats(data)),
        ("Maps", _maps(data)),
        ("The agent and its model beside the truth", _sheets(data)),
        ("Over two variables", _planes(data)),
    ]
    made = [FigureGroup(title, tuple(_item(used, *parts) for parts in figures)) for title, figures in groups]
    return [group for group in made if group.items]


def suite_gallery(rows: Sequence[SuiteRow]) -> list[FigureGroup]:
    """The figures over several specs of a suite."""
    used: set[str] = set()
    items = tuple(_item(used, *parts) for parts in _suite_bars(rows))
    return [FigureGroup("Returns on unseen goals", items)] if items else []


def _suite_bars(rows: Sequence[SuiteRow]) -> Iterator[Parts]:
    from wmlab.report import figures

    for chart in suite.suite_bars(rows):
        title = f"R* and Rᵂᴹ by {chart.x_label}."
        alt = suite.describe_suite_bars(chart)
        yield slug("bars", chart.x_label), title, suite.suite_bars_caption(chart), alt, figures.suite_chart(chart)


Parts = tuple[str, str, str, str, Any]  # file name, title, caption, description, picture


def _item(used: set[str], file: str, title: str, caption: str, alt: str, picture: Any) -> GalleryFigure:
    name, count = file, 1
    while name in used:
        count += 1
        name = f"{file}-{count}"
    used.add(name)
    return GalleryFigure(name, title, caption, alt, Markup(picture.inline(f"f{len(used)}")), picture)


def _bars(data: ReportData) -> Iterator[Parts]:
    from wmlab.report import figures

    for chart in series.bars(data.results):
        title = f"Unseen goal {chart.goal}." if chart.goal else "Unseen goals."
        caption = "Optimal return against that of the policy planned in the extracted model" + _spread(data)
        alt = series.describe_bars(chart)
        yield slug("bars", chart.goal or "goals"), title, caption, alt, figures.bar_chart(chart)


def _curves(data: ReportData) -> Iterator[Parts]:
    from wmlab.report import figures

    for chart in series.curves(data.results):
        place = f" at {chart.place}" if chart.place else ""
        about = meaning(chart.metric)
        left = f" {plural(chart.left_out, 'further line')} not drawn." if chart.left_out else ""
        band = "; the band is its interval." if chart.metric.startswith("relate.") else _spread(data)
        caption = (about[:1].upper() + about[1:] if about else "Mean at each checkpoint") + band + left
        name = slug("curve", chart.metric, *([chart.place] if chart.place else []))
        yield name, f"{chart.metric}{place}.", caption, series.describe_curves(chart), figures.curve_chart(chart)


def _heats(data: ReportData) -> Iterator[Parts]:
    from wmlab.report import figures

    for chart in series.heats(data.results):
        about = meaning(chart.metric) or "mean over seeds"
        caption, alt = f"{about[:1].upper()}{about[1:]}.", series.describe_heat(chart)
        yield slug("heat", chart.metric), f"{chart.metric}.", caption, alt, figures.heat_chart(chart)


def _maps(data: ReportData) -> Iterator[Parts]:
    from wmlab.report import figures

    for chart in data.maps:
        jumps = "Dotted arcs are jumps." if any(_jumps(way) for way in chart.paths.values()) else ""
        caption = _joined(chart.note, _unreachable(chart), jumps)
        yield slug("map", chart.title), f"{chart.title}.", caption, _describe(chart), figures.map_chart(chart)


def _planes(data: ReportData) -> Iterator[Parts]:
    from wmlab.report import figures

    for chart in data.planes:
        ways = "; ".join(f"{name} way: {plural(max(0, len(way) - 1), 'step')}" for name, way in chart.paths.items())
        alt = f"{chart.title}: {chart.label} over {chart.x} and {chart.y}.{f' {ways}.' if ways else ''} {chart.note}"
        name, caption = slug("plane", chart.title), _joined(chart.note, _white(chart.blank, [chart.values]))
        yield name, f"{chart.title}.", caption, alt.strip(), figures.plane_chart(chart)


def _sheets(data: ReportData) -> Iterator[Parts]:
    from wmlab.report import figures

    for chart in data.sheets:
        titles = "; ".join(panel.title for panel in chart.panels)
        alt = f"{chart.title} over {chart.x} and {chart.y}: {titles}. {chart.note}"
        caption = _joined(chart.note, _white(chart.blank, [panel.values for panel in chart.panels]))
        yield slug("sheet", chart.title), f"{chart.title}.", caption, alt.strip(), figures.sheet_chart(chart)


def _spread(data: ReportData) -> str:
    seeds = len(data.results.get("seeds") or ())
    return f"; mean ± standard error over {seeds} seeds." if seeds > 1 else "; one seed."


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


def _describe(chart: GridMap) -> str:
    ways = "; ".join(f"{name} way: {plural(max(0, len(way) - 1), 'step')}" for name, way in chart.paths.items())
    same = len(chart.paths) > 1 and len({tuple(map(tuple, way)) for way in chart.paths.values()}) == 1
    drawn = f" {ways}{', the same' if same else ''}." if ways else ""
    size = f"{chart.shape[0]} rows and {chart.shape[1]} columns"
    return f"Map {chart.title} of {size}, coloured by {chart.label}.{drawn} {chart.note}".strip()


def write(groups: list[FigureGroup], folder: Path) -> None:
    """Put the figures beside the page, and take away ours that are no longer part of it."""
    if not groups and not folder.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {}
    for item in (item for group in groups for item in group.items):
        wanted[f"{item.file}.svg"] = item.picture.svg.encode()
        wanted[f"{item.file}.pdf"] = item.picture.pdf
    for name, content in wanted.items():
        (folder / name).write_bytes(content)
    for path in folder.iterdir():
        ours = path.suffix in (".svg", ".pdf") and path.name.startswith(tuple(f"{family}-" for family in FAMILIES))
        if ours and path.name not in wanted:
            path.unlink()
