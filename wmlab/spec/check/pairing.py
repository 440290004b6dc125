"""Comparisons of models: whether the runs of two specs pair."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import SpecError
from wmlab.registry import mdps
from wmlab.spec.check.metrics import world_of
from wmlab.spec.compose.axes import same
from wmlab.spec.compose.document import read
from wmlab.spec.compose.resolve import PAPER, Point, Resolved, choose_profile, resolve
from wmlab.spec.yaml.node import Node


def pairing_errors(resolved: Resolved, name: str, target: Node) -> Iterator[SpecError]:
    """Points, seeds and variables that have no counterpart in the other spec."""
    document = read(resolved.document.sibling(str(target.value)))
    known = resolved.profile in (PAPER, *document.profiles)
    other = resolve(document, choose_profile(document, resolved.profile if known else None))
    if other.errors or resolved.errors or other.is_suite or not other.points:
        return  # mistakes of the other spec are told where it is checked itself
    path, title = f"compare.{name}.with", other.name
    for axis in other.axes:
        own = next((mine for mine in resolved.axes if mine.name == axis.name), None)
        labels = ", ".join(map(str, axis.labels))
        if own is None:
            message = f"{title} has an axis '{axis.name}' ({labels}) and this spec has none: its runs do not pair"
            yield SpecError(target.source, path, message, f"name a spec without it, or add the axis '{axis.name}' here")
            continue
        lost = [str(label) for label in own.labels if not any(same(label, theirs) for theirs in axis.labels)]
        if lost:
            message = f"{title} has no {axis.name} = {', '.join(lost)} to pair with (it has {labels})"
            yield SpecError(target.source, path, message)
    seeds = [str(seed) for seed in resolved.seeds if seed not in other.seeds]
    if seeds:
        several = "seeds" if len(seeds) > 1 else "seed"
        message = f"{title} has no {several} {', '.join(seeds)} to pair with in profile {other.profile}"
        yield SpecError(target.source, path, message, "give both specs the same seeds")
    yield from _space_errors(resolved.points[0], other.points[0], target, path, str(title))


def _space_errors(mine: Point, theirs: Point, target: Node, path: str, title: str) -> Iterator[SpecError]:
    """Models are compared state by state and action by action."""
    if "extract" not in theirs.sections:
        yield SpecError(target.source, path, f"{title} extracts no model to compare with")
    sorts = [world_of(point.data) for point in (mine, theirs)]
    if None in sorts:
        return
    if sorts[0] != sorts[1]:
        yield SpecError(target.source, path, f"{title} has a {sorts[1]} world, and this spec a {sorts[0]} one")
        return
    spaces = [_space(point) for point in (mine, theirs)]
    if None in spaces:
        return
    noun = "variables" if sorts[0] == "continuous" else "states"
    for what, kind in (("names", noun), ("actions", "actions")):
        ours, other = (getattr(space, what) for space in spaces)
        if ours != other:
            message = f"{title} has other {kind} than this spec: their models cannot be compared"
            shown = ", ".join(str(one) for one in other[:6]) + (", …" if len(other) > 6 else "")
            yield SpecError(target.source, path, message, f"it has {shown}")


def _space(point: Point) -> object | None:
    """The state space of a point, where its world is sound."""
    data = point.data["mdp"]
    try:
        kind = mdps[data["kind"]]
        found: object = kind.traits.space(kind.build(data))
        return found
    except (LookupError, TypeError, ValueError):
        return None  # told where that world is checked
