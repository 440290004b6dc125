"""results.json: what the stages of a study gave, named, averaged, and held against its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wmlab import expressions
from wmlab.graph.experiment import ExperimentPlan, Role, Run
from wmlab.graph.key import Key, installed, this_device
from wmlab.graph.stage import digest
from wmlab.graph.study import Study
from wmlab.registry.metrics import measurements, prefix
from wmlab.results.cases import ClaimContext
from wmlab.results.certainty import certainty
from wmlab.results.claims import evaluate_claims
from wmlab.results.collect import collect
from wmlab.results.findings import findings
from wmlab.results.identified import marked
from wmlab.results.names import name_of, point_text
from wmlab.results.point_facts import PointFacts
from wmlab.results.relate import relate, related_points
from wmlab.results.stored import flaw
from wmlab.results.unfinished import NOT_RUN, left_open, missing_runs
from wmlab.runtime.codec import Damaged
from wmlab.runtime.events import Failure
from wmlab.runtime.store import MissingEntry, Store
from wmlab.spec.check.metrics import promised
from wmlab.spec.compose.axes import Axis
from wmlab.spec.compose.resolve import Resolved

Results = dict[str, Any]
Failures = Mapping[str, Failure | str]  # stage id: why it gave nothing


def assemble(
    plan: ExperimentPlan, keys: Mapping[str, Key], store: Store, failures: Failures, times: Mapping[str, Any]
) -> Results:
    """The results of one experiment, from the store alone."""
    resolved = plan.resolved
    loaded = Loaded(resolved, keys, store, dict(failures))
    count = len(resolved.seeds)
    by_point = [plan.runs[i * count : (i + 1) * count] for i in range(len(resolved.points))]
    where = [point.where for point in resolved.points]
    metrics = collect(where, resolved.seeds, [[loaded.metrics(run) for run in runs] for runs in by_point])
    taken = [max((loaded.steps(run) for run in runs), key=len, default=[]) for runs in by_point]
    steps = steps_of_all(taken)
    if not steps:
        metrics = {name: with_steps(entry, where, taken) for name, entry in metrics.items()}
    metrics |= relate(resolved.relate, metrics, where, numbers(resolved))
    context = ClaimContext(where, resolved.seeds, lambda text, at: evaluate_at(resolved, text, at))
    facts = [loaded.facts(*each) for each in zip(by_point, means_at(where, metrics), strict=True)]
    claims = marked(evaluate_claims(resolved.claims, metrics, context), facts)
    failed = failure_rows(plan, keys, loaded.failures)
    missing = missing_runs(failed, [(run.point.where, run.seed) for run in plan.runs])
    return {
        "spec": resolved.name,
        "title": resolved.title,
        "profile": resolved.profile,
        "body": resolved.document.body_profile,
        "sets": list(resolved.sets),
        "seeds": list(resolved.seeds),
        "axes": {axis.name: {"paths": list(axis.paths), "values": list(axis.labels)} for axis in resolved.axes},
        "steps": steps,
        "metrics": metrics,
        "claims": left_open(claims, missing, [row["where"] for row in failed if row["state"] != "not run"]),
        "assumptions": resolved.data["assumptions"],
        "report": resolved.data["report"],
        "findings": findings(facts),
        "certainty": certainty(facts),
        "failures": failed,
        **({"missing": missing} if missing else {}),
        **({"relations": relations(resolved)} if resolved.report.scatters is not None else {}),
        "provenance": provenance(resolved, times),
    }


def relations(resolved: Resolved) -> dict[str, dict[str, Any]]:
    """What each relation relates and over which points, for those who draw it."""
    where = [point.where for point in resolved.points]
    return {
        name: {"x": one.x, "y": one.y, "points": list(related_points(name, one, where))}
        for name, one in resolved.relate.items()
    }


def steps_of_all(taken: Sequence[list[int]]) -> list[int]:
    """The environment steps at each checkpoint, where all points that have some have the same; else none."""
    different = {tuple(steps) for steps in taken if steps}
    return list(different.pop()) if len(different) == 1 else []


def with_steps(entry: dict[str, Any], where: Sequence[Mapping[str, Any]], taken: Sequence[list[int]]) -> dict[str, Any]:
    """A result with the steps of its own point, where it has a curve and they are known."""
    steps = next((steps for point, steps in zip(where, taken, strict=True) if point == entry["where"]), [])
    return {**entry, "steps": steps} if entry.get("curve") and steps else entry


class Loaded:
    """The stages' metrics, read once; what is missing or damaged counts as failed."""

    def __init__(self, resolved: Resolved, keys: Mapping[str, Key], store: Store, failures: dict[str, Failure | str]):
        self.resolved, self.keys, self.store, self.failures = resolved, keys, store, failures
        self.measuring = {measurement.stage for measurement in measurements()}
        self._read: dict[str, dict[str, Any]] = {}

    def metrics(self, run: Run) -> dict[str, Any] | None:
        """All metrics of one point and seed by their full names, None for each that a stage should have given."""
        metrics: dict[str, Any] = {}
        for role, stage in run.stages.items():
            if role.kind in self.measuring:
                given = self.read(stage).get("metrics")
                if given is None:
                    metrics |= dict.fromkeys(self.promised(run, role))
                else:
                    metrics |= {prefix(role.kind, role.name) + metric: value for metric, value in given.items()}
        for name, curve in self.read(run.stage("track")).get("curves", {}).items():
            metrics[name] = {"value": curve[-1], **(metrics.get(name) or {}), "curve": curve}
        return metrics or None

    def promised(self, run: Run, role: Role) -> list[str]:
        """The metrics that a stage would have given; means over goals are not a stage's own."""
        made = promised(run.point.experiment, self.resolved.compare)
        return sorted(one.name for one in made if (one.stage, one.per) == (role.kind, role.name))

    def facts(self, runs: Sequence[Run], means: Mapping[str, float | None]) -> PointFacts:
        """What findings are made of, for the runs of one point and the means of its metrics over them."""
        point, seeds = runs[0].point, [run.seed for run in runs]
        unseen = point.experiment.evaluate.unseen
        goals = unseen.goals if unseen is not None else ()
        plans, guarantees = (
            {goal: [self.read(run.stage(kind, goal)) for run in runs] for goal in goals}
            for kind in ("plan", "guarantee")
        )
        designs = [self.read(run.stage("design")) for run in runs]
        labels = [self.read(run.stage("train")).get("goals") for run in runs]
        count = next((len(each) for each in labels if each), None)
        measured = [self.measured(run) for run in runs]
        identified = [self.read(run.stage("identify")) for run in runs]
        return PointFacts(
            *(point.where, point.experiment, seeds, means, measured, plans, guarantees, designs, count, identified)
        )

    def measured(self, run: Run) -> Mapping[str, Any]:
        """What was measured; where nothing was, what the extraction says of itself, as far as it is still there."""
        if run.stage("measure") is not None:
            return self.read(run.stage("measure"))
        extract = run.stage("extract")
        if extract is None or extract in self.failures:
            return {}
        try:
            return {"extraction": self.store.load_data(self.keys[extract]).get("notes")}
        except MissingEntry:
            return {}

    def steps(self, run: Run) -> list[int]:
        """The environment steps at each checkpoint of a training."""
        return list(self.read(run.stage("train")).get("steps", ()))

    def read(self, stage: str | None) -> dict[str, Any]:
        if stage is None or stage in self.failures:
            return {}
        if stage not in self._read:
            try:
                data = self.store.load_data(self.keys[stage])
            except MissingEntry:
                self.failures[stage] = NOT_RUN
                return {}
            with self.store.verified(self.keys[stage]):
                if problem := flaw(data):
                    raise Damaged(problem)
            self._read[stage] = data
        return self._read[stage]


