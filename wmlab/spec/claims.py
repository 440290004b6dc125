"""Claims, relations and report requests against what a spec makes: metrics, axes, labels, steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wmlab import expressions
from wmlab.errors import SpecError, one_of, suggest
from wmlab.spec.axes import Axis
from wmlab.spec.metrics import compared, made_across, made_at
from wmlab.spec.node import Node, show_path
from wmlab.spec.resolve import Point, Resolved

TESTS = ("at_most", "at_least", "equals", "between")
STEPS = ("final", "first", "all")


class Study:
    """What the claims of a spec may speak of."""

    def __init__(self, resolved: Resolved):
        self.axes: dict[str, Axis] = {axis.name: axis for axis in resolved.axes}
        self.points = resolved.points
        self.across = made_across(resolved.data)
        here = compared(resolved.data)
        self.made = [None if made is None else made | here for made in map(made_at, (p.data for p in resolved.points))]
        self.known = None if any(made is None for made in self.made) else set().union(*self.made, self.across)

    def axes_of(self, metric: str) -> dict[str, Axis]:
        return {} if metric in self.across else self.axes

    def matching(self, where: Mapping[str, Any]) -> Iterator[tuple[int, Point]]:
        for i, point in enumerate(self.points):
            if all(axis not in where or chosen(where[axis], label) for axis, label in point.where.items()):
                yield i, point


def chosen(wanted: Any, label: Any) -> bool:
    return wanted == "all" or label in (wanted if isinstance(wanted, list) else [wanted])


def claim_errors(resolved: Resolved, study: Study) -> Iterator[SpecError]:
    claims = resolved.sections.get("claims")
    for name, claim in claims.value.items() if claims is not None and isinstance(claims.value, dict) else ():
        data, path = claim.plain(), ("claims", name)
        yield from metric_errors(claim, "metric", path, study)
        yield from where_errors(claim, data, path, study, whole=True)
        yield from statistic_errors(claim, data, path, study)
        tests = [test for test in TESTS if test in data]
        if len(tests) > 1:
            yield SpecError(claim.source, show_path(path), f"says {one_of(tests).replace(' or ', ' and ')}; keep one")
        if data["within"] and "equals" not in data:
            yield SpecError(claim.value["within"].source, show_path([*path, "within"]), "within goes with equals")
        for test in tests:
            for bound in claim.value[test].value if test == "between" else [claim.value[test]]:
                yield from bound_errors(bound, data, (*path, test), study)


def metric_errors(node: Node, key: str, path: tuple[str, ...], study: Study) -> Iterator[SpecError]:
    metric = node.at([key])
    if metric is None or study.known is None or metric.value in study.known:
        return
    hint = suggest(str(metric.value), study.known) or f"it makes: {', '.join(sorted(study.known))}"
    yield SpecError(metric.source, show_path([*path, key]), f"this spec never makes '{metric.value}'", hint)


def where_errors(
    node: Node, data: dict[str, Any], path: tuple[str, ...], study: Study, whole: bool
) -> Iterator[SpecError]:
    """Axes and labels that are not there and, where the whole point is to be named, axes that are not named."""
    metric, where = data.get("metric", ""), data.get("where", {})
    axes = study.axes_of(metric)
    place = node.at(["where"]) or node
    here = show_path([*path, "where"])
    for axis, wanted in where.items():
        source = place.at([axis]).source if place.at([axis]) else place.source
        if axis == "step":
            if wanted not in STEPS and not isinstance(wanted, int):
                yield SpecError(
                    source, f"{here}.step", f"expected {one_of(STEPS)} or the number of a checkpoint, not '{wanted}'"
                )
        elif axis not in axes:
            known = f"its axes: {', '.join(axes)}" if axes else "it has no axes"
            yield SpecError(
                place.keys.get(axis, source),
                f"{here}.{axis}",
                f"{metric or 'this spec'} has no axis '{axis}'",
                suggest(axis, axes) or known,
            )
        else:
            yield from label_errors(axes[axis], wanted, source, f"{here}.{axis}")
    for name, axis in axes.items():
        if whole and name not in where:
            labels = ", ".join(str(label) for label in axis.labels)
            message = f"{metric} has {len(axis.labels)} values ({name} = {labels}); say {name}: {axis.labels[-1]}, a list, or all"
            yield SpecError(place.source, here, message)


def label_errors(axis: Axis, wanted: Any, source: Any, path: str) -> Iterator[SpecError]:
    for label in wanted if isinstance(wanted, list) else [wanted]:
        if label != "all" and axis.index(label) is None:
            labels = [str(known) for known in axis.labels]
            hint = suggest(str(label), labels)
            yield SpecError(source, path, f"the axis has no label '{label}' (it has {', '.join(labels)})", hint)


def statistic_errors(node: Node, data: dict[str, Any], path: tuple[str, ...], study: Study) -> Iterator[SpecError]:
    statistic, metric = data.get("statistic"), str(data.get("metric"))
    place = node.at(["statistic"]) or node
    if statistic in ("ci_low", "ci_high") and metric not in study.across:
        yield SpecError(
            place.source, show_path([*path, "statistic"]), f"{statistic} is of a relate.* metric with a bootstrap"
        )
    if statistic == "each_seed" and metric in study.across:
        yield SpecError(
            place.source, show_path([*path, "statistic"]), "a relation is over all seeds; there is none for each"
        )
    if study.known is None or metric not in study.known or metric in study.across:
        return
    lacking = [point for i, point in study.matching(data.get("where", {})) if metric not in (study.made[i] or ())]
    if lacking:
        where = ", ".join(f"{axis} = {label}" for axis, label in lacking[0].where.items())
        yield SpecError(node.source, show_path(path), f"{metric} is not made at {where}")


def bound_errors(bound: Node, claim: dict[str, Any], path: tuple[str, ...], study: Study) -> Iterator[SpecError]:
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
                yield SpecError(bound.source, show_path(path), error.message, error.hint)
                return


def relation_errors(resolved: Resolved, study: Study) -> Iterator[SpecError]:
    relate = resolved.sections.get("relate")
    for name, relation in relate.value.items() if relate is not None and isinstance(relate.value, dict) else ():
        data, path = relation.plain(), ("relate", name)
        for side in ("x", "y"):
            if str(data.get(side)).startswith("axis."):
                yield from unknown_axes(relation, [str(data[side])[5:]], (*path, side), study)
            else:
                yield from metric_errors(relation, side, path, study)
        yield from unknown_axes(relation, data.get("across", ()), (*path, "across"), study)
        yield from where_errors(relation, {"where": data.get("where", {})}, path, study, whole=False)
        for axis in study.axes.values():
            if axis.name not in data.get("across", ()) and axis.name not in data.get("where", {}):
                message = f"says nothing of the axis '{axis.name}'; put it across, or choose a label in where"
                yield SpecError(relation.source, show_path(path), message)


def unknown_axes(node: Node, names: Any, path: tuple[str, ...], study: Study) -> Iterator[SpecError]:
    for name in names:
        if name not in study.axes:
            place = node.at([path[-1]]) or node
            known = f"axes: {', '.join(study.axes)}" if study.axes else "this spec has no axes"
            yield SpecError(
                place.source, show_path(path), f"there is no axis '{name}'", suggest(name, study.axes) or known
            )


def report_errors(resolved: Resolved, study: Study) -> Iterator[SpecError]:
    """Drawings of metrics, axes and goals that are not there."""
    report = resolved.sections.get("report")
    data = report.plain() if report is not None else {}
    for part in ("curves", "heatmaps"):
        for i, metric in enumerate(data.get(part, {}).get("metrics", ())):
            if study.known is not None and metric not in study.known:
                place = report.at([part, "metrics", i])
                yield SpecError(
                    place.source,
                    f"report.{part}.metrics[{i}]",
                    f"this spec never makes '{metric}'",
                    suggest(metric, study.known),
                )
    named = [("curves", "one_line_per"), ("heatmaps", "rows"), ("heatmaps", "columns")]
    for part, key in named:
        if data.get(part, {}).get(key) is not None:
            yield from unknown_axes(report.at([part]), [data[part][key]], ("report", part, key), study)
    goals = {
        goal for point in study.points for goal in point.data.get("evaluate", {}).get("unseen", {}).get("goals", {})
    }
    for i, goal in enumerate(data.get("maps", {}).get("goals", ())):
        if goal not in goals:
            place = report.at(["maps", "goals", i])
            yield SpecError(
                place.source, f"report.maps.goals[{i}]", f"there is no unseen goal '{goal}'", suggest(goal, goals)
            )
    if "maps" in data:
        yield from where_errors(
            report.at(["maps"]), {"where": data["maps"].get("where", {})}, ("report", "maps"), study, whole=False
        )
