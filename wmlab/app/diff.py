"""How two specs, profiles or results differ: in resolved values, in what would run, and in what was measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wmlab.app.difference import (
    ClaimDifference,
    Difference,
    MetricDifference,
    StageDifference,
    ValueDifference,
    claim_rows,
    metric_rows,
)
from wmlab.app.results_diff import Side, read_results, results_difference
from wmlab.app.run_pages import kept_folders, kept_results
from wmlab.errors import UsageError
from wmlab.graph.experiment import ExperimentPlan, Role
from wmlab.graph.study import Study, open_study
from wmlab.graph.why import differences
from wmlab.report.content.settings import leaves
from wmlab.results.assemble import assemble
from wmlab.results.names import point_text
from wmlab.runtime.run_id import may_be_run_id
from wmlab.runtime.run_list import find_run
from wmlab.runtime.store import Store
from wmlab.spec.compose.resolve import Resolved


def compare_two(
    one: str, other: str | None, profiles: Sequence[str] = (), sets: Sequence[str] = (), *, exact: bool = False
) -> Difference:
    """Two specs, two profiles of one, or two results: files, or ids of runs. `exact` counts rounding, too."""
    left, right = open_sides(one, other, profiles, sets)
    return difference_of(left, right, exact)


def difference_of(one: Side | Study, other: Side | Study, exact: bool = False) -> Difference:
    """How two sides differ that were opened together."""
    if isinstance(one, Side) and isinstance(other, Side):
        return results_difference(one, other, exact)
    assert isinstance(one, Study) and isinstance(other, Study)
    return specs_difference(one, other, exact)


def open_sides(
    one: str, other: str | None, profiles: Sequence[str] = (), sets: Sequence[str] = ()
) -> tuple[Side, Side] | tuple[Study, Study]:
    """What is compared: both sides are results, or both are specs."""
    if len(profiles) > 2:
        raise UsageError("say --profile once for both sides, or twice: that of A, then that of B")
    if other is None and len(profiles) < 2 and not sets:
        raise UsageError("compare with what? name B, or two profiles with --profile, or change a value with --set")
    target = one if other is None else other
    kinds = {word.endswith(".json") or may_be_run_id(word) for word in (one, target)}
    if kinds == {True}:
        if profiles or sets:
            raise UsageError("results are as they are; --profile and --set are for specs")
        return side_of(one), side_of(target)
    if len(kinds) == 2:
        raise UsageError("a spec and a results.json, or a run, cannot be compared; name two of the same")
    first, second = (profiles[0], profiles[-1]) if profiles else (None, None)
    return open_study(one, first), open_study(target, second, sets)


def side_of(word: str) -> Side:
    """A results.json, or the id of a run."""
    if word.endswith(".json"):
        results = read_results(word)
        spec = str(results.get("spec"))
        return Side(word, os.path.relpath(word), {spec: results}, {spec: Path(word).parent})
    store = Store()
    run = find_run(store.root, word)
    changed = "".join(f", {change}" for change in run.sets)
    told = f"run {run.id}: {run.spec} ({run.profile}{changed})"
    return Side(told, f"run {run.id}", kept_results(store, run), kept_folders(store, run))


# --- specs -----------------------------------------------------------------------------------------------------


def specs_difference(one: Study, other: Study, exact: bool = False) -> Difference:
    """Resolved values, keys, and metrics where both sides have been run; members of suites pair by name."""
    store = Store()
    values: list[ValueDifference] = []
    stages: list[StageDifference] = []
    metrics: list[MetricDifference] = []
    claims: list[ClaimDifference] = []
    same = 0
    for prefix, ours, theirs in paired(one, other):
        if ours is None or theirs is None:
            here, there = (None if plan is None else plan.resolved.profile for plan in (ours, theirs))
            values.append(ValueDifference(prefix.rstrip(": "), here, there, None, None))
            continue
        values += value_rows(ours.resolved, theirs.resolved, prefix)
        stages += stage_rows(ours, theirs, one, other, prefix)
        left, right = measured(ours, one, store), measured(theirs, other, store)
        changed, equal = metric_rows(left.get("metrics", {}), right.get("metrics", {}), prefix, exact=exact)
        metrics += changed
        claims += claim_rows(left, right, prefix)
        same += equal
    differing = tuple(values), tuple(stages), tuple(metrics)
    return Difference(title(one), title(other), *differing, same, tuple(claims))


def title(study: Study) -> str:
    sets = f", {', '.join(study.resolved.sets)}" if study.resolved.sets else ""
    return f"{study.name} ({study.profile}{sets})"


def paired(one: Study, other: Study) -> Iterator[tuple[str, ExperimentPlan | None, ExperimentPlan | None]]:
    """The experiments of both sides, each with its partner; of suites, by name."""
    if not one.is_suite and not other.is_suite:
        yield "", one.plans[0], other.plans[0]
        return
    ours, theirs = ({plan.resolved.name or "": plan for plan in study.plans} for study in (one, other))
    for name in dict.fromkeys([*ours, *theirs]):
        yield f"{name}: ", ours.get(name), theirs.get(name)


def value_rows(one: Resolved, other: Resolved, prefix: str) -> Iterator[ValueDifference]:
    """Values that differ; defaults that one side alone has follow from another kind, and say nothing more."""
    ours, theirs = dict(leaves(one)), dict(leaves(other))
    for path in dict.fromkeys([*ours, *theirs]):
        left, right = ours.get(path), theirs.get(path)
        alone = left if right is None else right if left is None else None
        if alone is not None and alone.source.is_default:
            continue
        if left is None or right is None or left.value != right.value:
            values: list[Any] = [None if side is None else side.value for side in (left, right)]
            sources = [None if side is None else str(side.source) for side in (left, right)]
            yield ValueDifference(prefix + path, *values, *sources)


def stage_rows(
    one: ExperimentPlan, other: ExperimentPlan, ours: Study, theirs: Study, prefix: str
) -> Iterator[StageDifference]:
    """Stages pair by point, seed and role; one that several points share is one."""
    left, right = (by_place(plan) for plan in (one, other))
    for role in dict.fromkeys(role for _, _, role in (*left, *right)):
        places = [place for place in dict.fromkeys([*left, *right]) if place[2] == role]
        beside = dict.fromkeys((left.get(place), right.get(place)) for place in places)
        pairs = [(ours.keys[a], theirs.keys[b]) for a, b in beside if a is not None and b is not None]
        differ = [(a, b) for a, b in pairs if a.hash != b.hash]
        why = dict.fromkeys(reason for a, b in differ for reason in reasons(a.parts, b.parts))
        met = {key.hash for pair in pairs for key in pair}
        alone = {ours.keys[a].hash for a, b in beside if a is not None and b is None} - met
        others = {theirs.keys[b].hash for a, b in beside if b is not None and a is None} - met
        both = len(alone & others)  # the same stage, which the other side has at another point
        same = len(pairs) - len(differ) + both
        yield StageDifference(f"{prefix}{role}", same, len(differ), len(alone) - both, len(others) - both, tuple(why))


def by_place(plan: ExperimentPlan) -> dict[tuple[str, int, Role], str]:
    runs = ((point_text(run.point.where), run) for run in plan.runs)
    return {(place, run.seed, role): stage for place, run in runs for role, stage in run.stages.items()}


def reasons(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """Why two keys differ: parameters first, then what they build on."""
    if one["kind"] != other["kind"]:
        yield f"{one['kind']} → {other['kind']}"
    yield from (path for path, _, _ in differences(one["params"], other["params"]))
    for name in dict.fromkeys([*one["inputs"], *other["inputs"]]):
        if one["inputs"].get(name) != other["inputs"].get(name):
            yield f"input '{name}'"


def measured(plan: ExperimentPlan, study: Study, store: Store) -> dict[str, Any]:
    """The results of what was run; none where nothing was."""
    if not any(store.has(study.keys[stage]) for run in plan.runs for stage in run.stages.values()):
        return {}
    results: dict[str, Any] = assemble(plan, study.keys, store, {}, {})
    return results
