"""Where a claim is tested: the points, checkpoints and seeds that its `where` and its statistic choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.results.names import Entries, Part, Where, experiment_of, find, same_label, spans_points, steps_of
from wmlab.sections.spec import Claim


@dataclass(frozen=True)
class ClaimContext:
    """What claims are evaluated against beside the results."""

    points: Sequence[Where]  # every point of the experiment; [{}] where there are no axes
    seeds: Sequence[int]
    evaluate: Callable[[str, Where], float]  # an expression, with the `let` names of a point


@dataclass(frozen=True)
class Case:
    """One case of a claim: a point, a checkpoint, and a seed by its position or None for all together."""

    where: Where
    step: str | int
    seed: int | None
    part: Part | None = None  # of the metric's breakdown; None for the whole
    together: tuple[Where, ...] = ()  # points whose runs are taken together

    @property
    def points(self) -> tuple[Where, ...]:
        return self.together or (self.where,)


def cases_of(claim: Claim, metrics: Entries, context: ClaimContext) -> Iterator[Case]:
    """Every case that a claim speaks of."""
    seeds: Sequence[int | None] = range(len(context.seeds)) if claim.statistic == "each_seed" else (None,)
    for where, together in _groups(claim, context):
        entry = find(metrics, claim.metric, together[0] if together else where)
        for step in _steps(claim, entry):
            parts = parts_of(claim.by, entry)
            yield from (Case(where, step, seed, part, together) for part in parts for seed in seeds)


def _groups(claim: Claim, context: ClaimContext) -> list[tuple[Where, tuple[Where, ...]]]:
    """The points that a claim is tested at, each alone; with `across`, those that are taken together."""
    points = _points(claim, context)
    if not claim.across:
        return [(point, ()) for point in points]
    groups: dict[tuple[tuple[str, Any], ...], list[Where]] = {}
    for point in points:
        shared = tuple((axis, label) for axis, label in point.items() if axis not in claim.across)
        groups.setdefault(shared, []).append(point)
    return [(dict(shared), tuple(group)) for shared, group in groups.items()]


def parts_of(by: Mapping[str, Any], entry: Mapping[str, Any] | None) -> list[Part | None]:
    """The parts of a result's breakdown that a claim's `by` names; the whole where it names none."""
    if not by:
        return [None]
    ((name, wanted),) = by.items()
    if wanted == "all":
        known = ((entry or {}).get("by") or {}).get(name)
        return [(name, label) for label in known] if isinstance(known, Mapping) and known else [(name, "all")]
    return [(name, str(label)) for label in _labels(wanted)]


def _points(claim: Claim, context: ClaimContext) -> list[Where]:
    asked = [(axis, wanted) for axis, wanted in claim.labels.items() if wanted != "all"]

    def matches(point: Where) -> bool:
        known = ((point[axis], wanted) for axis, wanted in asked if axis in point)
        return all(any(same_label(label, one) for one in _labels(wanted)) for label, wanted in known)

    matching = [point for point in context.points if matches(point)]
    if not spans_points(claim.metric):
        return matching
    whole = [experiment_of(point) for point in matching or [{}]]
    return [one for position, one in enumerate(whole) if one not in whole[:position]]


def _steps(claim: Claim, entry: Mapping[str, Any] | None) -> Sequence[str | int]:
    if claim.step != "all":
        return [claim.step]
    # Without checkpoints `all` still makes one case, and that case says that they are missing.
    return range(max(steps_of(entry), 1)) if entry is not None else [0]


def absent(claim: Claim, context: ClaimContext) -> Iterator[str]:
    """What a claim's `where` asks for that the experiment does not have, or leaves open."""
    known: dict[str, list[Any]] = {}
    for point in context.points:
        for axis, label in point.items():
            known.setdefault(axis, []).append(label)
    asked = claim.labels
    for axis, wanted in asked.items():
        if axis not in known:
            yield f"there is no axis '{axis}'"
        elif wanted != "all":
            missing = [one for one in _labels(wanted) if not any(same_label(one, label) for label in known[axis])]
            yield from (f"no point has {axis} = {one}" for one in missing)
    chosen = _points(claim, context)
    for axis in known:
        if (
            axis not in asked
            and axis not in claim.across
            and len({str(point[axis]) for point in chosen if axis in point}) > 1
        ):
            yield f"where does not say which {axis}"


def _labels(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, (list, tuple)) else [wanted]
