"""What a report shows beside the results: the resolved spec, the plan, and maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from wmlab.app.drawings.maps import maps
from wmlab.app.drawings.planes import planes
from wmlab.app.drawings.sheets import sheets
from wmlab.graph.compile import Plan
from wmlab.graph.key import Key
from wmlab.report.data import KindEdge, PlanRows, ReportData, ResolvedRow, StageRow
from wmlab.results.assemble import NOT_RUN, Failures, state_of
from wmlab.runtime.store import Store
from wmlab.spec.compose.resolve import PAPER, Resolved, resolve
from wmlab.spec.yaml.node import Node, show_path

SHOWN = ("mdp", "goals", "agent", "extract", "evaluate", "seeds")


def report_data(
    plan: Plan, keys: Mapping[str, Key], store: Store, results: Mapping[str, Any], failures: Failures
) -> ReportData:
    """Everything for one report."""
    return ReportData(
        results=results,
        resolved=tuple(resolved_rows(plan.resolved)),
        plan=plan_rows(plan, keys, store, failures),
        maps=tuple(maps(plan, keys, store)),
        planes=tuple(planes(plan, keys, store)),
        sheets=tuple(sheets(plan, keys, store)),
    )


def resolved_rows(resolved: Resolved) -> Iterator[ResolvedRow]:
    """Every setting with its source, and what the paper's own profile has in its place."""
    paper = resolved if resolved.profile == PAPER and not resolved.sets else resolve(resolved.document, PAPER)
    theirs = {path: node.value for path, node in leaves(paper)}
    ours = dict(leaves(resolved))
    for path, node in ours.items():
        changed = path not in theirs or theirs[path] != node.value
        yield ResolvedRow(path, node.value, str(node.source), changed, theirs.get(path))
    for path in [path for path in theirs if path not in ours]:
        yield ResolvedRow(path, None, f"profile {resolved.profile}", True, theirs[path])


def leaves(resolved: Resolved) -> Iterator[tuple[str, Node]]:
    sections = resolved.base.sections | resolved.sections
    for name in SHOWN:
        if name in sections:
            yield from walk_leaves(sections[name], (name,))
    sweep = resolved.sections.get("sweep")
    if sweep is not None and isinstance(sweep.value, dict):
        for axis, node in sweep.value.items():
            yield f"sweep.{axis}", Node(str(node.plain()), node.source)


def walk_leaves(node: Node, path: tuple[str | int, ...]) -> Iterator[tuple[str, Node]]:
    """The values of a section; lists of plain values stand on one line."""
    if isinstance(node.value, dict) and node.value:
        for key, item in node.value.items():
            yield from walk_leaves(item, (*path, key))
    elif isinstance(node.value, list) and any(isinstance(item.value, dict) for item in node.value):
        for i, item in enumerate(node.value):
            yield from walk_leaves(item, (*path, i))
    else:
        yield show_path(path), Node(node.plain(), node.source)


def plan_rows(plan: Plan, keys: Mapping[str, Key], store: Store, failures: Failures) -> PlanRows:
    """Each stage with what became of it, whichever run did it."""
    rows = []
    for stage_id in plan.graph:
        stage, key = plan.stage(stage_id), keys[stage_id]
        done = store.has(key)
        state = "done" if done else state_of(failures.get(stage_id, NOT_RUN))
        rows.append(
            StageRow(stage.label, stage.kind, state, store.manifest(key).get("seconds") if done else None, key.hash)
        )
    edges = Counter((plan.stage(source).kind, plan.stage(target).kind) for source, target in plan.graph.edges)
    return PlanRows(tuple(rows), tuple(KindEdge(*pair, count) for pair, count in edges.items()))
