"""What a report shows beside the results: the resolved spec, the plan, and maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab.goals.select import states_of
from wmlab.lab.results import NOT_RUN, Failures, state_of
from wmlab.plan.compile import Plan, Run
from wmlab.plan.key import Key
from wmlab.report.data import Cell, GridMap, KindEdge, PlanRows, ReportData, ResolvedRow, StageRow
from wmlab.runtime.store import MissingEntry, Store
from wmlab.spaces import FiniteSpace
from wmlab.spec.meaning import space_of
from wmlab.spec.node import Node, show_path
from wmlab.spec.resolve import PAPER, Resolved, resolve

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


def maps(plan: Plan, keys: Mapping[str, Key], store: Store) -> Iterator[GridMap]:
    """V* over the map with both ways, for each unseen goal that the spec asks to draw, at one point and seed."""
    asked = plan.resolved.data.get("report", {}).get("maps", {})
    run = drawn(plan, asked.get("where", {}))
    if run is None or "unseen" not in run.point.data["evaluate"]:
        return
    space = space_of(run.point.data)
    if not isinstance(space, FiniteSpace) or space.cells is None or space.shape is None:
        return
    cells, shape = space.cells, space.shape
    for name, goal in run.point.data["evaluate"]["unseen"]["goals"].items():
        if name in (asked.get("goals") or (name,)):
            try:
                yield grid_map(name, goal, run, space, cells, shape, keys, store)
            except (KeyError, MissingEntry):  # the failures of the run say why
                continue


def drawn(plan: Plan, where: Mapping[str, Any]) -> Run | None:
    """The run to draw: at the labels asked for, as far as this profile has them, and the last of the rest."""
    labels = {axis.name: axis.labels for axis in plan.resolved.axes}
    wanted = {axis: label for axis, label in where.items() if label in labels.get(axis, ())}
    fitting = [run for run in plan.runs if wanted.items() <= run.point.where.items()]
    first = plan.resolved.seeds[0]
    return next((run for run in reversed(fitting) if run.seed == first), None)


def grid_map(
    name: str,
    goal: Mapping[str, Any],
    run: Run,
    space: FiniteSpace,
    cells: np.ndarray,
    shape: tuple[int, int],
    keys: Mapping[str, Key],
    store: Store,
) -> GridMap:
    oracle, plan = (store.load(keys[run.stages[f"{role} {name}"]]) for role in ("oracle", "plan"))
    targets = [goal["reach"]] if goal.get("reach") is not None else goal["reach_any"]
    free = {tuple(cell) for cell in cells.tolist()}
    rows, columns = shape
    metrics = plan.data["metrics"]
    where = ", ".join(f"{axis} = {label}" for axis, label in run.point.where.items())
    note = f"R* {metrics['r_star']['value']:.4g}, the model's policy {metrics['r_wm']['value']:.4g}"
    return GridMap(
        title=name,
        shape=shape,
        cells=cells,
        walls=tuple((r, c) for r in range(rows) for c in range(columns) if (r, c) not in free),
        values=oracle.arrays["value"],
        target=cells_of([state for said in targets for state in states_of(said, space, ())], cells),
        avoid=cells_of(states_of(goal.get("avoid"), space, ()), cells),
        paths={"optimal": cells_of(oracle.arrays["path"], cells), "model": cells_of(plan.arrays["path"], cells)},
        note=f"{note} ({where})" if where else note,
    )


def cells_of(states: Any, cells: np.ndarray) -> tuple[Cell, ...]:
    return tuple((int(cells[state][0]), int(cells[state][1])) for state in states)
