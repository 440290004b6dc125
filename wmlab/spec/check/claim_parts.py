"""Parts of metrics that claims speak of: whether a metric has such a breakdown, and the breakdown such a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wmlab.errors import SpecError, one_of, suggest
from wmlab.registry.metrics import find
from wmlab.sections.experiment import ExperimentSpec
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.yaml.node import Node, show_path

MODELS = ("this model", "the other")  # of a comparison
FIXED = {"from the truth": MODELS, "model": MODELS, "starts": ("least", "greatest")}


def part_errors(
    node: Node, data: Mapping[str, Any], path: Sequence[str | int], scope: ClaimScope
) -> Iterator[SpecError]:
    """Mistakes in the `by` of a claim or of a bound, whose metric is one that this spec makes."""
    by, metric = data.get("by") or {}, str(data.get("metric"))
    if not by or scope.known is None or metric not in scope.known:
        return
    (name,) = by
    written, here = node.near(["by"]), show_path([*path, "by", name])
    points = [point for _, point in scope.matching(data.get("where") or {})]
    if not scope.whole or not points:
        return  # told of the point itself
    declared = find(metric)
    known = declared[1].by if declared is not None else ()
    each = {one: labels for one in known if (labels := labels_of(one, points[0].experiment)) != ()}
    place = written.key(name) if written.at([name]) is not None else node.source
    if name not in each:
        hint = suggest(name, each) or (f"it is broken down by {one_of([*each])}" if each else "it has no parts")
        if written.at([name]) is None:  # a bound's, which is the claim's own
            hint += "; for the whole of it say by: {}"
        yield SpecError(place, here, f"{metric} is not broken down by {name}", hint)
        return
    if (data.get("where") or {}).get("step", "final") != "final":
        yield SpecError(place, here, "parts are known at the end alone, not at checkpoints", "leave out step")
    if written.at([name]) is not None:  # else it is the claim's own, and told there
        yield from label_errors(written.near([name]), metric, each[name], here)


def label_errors(wanted: Node, metric: str, labels: Sequence[str] | None, here: str) -> Iterator[SpecError]:
    """Labels that a breakdown does not have; None where only a run tells which it has."""
    for item in wanted.items if isinstance(wanted.value, list) else [wanted]:
        label = item.plain()
        if label != "all" and labels is not None and label not in labels:
            hint = suggest(str(label), labels) or f"say {one_of(labels)}"
            yield SpecError(item.source, here, f"{metric} has no part '{label}'", hint)


def bound_part_errors(
    bound: Node, data: Mapping[str, Any], claim: Mapping[str, Any], path: Sequence[str | int], scope: ClaimScope
) -> Iterator[SpecError]:
    """The same of a bound, whose part is the claim's own unless it says another; a bound is one number."""
    where = {**(claim.get("where") or {}), **(data.get("where") or {})}
    if bound.at(["by"]) is not None and any(one == "all" or isinstance(one, list) for one in data["by"].values()):
        message = "a bound is one number: say one label"
        yield SpecError(bound.near(["by"]).source, show_path([*path, "by"]), message)
        return
    yield from part_errors(bound, {**data, "where": where}, path, scope)


def labels_of(breakdown: str, experiment: ExperimentSpec) -> tuple[str, ...] | None:
    """The labels of a breakdown in an experiment; none of them where it has no meaning there, None where only a run
    tells."""
    space = experiment.mdp.space
    if breakdown == "dimension":
        return tuple(variable.name for variable in getattr(space, "everything", ()))
    if breakdown == "action":
        return () if getattr(space, "in_box", False) else tuple(space.actions)
    if breakdown == "action region":
        return tuple(region.name for region in getattr(space, "regions", ()))
    return FIXED.get(breakdown)
