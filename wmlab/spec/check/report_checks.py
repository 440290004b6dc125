"""What a spec asks to be drawn: metrics, axes and goals that are there, and tables that fit the claims of a suite."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import SpecError, suggest
from wmlab.sections.spec import CurvesSection, Heatmaps, Scatters, TableCell
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.check.claims import label_errors, never_made, unknown_axis_errors
from wmlab.spec.check.drawable import why_no_curve
from wmlab.spec.check.figure_checks import figure_errors
from wmlab.spec.check.map_checks import map_errors
from wmlab.spec.compose.document import read
from wmlab.spec.compose.resolve import Resolved, resolve
from wmlab.spec.yaml.node import Node, show_path

Path = tuple[str | int, ...]


def report_errors(resolved: Resolved, scope: ClaimScope) -> Iterator[SpecError]:
    """Drawings of metrics, axes and goals that are not there, or of what has no such drawing."""
    report = resolved.sections["report"]
    asked = resolved.report
    for part, drawing in (("curves", asked.curves), ("heatmaps", asked.heatmaps)):
        for i, metric in enumerate(() if drawing is None else drawing.metrics):
            if scope.known is not None and metric not in scope.known:
                source = report.near([part, "metrics", i]).source
                yield SpecError(source, f"report.{part}.metrics[{i}]", *never_made(metric, scope.known))
    for part, key in (("curves", "one_line_per"), ("heatmaps", "rows"), ("heatmaps", "columns")):
        axis = getattr(getattr(asked, part), key, None)
        if axis is not None:
            yield from unknown_axis_errors(report.near([part, key]), [axis], ("report", part, key), scope)
    if asked.curves is not None:
        yield from curve_errors(resolved, report, asked.curves, scope)
    if asked.heatmaps is not None:
        yield from heatmap_errors(report, asked.heatmaps, scope)
    if asked.maps is not None:
        yield from map_errors(report, asked.maps, scope)
    if asked.scatters is not None:
        yield from scatter_errors(resolved, report, asked.scatters, scope)
    for name, figure in (asked.figures or {}).items():
        yield from figure_errors(report.near(["figures", name]), name, figure, scope)


def curve_errors(resolved: Resolved, report: Node, curves: CurvesSection, scope: ClaimScope) -> Iterator[SpecError]:
    """Curves of what is taken once, and slices at points that are not there."""
    for i, metric in enumerate(curves.metrics):
        if scope.known is not None and metric in scope.known:
            reason = why_no_curve(metric, resolved, scope)
            if reason is not None:
                source = report.near(["curves", "metrics", i]).source
                yield SpecError(source, f"report.curves.metrics[{i}]", *reason)
    for i, held in enumerate(curves.slices):
        place, path = report.near(["curves", "slices", i]), ("report", "curves", "slices", i)
        for name in held:
            if name in scope.axes:
                yield from label_errors(scope.axes[name], place.near([name]), show_path([*path, name]))
            else:
                key = Node(name, place.keys.get(name, place.source))
                yield from unknown_axis_errors(key, [name], (*path, name), scope)


def heatmap_errors(report: Node, heatmaps: Heatmaps, scope: ClaimScope) -> Iterator[SpecError]:
    """Heatmaps of one axis against itself, and of what has one value over all points."""
    if heatmaps.rows == heatmaps.columns:
        message = f"rows and columns are both '{heatmaps.rows}'; a heatmap is over two axes"
        yield SpecError(report.near(["heatmaps", "columns"]).source, "report.heatmaps.columns", message)
    for i, metric in enumerate(heatmaps.metrics):
        if metric in scope.across:
            message = f"{metric} is one number over all points, so there is nothing to lay over two axes"
            source = report.near(["heatmaps", "metrics", i]).source
            yield SpecError(
                source, f"report.heatmaps.metrics[{i}]", message, "leave it out; the table of relations has it"
            )


def scatter_errors(resolved: Resolved, report: Node, scatters: Scatters, scope: ClaimScope) -> Iterator[SpecError]:
    """Scatters of relations that are not there, of an axis as a coordinate, and colours of no axis."""
    for i, name in enumerate(scatters.relations):
        source, path = report.near(["scatters", "relations", i]).source, f"report.scatters.relations[{i}]"
        if name not in resolved.relate:
            hint = suggest(name, resolved.relate) or f"relate has {', '.join(resolved.relate) or 'none'}"
            yield SpecError(source, path, f"there is no relation '{name}'", hint)
        elif any(one.startswith("axis.") for one in (resolved.relate[name].x, resolved.relate[name].y)):
            message = f"relate.{name} is against an axis, and a scatter is of two metrics"
            yield SpecError(source, path, message, "curves and heatmaps show a metric along an axis")
        elif resolved.relate[name].over == "training":
            message = f"relate.{name} is over the training of each point, and a scatter is of points"
            yield SpecError(source, path, message, "leave it out; the table of relations has it")
    for i, axis in enumerate(scatters.colours):
        place = report.near(["scatters", "colours", i])
        yield from unknown_axis_errors(place, [axis], ("report", "scatters", "colours", i), scope)


def table_errors(resolved: Resolved) -> Iterator[SpecError]:
    """Mistakes in `report.tables`; a smaller profile may lack claims, and its cells are then empty."""
    tables = resolved.sections["report"].at(["tables"]) if "report" in resolved.sections else None
    if tables is None or not tables.value:
        return
    if not resolved.is_suite:
        yield SpecError(tables.source, "report.tables", "only a suite has tables")
        return
    known = known_claims(resolved) if resolved.is_body else None
    for i, table in enumerate(resolved.report.tables):
        for j, row in enumerate(table.rows):
            path: Path = (i, "rows", j, "cells")
            if len(row.cells) != len(table.columns):
                yield wrong(tables, path, f"{len(row.cells)} cells for {len(table.columns)} columns")
            for k, cell in enumerate(row.cells):
                yield from cell_errors(tables, (*path, k, "claims"), cell, known)


def cell_errors(tables: Node, path: Path, cell: TableCell, known: set[str] | None) -> Iterator[SpecError]:
    for position, claim in enumerate(cell.claims):
        if known is not None and claim not in known:
            message = f"no member has the claim '{claim}'; write it as spec.claim"
            yield wrong(tables, (*path, position), message, suggest(claim, known))


def wrong(tables: Node, path: Path, message: str, hint: str | None = None) -> SpecError:
    return SpecError((tables.at(path) or tables).source, show_path(["report", "tables", *path]), message, hint)


def known_claims(resolved: Resolved) -> set[str]:
    """Every claim of every member, as spec.claim."""
    claims = set()
    for path in resolved.suite:
        document = read(resolved.document.sibling(path))
        member = resolve(document, document.body_profile)
        claims |= {f"{member.name}.{claim}" for claim in member.claims}
    return claims