def means_at(where: Sequence[Mapping[str, Any]], metrics: Mapping[str, Any]) -> list[dict[str, float | None]]:
    """The mean over seeds of each metric, at each point."""
    at: dict[str, dict[str, float | None]] = {point_text(one): {} for one in where}
    for entry in metrics.values():
        at.get(point_text(entry["where"]), {})[entry["metric"]] = entry.get("mean")
    return list(at.values())


def numbers(resolved: Resolved) -> dict[str, dict[Any, float]]:
    """The numeric value of each label of an axis, for relations against `axis.<name>`."""
    return {axis.name: values for axis in resolved.axes if (values := axis_numbers(resolved, axis))}


def axis_numbers(resolved: Resolved, axis: Axis) -> dict[Any, float]:
    """Labels that are words get the value that they stand for, where it is a number at every point."""
    values: dict[Any, float] = {}
    for label, overlays in zip(axis.labels, axis.overlays, strict=True):
        value = overlays[0][1].value if axis.paths else None
        if isinstance(value, str):
            point = next(point for point in resolved.points if point.where[axis.name] == label)
            try:
                value = expressions.constant(value, point.names)
            except expressions.ExpressionError:
                return {}
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return {}
        values[label] = float(value)
    return values


def evaluate_at(resolved: Resolved, text: str, where: Mapping[str, Any]) -> float:
    """An expression in a claim's bound, with the names that `let` has at a point; without one, in the spec itself."""
    point = next(point for point in resolved.points if point.where == dict(where)) if where else resolved.base
    return float(expressions.constant(text, point.names))


