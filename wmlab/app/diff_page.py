"""The page of what differs between two sides: values, metrics, claims, and figures side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from wmlab.app.diff import difference_of, measured, open_sides
from wmlab.app.difference import Difference
from wmlab.app.page_makers import draw_page
from wmlab.app.results_diff import Side
from wmlab.graph.study import Study
from wmlab.report.content.page import report_data
from wmlab.report.diff import DiffPage, FigurePair, render_difference
from wmlab.report.pairs import MetricPair, ValuePair
from wmlab.report.studio import draw_here
from wmlab.report.text import slug
from wmlab.runtime import layout
from wmlab.runtime.durable import write_file
from wmlab.runtime.store import Store

FOLDER = "diff"  # among the reports
Figures = Mapping[str, bytes]  # SVG by the name of its file


def write_difference(
    one: str, other: str | None, profiles: Sequence[str] = (), sets: Sequence[str] = (), *, exact: bool = False
) -> Path:
    """Write the page of what differs, in the folder of reports; its place is returned."""
    sides = open_sides(one, other, profiles, sets)
    store = Store()
    left, right = sides
    found = difference_of(left, right, exact)
    figures = [dict(figures_of(side, store)) for side in sides]
    names = list(dict.fromkeys([*figures[0], *figures[1]]))
    pairs = [(name, figures[0].get(name), figures[1].get(name)) for name in names]
    page = render_difference(page_of(found, pairs))
    place = store.beside("reports", Path(one)) / FOLDER / file_name(found)
    write_file(place, page)
    return place


def page_of(found: Difference, figures: Sequence[tuple[str, bytes | None, bytes | None]]) -> DiffPage:
    """A difference as the page shows it; figures that are the same are counted and left out."""
    differing = [FigurePair(name, one, other) for name, one, other in figures if one != other]
    return DiffPage(
        one=found.one,
        other=found.other,
        values=tuple(ValuePair(row.path, row.one, row.one_source, row.other, row.other_source) for row in found.values),
        metrics=tuple(MetricPair(row.name, row.one, row.other, row.interval, row.within) for row in found.metrics),
        same_metrics=found.same_metrics,
        claims=tuple((row.id, row.one, row.other) for row in found.claims),
        figures=tuple(differing),
        same_figures=len(figures) - len(differing),
    )


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


def file_name(found: Difference) -> str:
    """A name that tells both sides, and that no other pair has."""
    mark = hashlib.sha256(f"{found.one}\0{found.other}".encode("utf-8", "surrogatepass")).hexdigest()[:7]
    return f"{slug(found.one)[:50]}--{slug(found.other)[:50]}~{mark}.html"
