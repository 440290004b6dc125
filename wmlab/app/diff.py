"""How two specs, profiles or results differ: in resolved values, in what would run, and in what was measured."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wmlab.errors import UsageError, WmlabError
from wmlab.graph.experiment import ExperimentPlan, Role
from wmlab.graph.study import Study, open_study
from wmlab.graph.why import differences
from wmlab.report.content.settings import leaves
from wmlab.results.assemble import assemble
from wmlab.results.names import estimate, point_text
from wmlab.runtime.store import Store
from wmlab.spec.compose.resolve import Resolved


@dataclass(frozen=True)
class ValueDifference:
    """A value that only one side has, or that both have otherwise; None where a side has none."""

    path: str
    one: Any
    other: Any
    one_source: str | None
    other_source: str | None


@dataclass(frozen=True)
class StageDifference:
    """The stages of one role: how many have the same key on both sides, and why others have not."""

    role: str
    same: int
    differ: int
    only_one: int
    only_other: int
    why: tuple[str, ...]


@dataclass(frozen=True)
class MetricDifference:
    """What was measured on both sides, where it is not the same."""

    name: str
    one: float | None
    other: float | None


@dataclass(frozen=True)
class Difference:
    """All that differs between two sides."""

    one: str
    other: str
    values: tuple[ValueDifference, ...] = ()
    stages: tuple[StageDifference, ...] = ()
    metrics: tuple[MetricDifference, ...] = ()
    same_metrics: int = 0

    @property
    def empty(self) -> bool:
        moved = any(row.differ or row.only_one or row.only_other for row in self.stages)
        return not (self.values or self.metrics or moved)


def compare_two(one: str, other: str | None, profiles: Sequence[str] = (), sets: Sequence[str] = ()) -> Difference:
    """Two specs, two profiles of one, or two results.json."""
    if len(profiles) > 2:
        raise UsageError("say --profile once for both sides, or twice: that of A, then that of B")
    if other is None and len(profiles) < 2 and not sets:
        raise UsageError("compare with what? name B, or two profiles with --profile, or change a value with --set")
    target = one if other is None else other
    kinds = {path.endswith(".json") for path in (one, target)}
    if kinds == {True}:
        if profiles or sets:
            raise UsageError("results are as they are; --profile and --set are for specs")
        return results_difference(one, target)
    if len(kinds) == 2:
        raise UsageError("a spec and a results.json cannot be compared; name two of the same")
    first, second = (profiles[0], profiles[-1]) if profiles else (None, None)
    return specs_difference(open_study(one, first), open_study(target, second, sets))


# --- specs -----------------------------------------------------------------------------------------------------


def specs_difference(one: Study, other: Study) -> Difference:
    """Resolved values, keys, and metrics where both sides have been run; members of suites pair by name."""
    store = Store()
    values: list[ValueDifference] = []
    stages: list[StageDifference] = []
    metrics: list[MetricDifference] = []
    same = 0
    for prefix, ours, theirs in paired(one, other):
        if ours is None or theirs is None:
            left, right = (None if plan is None else plan.resolved.profile for plan in (ours, theirs))
            values.append(ValueDifference(prefix.rstrip(": "), left, right, None, None))
            continue
        values += value_rows(ours.resolved, theirs.resolved, prefix)
        stages += stage_rows(ours, theirs, one, other, prefix)
        changed, equal = metric_rows(measured(ours, one, store), measured(theirs, other, store), prefix)
        metrics += changed
        same += equal
    return Difference(title(one), title(other), tuple(values), tuple(stages), tuple(metrics), same)


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


# --- results ---------------------------------------------------------------------------------------------------


def measured(plan: ExperimentPlan, study: Study, store: Store) -> dict[str, Any]:
    """The metrics of what was run; none where nothing was."""
    if not any(store.has(study.keys[stage]) for run in plan.runs for stage in run.stages.values()):
        return {}
    metrics: dict[str, Any] = assemble(plan, study.keys, store, {}, {})["metrics"]
    return metrics


def metric_rows(
    one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = ""
) -> tuple[list[MetricDifference], int]:
    """Metrics of both sides that are not the same, and how many are; a side without any has nothing to compare."""
    if not one or not other:
        return [], 0
    rows = []
    for name in dict.fromkeys([*one, *other]):
        left, right = (estimate(side[name]) if name in side else None for side in (one, other))
        rows.append(MetricDifference(prefix + name, left, right))
    changed = [row for row in rows if row.one != row.other and not (nan(row.one) and nan(row.other))]
    return changed, len(rows) - len(changed)


def nan(value: float | None) -> bool:
    return value is None or value != value


def results_difference(one: str, other: str) -> Difference:
    """Two results.json: what they say of themselves, and their metrics."""
    ours, theirs = (read_results(path) for path in (one, other))
    sources = os.path.relpath(one), os.path.relpath(other)
    values = [
        ValueDifference(path, known(left), known(right), *sources)
        for key in ("spec", "profile", "sets", "seeds", "axes", "provenance")
        for path, left, right in differences(ours.get(key), theirs.get(key), key)
    ]
    changed, same = metric_rows(ours["metrics"], theirs["metrics"])
    return Difference(one, other, tuple(values), (), tuple(changed), same)


def known(value: Any) -> Any:
    """A value of a results.json; None where it has none."""
    return value if isinstance(value, (str, int, float, list, dict)) else None


def read_results(path: str) -> dict[str, Any]:
    try:
        results = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise WmlabError(f"{path}: {error.strerror or error}") from None
    except ValueError:
        results = None
    if not isinstance(results, dict) or not isinstance(results.get("metrics"), dict):
        raise WmlabError(f"{path} is no results.json of an experiment")
    return results