def state_of(failure: Failure | str) -> str:
    """failed, skipped or not run."""
    if isinstance(failure, Failure):
        return "failed"
    return "not run" if failure == NOT_RUN else "skipped"


def failure_rows(plan: ExperimentPlan, keys: Mapping[str, Key], failures: Failures) -> list[dict[str, Any]]:
    """Each failed stage once, with the point and seed that it was met at first."""
    rows: dict[str, dict[str, Any]] = {}
    for run in plan.runs:
        for stage in run.stages.values():
            if stage in failures and stage not in rows:
                failure = failures[stage]
                rows[stage] = {
                    "label": plan.stage(stage).label,
                    "key": keys[stage].hash,
                    "where": run.point.where,
                    "seed": run.seed,
                    "state": state_of(failure),
                    "error": str(failure),
                    "traceback": failure.traceback if isinstance(failure, Failure) else "",
                }
    return list(rows.values())


def provenance(resolved: Resolved, times: Mapping[str, Any]) -> dict[str, Any]:
    asked = {"sections": resolved.data, "points": [point.data for point in resolved.points]}
    return {
        "wmlab": installed("wmlab"),
        "jax": installed("jax"),
        "device": this_device(),
        "spec_sha256": digest(asked),
        **times,
    }


def suite_metrics(members: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The metrics of several experiments by name, their spec an axis called `spec`."""
    metrics: dict[str, dict[str, Any]] = {}
    for member in members:
        for entry in member["metrics"].values():
            where = {"spec": member["spec"], **entry["where"]}
            metrics[name_of(where, entry["metric"])] = {**entry, "where": where}
    return metrics


def suite_results(study: Study, members: list[Results], times: Mapping[str, Any]) -> Results:
    """A suite's own claims, over the results of its members: there they are an axis called `spec`."""
    metrics = suite_metrics(members)
    points = [dict(point) for point in dict.fromkeys(tuple(entry["where"].items()) for entry in metrics.values())]
    seeds: list[int] = max((member["seeds"] for member in members), key=len, default=[])
    context = ClaimContext(points, seeds, lambda text, where: float(expressions.constant(text, {})))
    missing = [
        {**row, "where": {"spec": one["spec"], **row["where"]}} for one in members for row in one.get("missing", ())
    ]
    failed = [
        {"spec": one["spec"], **row["where"]} for one in members for row in one["failures"] if row["state"] != "not run"
    ]
    return {
        "spec": study.name,
        "title": study.resolved.title,
        "profile": study.profile,
        "suite": [member["spec"] for member in members],
        "claims": left_open(evaluate_claims(study.resolved.claims, metrics, context), missing, failed),
        "report": study.resolved.data["report"],
        "provenance": provenance(study.resolved, times),
    }
