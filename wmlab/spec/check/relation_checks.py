"""Relations against what a spec makes: metrics or axes that are there, and no axis left open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wmlab.errors import SpecError, one_of
from wmlab.sections.spec import CORRELATIONS
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.check.claims import Path, metric_errors, unknown_axis_errors, where_errors
from wmlab.spec.check.drawable import why_no_curve
from wmlab.spec.compose.resolve import Resolved
from wmlab.spec.yaml.node import Node, show_path


def relation_errors(resolved: Resolved, scope: ClaimScope) -> Iterator[SpecError]:
    """Relations between metrics or axes that are not there, or that leave an axis open."""
    for name, relation in resolved.sections["relate"].entries.items():
        data, path = relation.plain(), ("relate", name)
        yield from form_errors(resolved, relation, data, path, scope)
        for side in sides(data):
            if data[side].startswith("axis."):
                yield from unknown_axis_errors(relation.near([side]), [data[side][5:]], (*path, side), scope)
            else:
                yield from metric_errors(relation, side, path, scope)
        yield from unknown_axis_errors(relation.near(["across"]), data["across"], (*path, "across"), scope)
        yield from where_errors(relation, {"where": data["where"]}, path, scope, whole=False)
        if any(axis not in scope.axes for axis in data["across"]):
            continue
        for axis in scope.axes:
            if axis not in data["across"] and axis not in data["where"]:
                message = f"says nothing of the axis '{axis}'; put it across, or choose a label in where"
                yield SpecError(relation.source, show_path(path), message)


def form_errors(
    resolved: Resolved, relation: Node, data: Mapping[str, Any], path: Path, scope: ClaimScope
) -> Iterator[SpecError]:
    """What a relation over training, or one with something held fixed, cannot be."""
    for i, statistic in enumerate(data["statistics"]):
        if data.get("given") and statistic not in CORRELATIONS:
            message = f"{statistic} has no partial form, as given asks for; {one_of(CORRELATIONS)} has"
            yield SpecError(relation.near(["statistics", i]).source, show_path([*path, "statistics", i]), message)
    if data.get("over") != "training":
        return
    if "step" in data["where"]:
        message = "over: training takes all checkpoints of a point together"
        yield SpecError(relation.near(["where", "step"]).source, show_path([*path, "where", "step"]), message)
    for side in sides(data):
        metric, place = data[side], (relation.near([side]).source, show_path([*path, side]))
        if metric.startswith("axis."):
            yield SpecError(*place, f"{metric} stays the same over the training of a point", "say over: points")
        elif scope.known is not None and metric in scope.known:
            reason = why_no_curve(metric, resolved, scope)
            if reason is not None:
                yield SpecError(*place, *reason)


def sides(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys of a relation that name what it reads."""
    return ("x", "y", "given") if data.get("given") else ("x", "y")
