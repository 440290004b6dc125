"""`wmlab plan`: what a run would do, and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wmlab.cli.common import On, OneSpec, Points, Profile, Seeds, Sets, Trust, changes, headline, hurry
from wmlab.errors import visible

if TYPE_CHECKING:
    from wmlab.cluster.file import Cluster
    from wmlab.cluster.jobs import Job
    from wmlab.graph.study import Study
    from wmlab.graph.why import Reason
    from wmlab.runtime.estimates import CostRange, PlanCost

SHORT_HELP = "Show what a run would do, and why."
PlanFormat = Literal["text", "mermaid", "dot", "json"]


def plan(
    spec: OneSpec,
    profile: Profile = None,
    seeds: Seeds = None,
    sets: Sets = None,
    points: Points = None,
    format: Annotated[PlanFormat, typer.Option(help="How the graph is written.")] = "text",
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Show every value with the place that it comes from.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List every stage.")] = False,
    on: On = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when something would run.")] = False,
    trust: Trust = False,
) -> None:
    """Show what a run would do: the graph of stages, what is cached, what would run and why."""
    hurry()
    from wmlab.cluster.file import open_cluster
    from wmlab.core.container import usable_cores
    from wmlab.graph.chosen import choose_points
    from wmlab.graph.study import open_study
    from wmlab.runtime.estimates import plan_cost
    from wmlab.runtime.store import Store

    cluster = open_cluster(on)
    study, store = choose_points(open_study(spec, profile, changes(sets, seeds)), points), Store()
    study = study if cluster is None else cluster.take(study)
    reasons = study.reasons(store)
    if resolved:
        print(show_resolved(study, format))
    else:
        cost = plan_cost(study.asked, study.keys, store, usable_cores()) if format in ("text", "json") else None
        print(show_plan(study, reasons, format, verbose, cost, cluster))
    if not all(reason.cached for reason in reasons.values()) and (problem := store.problem()):
        print(f"wmlab: {problem}", file=sys.stderr)
    raise typer.Exit(1 if exit_code and not all(reason.cached for reason in reasons.values()) else 0)


def show_plan(
    study: Study,
    reasons: Mapping[str, Reason],
    format: PlanFormat,
    verbose: bool,
    cost: PlanCost | None = None,
    cluster: Cluster | None = None,
) -> str:
    """The plan of a study in one of the formats, with the jobs that it makes on a cluster."""
    from wmlab.cluster.show import job_data, job_lines
    from wmlab.graph import show as shown

    if format == "mermaid":
        return shown.as_mermaid(study.asked, reasons, verbose=verbose).rstrip()
    if format == "dot":
        return shown.as_dot(study.asked, reasons, verbose=verbose).rstrip()
    if format == "json":
        head = {"spec": study.name, "profile": study.profile}
        costs = {"cost": None if cost is None else asdict(cost)}
        jobs = (
            {} if cluster is None else {"on": cluster.engine, "jobs": job_data(jobs_on(cluster, study, reasons, cost))}
        )
        return json.dumps(head | shown.as_json(study.asked, reasons, study.keys) | costs | jobs, indent=1)
    tree = shown.as_text(study.asked, reasons, study.keys, verbose=verbose).rstrip()
    lines = [headline(study), tree, *([] if cost is None else cost_lines(cost))]
    if cluster is not None and not cluster.is_local:
        lines += job_lines(jobs_on(cluster, study, reasons, cost), study.asked, cluster, verbose)
    return "\n".join(lines)


def jobs_on(cluster: Cluster, study: Study, reasons: Mapping[str, Reason], cost: PlanCost | None) -> list[Job]:
    """The jobs of what would run; of this machine none."""
    from wmlab.cluster.jobs import plan_jobs
    from wmlab.stages.memory import KnownMemory

    left = {} if cluster.is_local else {id: None for id, reason in reasons.items() if not reason.cached}
    costs = None if cost is None else cost.stages
    return plan_jobs(study.asked, left, study.chains, cluster, costs, KnownMemory(study.asked))


def cost_lines(cost: PlanCost) -> Iterator[str]:
    """What a run is going to cost, in words, and of what nobody knows."""
    from wmlab.runtime.cache import format_duration, format_size

    workers = "1 worker" if cost.jobs == 1 else f"{cost.jobs} workers"
    if cost.seconds is not None and cost.memory is not None:
        time = span(cost.seconds, lambda seconds: format_duration(max(seconds, 1.0)))
        yield f"cost: about {time} with {workers}, and {span(cost.memory, format_size)} of memory, by what ran before"
    if cost.unknown:
        kinds = ", ".join(kind if count == 1 else f"{kind} × {count}" for kind, count in cost.unknown.items())
        yield f"cost unknown: {kinds}; nothing like it has run here"


def span(cost: CostRange, show: Callable[[float], str]) -> str:
    """A guess with the range that it may lie in."""
    low, middle, high = show(cost.low), show(cost.middle), show(cost.high)
    return middle if low == high else f"{middle} ({low} to {high})"


def show_resolved(study: Study, format: PlanFormat) -> str:
    """Every value of a resolved spec beside the place that it comes from."""
    from wmlab.report.content.settings import resolved_rows

    tables = {plan.resolved.name or "": list(resolved_rows(plan.resolved)) for plan in study.plans}
    if format == "json":
        data = {name: [vars(row) for row in rows] for name, rows in tables.items()}
        return json.dumps(data if study.is_suite else data[study.name], indent=1)
    lines = []
    bodies = {plan.resolved.name or "": plan.resolved.document.body_profile for plan in study.plans}
    for name, rows in tables.items():
        paths = [visible(row.path) for row in rows]
        values = [visible(one_line(row.value)) for row in rows]
        width = max(map(len, paths), default=0)
        room = min(max((len(value) for value in values), default=0), 40)
        lines.append(visible(f"{name}: profile {study.profile}"))
        for row, path, value in zip(rows, paths, values, strict=True):
            body = f"   ({bodies[name]}: {one_line(row.paper_value)})" if row.changed else ""
            lines.append(visible(f"  {path:<{width}}  {value:<{room}}  {row.source}{body}"))
    return "\n".join(lines)


def one_line(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "…"
