"""Claims against what a spec makes: metrics, axes, labels, steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from wmlab import expressions
from wmlab.errors import SpecError, one_of, suggest
from wmlab.sections.spec import TESTS
from wmlab.spec.check.claim_parts import bound_part_errors, part_errors
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.check.claim_statistics import statistic_errors
from wmlab.spec.check.metrics import maker_of, makers
from wmlab.spec.compose.axes import Axis
from wmlab.spec.compose.resolve import Resolved
from wmlab.spec.compose.values import mentions, wrong_expression
from wmlab.spec.yaml.node import Node, show, show_path

STEPS = ("final", "first", "all")
Path = tuple[str | int, ...]


def claim_errors(resolved: Resolved, scope: ClaimScope, seeds: int | None) -> Iterator[SpecError]:
    """Claims on what this spec never makes, at points that it does not have, or with tests that say nothing.

    `seeds` are how many there are; None where that is in error.
    """
    for name, claim in resolved.sections["claims"].entries.items():
        data, path = claim.plain(), ("claims", name)
        known = scope.known is None or data["metric"] in scope.known
        errors = [
            *metric_errors(claim, "metric", path, scope),
            *part_errors(claim, data, path, scope),
            *where_errors(claim, data, path, scope, whole=known),
            *statistic_errors(claim, data, path, scope, seeds),
            *made_errors(claim, data, path, scope),
            *difference_errors(claim, data, path, scope),
            *test_errors(claim, data, path, scope),
        ]
        yield from (of_this_file(error, name, resolved) for error in errors)


def of_this_file(error: SpecError, name: str, resolved: Resolved) -> SpecError:
    """A mistake of a claim that another file wrote, told of the file that inherits it, with the way to be rid of it."""
    leaf, source = resolved.document.leaf, error.source
    extends = leaf.at(["extends"])
    if source.line is None or source.file == leaf.source.file or extends is None:
        return error
    message = f"{error.message}; the claim is inherited from {source.file}:{source.line}"
    cure = f"without it, say claims: {{{name}: null}} here"
    return SpecError(extends.source, error.path, message, f"{error.hint}; {cure}" if error.hint else cure)


def metric_errors(node: Node, key: str, path: Path, scope: ClaimScope) -> Iterator[SpecError]:
    metric = node.at([key])
    if metric is None or scope.known is None or metric.value in scope.known:
        return
    yield SpecError(metric.source, show_path([*path, key]), *never_made(str(metric.value), scope.known))


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


def where_errors(
    node: Node, data: Mapping[str, Any], path: Path, scope: ClaimScope, whole: bool
) -> Iterator[SpecError]:
    """Axes and labels that are not there and, where the whole point is to be named, axes that are not named."""
    metric, where = data.get("metric", ""), data.get("where", {})
    axes = scope.axes_of(metric)
    place = node.near(["where"])
    if place.source.is_default:
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
        if whole and name not in where and name not in data.get("across", ()) and not misspelt:
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


def made_errors(node: Node, data: Mapping[str, Any], path: Path, scope: ClaimScope) -> Iterator[SpecError]:
    """Points at which a metric is not made."""
    metric = str(data.get("metric"))
    if scope.known is None or metric not in scope.known or metric in scope.across:
        return
    lacking = [point for i, point in scope.matching(data.get("where", {})) if metric not in scope.made[i]]
    if lacking:
        where = ", ".join(f"{axis} = {show_label(label)}" for axis, label in lacking[0].where.items())
        yield SpecError(node.source, show_path(path), f"{metric} is not made at {where}")


def difference_errors(node: Node, data: Mapping[str, Any], path: Path, scope: ClaimScope) -> Iterator[SpecError]:
    """Axes that are taken together and are not there, and differences to points that are not there."""
    yield from unknown_axis_errors(node.near(["across"]), data["across"], (*path, "across"), scope)
    difference = node.at(["difference"])
    if difference is None or not isinstance(difference.value, dict):
        return
    to = difference.near(["to"])
    if not to.plain():
        yield SpecError(to.source, show_path([*path, "difference", "to"]), "names no other point; say {axis: label}")
    for name in to.plain():
        here = show_path([*path, "difference", "to", name])
        if name in scope.axes:
            yield from label_errors(scope.axes[name], to.near([name]), here)
        else:
            hint = suggest(name, scope.axes) or (f"axes: {', '.join(scope.axes)}" if scope.axes else "there are none")
            yield SpecError(to.key(name), here, f"there is no axis '{name}'", hint)


def test_errors(claim: Node, data: Mapping[str, Any], path: Path, scope: ClaimScope) -> Iterator[SpecError]:
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
            yield from bound_errors(bound, data, (*path, test), scope)
            if isinstance(bound.value, dict) and (data["across"] or "difference" in data):
                message = "another metric bounds one point, and this claim is of several or of a difference"
                yield SpecError(bound.source, show_path([*path, test]), message, "say a number")
    if "between" in data and all(isinstance(bound, (int, float)) for bound in data["between"]):
        low, high = data["between"]
        if low > high:
            message = f"from {low:g} to {high:g} is empty"
            yield SpecError(claim.near(["between"]).source, show_path([*path, "between"]), message)


def bound_errors(bound: Node, claim: Mapping[str, Any], path: Path, scope: ClaimScope) -> Iterator[SpecError]:
    """A bound is a number, an expression of the point's names, or another metric."""
    if isinstance(bound.value, dict):
        data = {"metric": claim.get("metric"), "by": claim.get("by"), **bound.plain()}
        yield from metric_errors(bound, "metric", path, scope)
        yield from bound_part_errors(bound, data, claim, path, scope)
        yield from where_errors(bound, data, path, scope, whole=False)
        for key in ("times", "plus"):
            yield from expression_errors(bound.near([key]), claim, (*path, key), scope)
    else:
        yield from expression_errors(bound, claim, path, scope)


def expression_errors(bound: Node, claim: Mapping[str, Any], path: Path, scope: ClaimScope) -> Iterator[SpecError]:
    """An expression that cannot be worked out at a point that the claim speaks of."""
    if not isinstance(bound.value, str):
        return
    for _, point in scope.matching(claim.get("where", {})):
        try:
            expressions.constant(bound.value, point.names)
        except expressions.ExpressionError as error:
            let = point.let.entries if point.let is not None else {}
            if not mentions(bound.value, let.keys() - point.names.keys()):  # else told of the name itself
                yield wrong_expression(bound, error, path)
            return


def unknown_axis_errors(place: Node, names: Iterable[str], path: Path, scope: ClaimScope) -> Iterator[SpecError]:
    for name in names:
        if name not in scope.axes:
            known = f"axes: {', '.join(scope.axes)}" if scope.axes else "this spec has no axes"
            message = f"there is no axis '{name}'"
            yield SpecError(place.source, show_path(path), message, suggest(name, scope.axes) or known)
