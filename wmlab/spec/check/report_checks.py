"""What a spec asks to be drawn: metrics, axes and goals that are there, and tables that fit the claims of a suite."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import SpecError, suggest
from wmlab.registry import build
from wmlab.sections.experiment import Evaluate
from wmlab.sections.spec import Maps, TableCell
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.check.claims import never_made, unknown_axis_errors, where_errors
from wmlab.spec.compose.document import read
from wmlab.spec.compose.resolve import PAPER, Resolved, choose_profile, resolve
from wmlab.spec.yaml.node import Node, show_path

Path = tuple[str | int, ...]


def report_errors(resolved: Resolved, scope: ClaimScope) -> Iterator[SpecError]:
    """Drawings of metrics, axes and goals that are not there."""
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
    if asked.maps is not None:
        yield from map_errors(report, asked.maps, scope)


def map_errors(report: Node, maps: Maps, scope: ClaimScope) -> Iterator[SpecError]:
    sound = [build(Evaluate, point.data["evaluate"]) for point in scope.points if scope.sound]
    goals = {goal for asked in sound if asked.unseen is not None for goal in asked.unseen.goals}
    for i, goal in enumerate(maps.goals):
        if scope.sound and goal not in goals:
            source = report.near(["maps", "goals", i]).source
            message = f"there is no unseen goal '{goal}'"
            yield SpecError(source, f"report.maps.goals[{i}]", message, suggest(goal, goals))
    yield from where_errors(report.near(["maps"]), {"where": maps.where}, ("report", "maps"), scope, whole=False)


def table_errors(resolved: Resolved) -> Iterator[SpecError]:
    """Mistakes in `report.tables`; a smaller profile may lack claims, and its cells are then empty."""
    tables = resolved.sections["report"].at(["tables"]) if "report" in resolved.sections else None
    if tables is None or not tables.value:
        return
    if not resolved.is_suite:
        yield SpecError(tables.source, "report.tables", "only a suite has tables")
        return
    known = known_claims(resolved) if resolved.profile == PAPER else None
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
        member = resolve(document, choose_profile(document, PAPER))
        claims |= {f"{member.name}.{claim}" for claim in member.claims}
    return claims
