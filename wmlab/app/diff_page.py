"""The page of what differs between sides: values, metrics, claims, and figures side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from wmlab.app.diff import difference_of, measured, open_sides
from wmlab.app.difference import Difference
from wmlab.app.page_makers import draw_page
from wmlab.app.results_diff import Side
from wmlab.graph.study import Study
from wmlab.report.content.page import report_data
from wmlab.report.diff import DiffPage, FigureRow, render_difference
from wmlab.report.studio import draw_here
from wmlab.report.text import slug
from wmlab.runtime import layout
from wmlab.runtime.durable import write_file
from wmlab.runtime.store import Store

FOLDER = "diff"  # among the reports


def write_difference(
    words: Sequence[str], profiles: Sequence[str] = (), sets: Sequence[str] = (), *, exact: bool = False
) -> Path:
    """Write the page of what differs, in the folder of reports; its place is returned."""
    sides = open_sides(words, profiles, sets)
    store = Store()
    found = difference_of(sides, exact)
    figures = [dict(figures_of(side, store)) for side in sides]
    names = dict.fromkeys(name for side in figures for name in side)
    rows = [FigureRow(name, tuple(side.get(name) for side in figures)) for name in names]
    page = render_difference(page_of(found, rows))
    place = store.beside("reports", Path(words[0])) / FOLDER / file_name(found.sides)
    write_file(place, page)
    return place


def page_of(found: Difference, figures: Sequence[FigureRow]) -> DiffPage:
    """A difference as the page shows it; figures that are the same are counted and left out."""
    differing = tuple(row for row in figures if len(set(row.sides)) > 1)
    told = found.sides, found.values, found.metrics, found.same_metrics, found.claims
    return DiffPage(*told, differing, len(figures) - len(differing))


def figures_of(side: Side | Study, store: Store) -> Iterator[tuple[str, bytes]]:
    """The figures of a side: those that a run kept, or, of a spec, as a report would have them now."""
    if isinstance(side, Side):
        several = len(side.folders) > 1
        for spec, folder in side.folders.items():
            for path in layout.children(folder / "figures"):
                if path.suffix == ".svg":
                    yield f"{spec}: {path.stem}" if several else path.stem, path.read_bytes()
        return
    for plan in side.plans:
        results = measured(plan, side, store)
        if not results:
            continue
        results["provenance"] = {}  # a difference tells no times
        for name, content in draw_page(report_data(plan, side.keys, store, results, {}), draw_here).items():
            if name.startswith("figures/") and name.endswith(".svg"):
                stem = Path(name).stem
                yield f"{plan.resolved.name}: {stem}" if side.is_suite else stem, content


def file_name(titles: Sequence[str]) -> str:
    """A name that tells the sides, and that no others have."""
    mark = hashlib.sha256("\0".join(titles).encode("utf-8", "surrogatepass")).hexdigest()[:7]
    return f"{'--'.join(slug(title)[: 100 // len(titles)] for title in titles)}~{mark}.html"
