"""Everything that the page of one experiment shows, from the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from wmlab.core.finite.space import FiniteSpace
from wmlab.graph.experiment import ExperimentPlan
from wmlab.graph.key import Key
from wmlab.report.content.continuous import every_error, planes, sheets
from wmlab.report.content.explore import explorer
from wmlab.report.content.finite import maps
from wmlab.report.content.kernel import kernels
from wmlab.report.content.learning import learning
from wmlab.report.content.settings import place_from_spec, resolved_rows
from wmlab.report.content.stored_run import StoredRun
from wmlab.report.content.worst import worst_run
from wmlab.report.data import KindEdge, PlanRows, ReportData, StageRow
from wmlab.results.assemble import NOT_RUN, Failures, state_of
from wmlab.runtime.store import Store


def report_data(
    plan: ExperimentPlan, keys: Mapping[str, Key], store: Store, results: Mapping[str, Any], failures: Failures
) -> ReportData:
    """Everything for one report."""
    return ReportData(
        results=results,
        resolved=tuple(resolved_rows(plan.resolved, place_from_spec(plan.resolved))),
        plan=plan_rows(plan, keys, store, failures),
        learning=tuple(learning(plan, keys, store)),
        **drawings(plan, keys, store, results),
    )


def drawings(plan: ExperimentPlan, keys: Mapping[str, Key], store: Store, results: Mapping[str, Any]) -> dict[str, Any]:
    """Maps of a finite world, or planes and sheets of a continuous one, for the run that is drawn."""
    if plan.drawn is None:
        return {}
    run, wrong = StoredRun(plan.drawn, keys, store), worst_run(plan, plan.drawn, keys, store, results)
    asked = plan.resolved.report.maps
    goals = [goal for goal in run.goals if not asked or not asked.goals or goal in asked.goals]
    if isinstance(run.space, FiniteSpace):
        return {"maps": tuple(maps(run, wrong, goals)), "kernels": tuple(kernels(run)), "explorer": explorer(run)}
    shown = list(sheets(run, run.space, plan.resolved.compare))
    if asked and asked.errors == "every_point":
        first = plan.resolved.seeds[0]
        runs = [StoredRun(each, keys, store) for each in plan.runs if each.seed == first]
        shown += every_error(runs, plan.resolved.axes)
    drawn = tuple(planes(run, wrong, run.space, goals))
    return {"planes": drawn, "sheets": tuple(shown), "explorer": explorer(run)}


def plan_rows(plan: ExperimentPlan, keys: Mapping[str, Key], store: Store, failures: Failures) -> PlanRows:
    """Each stage with what became of it, whichever run did it."""
    rows = []
    for stage_id, stage in plan.stages.items():
        key = keys[stage_id]
        done = store.has(key)
        state = "done" if done else state_of(failures.get(stage_id, NOT_RUN))
        rows.append(StageRow(stage.label, stage.kind, state, store.seconds(key) if done else None, key.hash))
    order = {stage_id: position for position, stage_id in enumerate(plan.stages)}
    links = {(order[source], order[user]) for user, stage in plan.stages.items() for source in stage.inputs.values()}
    edges = Counter((rows[source].kind, rows[user].kind) for source, user in sorted(links))
    return PlanRows(tuple(rows), tuple(KindEdge(*pair, count) for pair, count in edges.items()))
