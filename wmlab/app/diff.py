"""How specs, profiles or results differ: in resolved values, in what would run, and in what was measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wmlab.app.difference import (
    Difference,
    Setting,
    StageDifference,
    claim_rows,
    metric_rows,
    setting_rows,
)
from wmlab.app.results_diff import Side, read_results, results_difference
from wmlab.app.run_pages import kept_folders, kept_results
from wmlab.errors import UsageError
from wmlab.graph.experiment import ExperimentPlan, Role
from wmlab.graph.study import Study, open_study
from wmlab.graph.why import differences
from wmlab.limits import SIDES
from wmlab.report.content.settings import leaves
from wmlab.report.differences import ClaimDifference, MetricDifference, ValueDifference
from wmlab.results.assemble import assemble
from wmlab.results.names import point_text
from wmlab.runtime.run_id import may_be_run_id
from wmlab.runtime.run_list import find_run
from wmlab.runtime.store import Store


def compare(
    words: Sequence[str], profiles: Sequence[str] = (), sets: Sequence[str] = (), *, exact: bool = False
) -> Difference:
    """Specs, profiles of one, or results: files, or ids of runs. `exact` counts rounding, too."""
    return difference_of(open_sides(words, profiles, sets), exact)


def difference_of(sides: Sequence[Side] | Sequence[Study], exact: bool = False) -> Difference:
    """How sides differ that were opened together."""
    results = [side for side in sides if isinstance(side, Side)]
    if results:
        return results_difference(results, exact)
    return specs_difference([side for side in sides if isinstance(side, Study)], exact)


def open_sides(
    words: Sequence[str], profiles: Sequence[str] = (), sets: Sequence[str] = ()
) -> Sequence[Side] | Sequence[Study]:
    """What is compared: all sides are results, or all are specs."""
    if len(words) == 1 and len(profiles) < 2 and not sets:
        raise UsageError("compare with what? name B, or two profiles with --profile, or change a value with --set")
    words = words if len(words) > 1 else [*words] * max(2, len(profiles))
    if len(words) > SIDES:
        raise UsageError(f"at most {SIDES} sides can be compared at once, not {len(words)}")
    if len(profiles) not in (0, 1, len(words)):
        raise UsageError("say --profile once for all sides, or once for each of them, in their order")
    kinds = {word.endswith(".json") or may_be_run_id(word) for word in words}
    if kinds == {True}:
        if profiles or sets:
            raise UsageError("results are as they are; --profile and --set are for specs")
        return [side_of(word) for word in words]
    if len(kinds) == 2:
        raise UsageError("a spec and a results.json, or a run, cannot be compared; name two of the same")
    each: list[str | None] = [*profiles] if len(profiles) > 1 else [next(iter(profiles), None)] * len(words)
    return [
        open_study(word, profile, sets if place else ())
        for place, (word, profile) in enumerate(zip(words, each, strict=True))
    ]


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


def specs_difference(studies: Sequence[Study], exact: bool = False) -> Difference:
    """Resolved values, keys, and metrics where sides have been run; members of suites pair by name."""
    store = Store()
    values: list[ValueDifference] = []
    stages: list[list[StageDifference]] = [[] for _ in studies[1:]]
    metrics: list[MetricDifference] = []
    claims: list[ClaimDifference] = []
    same = 0
    for prefix, plans in beside(studies):
        profiles = tuple(None if plan is None else plan.resolved.profile for plan in plans)
        if None in profiles:
            values.append(ValueDifference(prefix.rstrip(": "), profiles, (None,) * len(plans)))
        values += setting_rows([{} if plan is None else settings(plan) for plan in plans], prefix)
        first = plans[0]
        for rows, plan, study in zip(stages, plans[1:], studies[1:], strict=True):
            if first is not None and plan is not None:
                rows += stage_rows(first, plan, studies[0], study, prefix)
        sides = zip(plans, studies, strict=True)
        found = [{} if plan is None else measured(plan, study, store) for plan, study in sides]
        changed, equal = metric_rows([results.get("metrics", {}) for results in found], prefix, exact=exact)
        metrics += changed
        claims += claim_rows(found, prefix)
        same += equal
    differing = tuple(values), tuple(map(tuple, stages)), tuple(metrics)
    return Difference(tuple(map(title, studies)), *differing, same, tuple(claims))


def title(study: Study) -> str:
    sets = f", {', '.join(study.resolved.sets)}" if study.resolved.sets else ""
    return f"{study.name} ({study.profile}{sets})"


def beside(studies: Sequence[Study]) -> Iterator[tuple[str, list[ExperimentPlan | None]]]:
    """The experiments of all sides, each beside its partners; of suites, by name."""
    if not any(study.is_suite for study in studies):
        yield "", [study.plans[0] for study in studies]
        return
    members = [{plan.resolved.name or "": plan for plan in study.plans} for study in studies]
    for name in dict.fromkeys(name for plans in members for name in plans):
        yield f"{name}: ", [plans.get(name) for plans in members]


def settings(plan: ExperimentPlan) -> dict[str, Setting]:
    """What a spec says, by paths."""
    return {path: (node.value, str(node.source)) for path, node in leaves(plan.resolved)}


def stage_rows(
    one: ExperimentPlan, other: ExperimentPlan, ours: Study, theirs: Study, prefix: str
) -> Iterator[StageDifference]:
    """Stages of two sides pair by point, seed and role; one that several points share is one."""
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
