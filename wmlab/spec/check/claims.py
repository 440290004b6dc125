"""Claims, relations and report requests against what a spec makes: metrics, axes, labels, steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from wmlab import expressions
from wmlab.errors import SpecError, one_of, suggest
from wmlab.spec.check.metrics import maker_of, makers
from wmlab.spec.check.structure import show
from wmlab.spec.check.study import Study
from wmlab.spec.compose.axes import Axis
from wmlab.spec.compose.resolve import Resolved
from wmlab.spec.compose.settle import DEFAULT, mentions, wrong_expression
from wmlab.spec.yaml.node import Node, show_path

TESTS = ("at_most", "at_least", "equals", "between")
STEPS = ("final", "first", "all")
Path = tuple[str, ...]


def claim_errors(resolved: Resolved, study: Study) -> Iterator[SpecError]:
    """Claims on what this spec never makes, at points that it does not have, or with tests that say nothing."""
    for name, claim in resolved.sections["claims"].entries.items():
        data, path = claim.plain(), ("claims", name)
        yield from metric_errors(claim, "metric", path, study)
        known = study.known is None or data["metric"] in study.known
        yield from where_errors(claim, data, path, study, whole=known)
        yield from statistic_errors(claim, data, path, study)
        yield from test_errors(claim, data, path, study)


def metric_errors(node: Node, key: str, path: Path, study: Study) -> Iterator[SpecError]:
    metric = node.at([key])
    if metric is None or study.known is None or metric.value in study.known:
        return
    yield SpecError(metric.source, show_path([*path, key]), *never_made(str(metric.value), study.known))


def never_made(metric: str, known: Set[str]) -> tuple[str, str | None]:
    """What to say of a metric that a spec does not make: what would make it, or what was meant."""
    maker = maker_of(metric)
    asked = sorted(known & makers().get(maker or "", set()))
    if asked:  # it is there, and makes other metrics of this sort of world
        hint: str | None = f"in this world {maker} makes {', '.join(asked)}"
    else:
        hint = f"{maker} makes it" if maker else suggest(metric, known)
    listed = f"it makes: {', '.join(sorted(known))}" if known else "`evaluate` asks for nothing that it could make"
    return f"this spec never makes '{metric}'", hint or listed


def where_errors(node: Node, data: Mapping[str, Any], path: Path, study: Study, whole: bool) -> Iterator[SpecError]:
    """Axes and labels that are not there and, where the whole point is to be named, axes that are not named."""
    metric, where = data.get("metric", ""), data.get("where", {})
    axes = study.axes_of(metric)
    place = node.near(["where"])
    if place.source == DEFAULT:
        place = node
    here = show_path([*path, "where"])
    for name, wanted in where.items():
        if name == "step":
            yield from step_errors(wanted, place.near([name]), here)
        elif name in axes:
            yield from label_errors(axes[name], place.near([name]), f"{here}.{name}")
        else:
            hint = suggest(name, axes) or (f"its axes: {', '.join(axes)}" if axes else "it has no axes")
            message = f"{metric or 'this spec'} has no axis '{name}'"
            yield SpecError(place.key(name), f"{here}.{name}", message, hint)
    misspelt = any(suggest(name, axes) for name in where if name not in axes)
    for name, axis in axes.items():
        if whole and name not in where and not misspelt:
            yield SpecError(place.latest, here, several_values(metric, axis))


def several_values(metric: str, axis: Axis) -> str:
    labels = [show_label(label) for label in axis.labels]
    count = f"{len(labels)} value{'s' if len(labels) > 1 else ''}"
    example = labels[len(labels) // 2]
    return f"{metric} has {count} ({axis.name} = {', '.join(labels)}); say {axis.name}: {example}, a list, or all"


def step_errors(wanted: Any, place: Node, here: str) -> Iterator[SpecError]:
    if wanted not in STEPS and (not isinstance(wanted, int) or isinstance(wanted, bool)):
        message = f"expected {one_of([*STEPS, 'the number of a checkpoint'])}, not {show(wanted)}"
        yield SpecError(place.source, f"{here}.step", message)


def label_errors(axis: Axis, wanted: Node, path: str) -> Iterator[SpecError]:
    for item in wanted.items if isinstance(wanted.value, list) else [wanted]:
        label = item.plain()
        if label != "all" and axis.index(label) is None:
            labels = [show_label(known) for known in axis.labels]
            hint = suggest(label, labels) if isinstance(label, str) else None
            yield SpecError(item.source, path, f"no label {show(label)} (the axis has {', '.join(labels)})", hint)


def show_label(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def statistic_errors(node: Node, data: Mapping[str, Any], path: Path, study: Study) -> Iterator[SpecError]:
    """Statistics that a metric does not have, and points at which it is not made."""
    statistic, metric = data.get("statistic"), str(data.get("metric"))
    place, here = node.near(["statistic"]), show_path([*path, "statistic"])
    relation = metric.split(".")[1] if metric in study.across else None
    if statistic in ("ci_low", "ci_high") and relation not in study.bootstrapped:
        message = f"{statistic} is the end of a bootstrap's interval, and {metric} has none"
        hint = "give the relation a bootstrap" if metric in study.across else "only relate.* metrics have one"
        yield SpecError(place.source, here, message, hint)
    if statistic == "each_seed" and metric in study.across:
        yield SpecError(place.source, here, "a relation is over all seeds; there is none for each")
    if study.known is None or metric not in study.known or metric in study.across:
        return
    lacking = [point for i, point in study.matching(data.get("where", {})) if metric not in study.made[i]]
    if lacking:
        where = ", ".join(f"{axis} = {show_label(label)}" for axis, label in lacking[0].where.items())
        yield SpecError(node.source, show_path(path), f"{metric} is not made at {where}")


def test_errors(claim: Node, data: Mapping[str, Any], path: Path, study: Study) -> Iterator[SpecError]:
    """A claim has one test, or none; its bounds can be worked out."""
    tests = [test for test in data if test in TESTS]  # in the order in which they were written
    if len(tests) > 1:
        message = f"says {one_of(tests).replace(' or ', ' and ')}; keep one"
        yield SpecError(claim.key(tests[-1]), show_path(path), message)
    if data["within"] and "equals" not in data:
        yield SpecError(claim.near(["within"]).source, show_path([*path, "within"]), "within goes with equals")
    for test in tests:
        node = claim.near([test])
        for bound in node.items if test == "between" else [node]:
            yield from bound_errors(bound, data, (*path, test), study)
    if "between" in data and all(isinstance(bound, (int, float)) for bound in data["between"]):
        low, high = data["between"]
        if low > high:
            message = f"from {low:g} to {high:g} is empty"
            yield SpecError(claim.near(["between"]).source, show_path([*path, "between"]), message)


def bound_errors(bound: Node, claim: Mapping[str, Any], path: Path, study: Study) -> Iterator[SpecError]:
    """A bound is a number, an expression of the point's names, or another metric."""
    if isinstance(bound.value, dict):
        data = {"metric": claim.get("metric"), **bound.plain()}
        yield from metric_errors(bound, "metric", path, study)
        yield from where_errors(bound, data, path, study, whole=False)
    elif isinstance(bound.value, str):
        for _, point in study.matching(claim.get("where", {})):
            try:
                expressions.constant(bound.value, point.names)
            except expressions.ExpressionError as error:
                let = point.let.entries if point.let is not None else {}
                if not mentions(bound.value, let.keys() - point.names.keys()):  # else told of the name itself
                    yield wrong_expression(bound, error, path)
                return


