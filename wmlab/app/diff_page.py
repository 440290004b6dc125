"""The page of what differs between sides: values, metrics, claims, and figures side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wmlab.app.diff import difference_of, measured, open_sides
from wmlab.app.difference import Difference
from wmlab.app.figures import kept_drawings
from wmlab.app.results_diff import Side
from wmlab.graph.study import Study
from wmlab.report.content.page import report_data
from wmlab.report.data import FIGURES
from wmlab.report.diff import DiffPage, FigureRow, render_difference
from wmlab.report.differences import letter
from wmlab.report.drawings import Drawing
from wmlab.report.gallery import named_drawings
from wmlab.report.studio import draw_on_one_scale
from wmlab.report.text import slug
from wmlab.runtime import layout
from wmlab.runtime.durable import write_file
from wmlab.runtime.store import Store

FOLDER = "diff"  # among the reports
# What painting a drawing of another version may end with.
UNDRAWABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError)


@dataclass(frozen=True)
class SideFigure:
    """A figure of one side: as it was drawn for its own page, and what it shows, as far as either was kept."""

    svg: bytes | None = None
    drawing: Drawing | None = None


NOWHERE = SideFigure()


def write_difference(
    words: Sequence[str], profiles: Sequence[str] = (), sets: Sequence[str] = (), *, exact: bool = False
) -> Path:
    """Write the page of what differs, in the folder of reports; its place is returned."""
    sides = open_sides(words, profiles, sets)
    store = Store()
    found = difference_of(sides, exact)
    figures = [dict(figures_of(side, store)) for side in sides]
    names = dict.fromkeys(name for side in figures for name in side)
    rows = [figure_row(name, [side.get(name, NOWHERE) for side in figures]) for name in names]
    page = render_difference(page_of(found, rows))
    place = store.beside("reports", Path(words[0])) / FOLDER / file_name(found.sides)
    write_file(place, page)
    return place


def page_of(found: Difference, figures: Sequence[FigureRow | None]) -> DiffPage:
    """A difference as the page shows it; figures that are the same on all sides are counted and left out."""
    differing = tuple(row for row in figures if row is not None)
    told = found.sides, found.values, found.metrics, found.same_metrics, found.claims
    return DiffPage(*told, differing, len(figures) - len(differing))


def figures_of(side: Side | Study, store: Store) -> Iterator[tuple[str, SideFigure]]:
    """The figures of a side: those that a run kept, or, of a spec, as a report would have them now."""
    if isinstance(side, Side):
        for spec, folder in side.folders.items():
            prefix = f"{spec}: " if len(side.folders) > 1 else ""
            drawings = kept_drawings(folder)
            for path in layout.children(folder / FIGURES):
                if path.suffix == ".svg":
                    yield prefix + path.stem, SideFigure(path.read_bytes(), drawings.get(path.stem))
        return
    for plan in side.plans:
        results = measured(plan, side, store)
        prefix = f"{plan.resolved.name}: " if side.is_suite else ""
        drawings = named_drawings(report_data(plan, side.keys, store, results, {})) if results else {}
        yield from ((prefix + name, SideFigure(None, drawing)) for name, drawing in drawings.items())


def figure_row(name: str, sides: Sequence[SideFigure]) -> FigureRow | None:
    """A figure of all sides, on one scale as far as there is one; None where all sides show the same."""
    if len({side.drawing.text if side.drawing else side.svg for side in sides}) == 1:
        return None
    svgs = [side.svg for side in sides]
    drawings = {place: side.drawing for place, side in enumerate(sides) if side.drawing}
    try:
        pictures, differing = draw_on_one_scale(list(drawings.values()))
    except UNDRAWABLE:
        drawings, pictures, differing = {}, [], []
    for place, picture in zip(drawings, pictures, strict=True):
        svgs[place] = picture.svg.encode()
    if len(set(svgs)) == 1:
        return None
    alone = [letter(place) for place, svg in enumerate(svgs) if svg and place not in drawings]
    return FigureRow(name, tuple(svgs), tuple(differing) if len(drawings) > 1 else (), tuple(alone))


def file_name(titles: Sequence[str]) -> str:
    """A name that tells the sides, and that no others have."""
    mark = hashlib.sha256("\0".join(titles).encode("utf-8", "surrogatepass")).hexdigest()[:7]
    return f"{'--'.join(slug(title)[: 100 // len(titles)] for title in titles)}~{mark}.html"