def relation_errors(resolved: Resolved, study: Study) -> Iterator[SpecError]:
    """Relations between metrics or axes that are not there, or that leave an axis open."""
    for name, relation in resolved.sections["relate"].entries.items():
        data, path = relation.plain(), ("relate", name)
        for side in ("x", "y"):
            if data[side].startswith("axis."):
                yield from axis_errors(relation.near([side]), [data[side][5:]], (*path, side), study)
            else:
                yield from metric_errors(relation, side, path, study)
        yield from axis_errors(relation.near(["across"]), data["across"], (*path, "across"), study)
        yield from where_errors(relation, {"where": data["where"]}, path, study, whole=False)
        if any(axis not in study.axes for axis in data["across"]):
            continue
        for axis in study.axes:
            if axis not in data["across"] and axis not in data["where"]:
                message = f"says nothing of the axis '{axis}'; put it across, or choose a label in where"
                yield SpecError(relation.source, show_path(path), message)


def axis_errors(place: Node, names: Iterable[str], path: Path, study: Study) -> Iterator[SpecError]:
    for name in names:
        if name not in study.axes:
            known = f"axes: {', '.join(study.axes)}" if study.axes else "this spec has no axes"
            message = f"there is no axis '{name}'"
            yield SpecError(place.source, show_path(path), message, suggest(name, study.axes) or known)


def report_errors(resolved: Resolved, study: Study) -> Iterator[SpecError]:
    """Drawings of metrics, axes and goals that are not there."""
    report = resolved.sections["report"]
    data = report.plain()
    for part in ("curves", "heatmaps"):
        for i, metric in enumerate(data.get(part, {}).get("metrics", ())):
            if study.known is not None and metric not in study.known:
                source = report.near([part, "metrics", i]).source
                yield SpecError(source, f"report.{part}.metrics[{i}]", *never_made(metric, study.known))
    for part, key in (("curves", "one_line_per"), ("heatmaps", "rows"), ("heatmaps", "columns")):
        if data.get(part, {}).get(key) is not None:
            yield from axis_errors(report.near([part, key]), [data[part][key]], ("report", part, key), study)
    yield from map_errors(report, data.get("maps"), study)


def map_errors(report: Node, maps: Mapping[str, Any] | None, study: Study) -> Iterator[SpecError]:
    if maps is None:
        return
    unseen = [point.data.get("evaluate", {}).get("unseen", {}) for point in study.points if study.sound]
    goals = {goal for asked in unseen for goal in asked.get("goals", {})}
    for i, goal in enumerate(maps.get("goals", ())):
        if study.sound and goal not in goals:
            source = report.near(["maps", "goals", i]).source
            message = f"there is no unseen goal '{goal}'"
            yield SpecError(source, f"report.maps.goals[{i}]", message, suggest(goal, goals))
    yield from where_errors(report.near(["maps"]), {"where": maps["where"]}, ("report", "maps"), study, whole=False)
