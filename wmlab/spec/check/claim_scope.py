"""What the claims of a spec may speak of: its axes, its points, and the metrics that are made at each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from wmlab.sections.forms import EXPERIMENT_KEYS
from wmlab.spec.check.metrics import made_across, made_at
from wmlab.spec.compose.axes import Axis, Identity, Label, identity
from wmlab.spec.compose.points import Point
from wmlab.spec.compose.resolve import Resolved


@dataclass(frozen=True)
class ClaimScope:
    """What there is to speak of; with `sound` false, nothing is known of the metrics."""

    axes: dict[str, Axis]
    points: Sequence[Point]
    made: Sequence[Set[str]]  # at each point
    across: Set[str] = frozenset()  # metrics over several points
    bootstrapped: Set[str] = frozenset()  # relations with an interval
    sound: bool = True
    whole: bool = True  # nothing is wrong with any point, so that its records can be built

    @cached_property
    def known(self) -> set[str] | None:
        return set().union(*self.made, self.across) if self.sound else None

    def axes_of(self, metric: str) -> dict[str, Axis]:
        return {} if metric in self.across else self.axes

    def matching(self, where: Mapping[str, Any]) -> Iterator[tuple[int, Point]]:
        """The points that a `where` chooses, by their positions."""
        chosen = {
            axis: {identity(label) for label in (wanted if isinstance(wanted, list) else [wanted])}
            for axis, wanted in where.items()
            if wanted != "all"
        }
        for i, point in enumerate(self.points):
            if all(axis not in chosen or identity(label) in chosen[axis] for axis, label in point.where.items()):
                yield i, point


def scope_of(resolved: Resolved, unsound: Set[str] = frozenset(), *, whole: bool = True) -> ClaimScope:
    """What one spec has; `unsound` are sections of which nothing can be said, `whole` that no point has a mistake."""
    compare = resolved.compare if "compare" not in unsound else {}
    relate = resolved.relate if "relate" not in unsound else {}
    sound = unsound.isdisjoint(EXPERIMENT_KEYS)
    readable = unsound.isdisjoint(("mdp", "evaluate"))
    made = [made_at(point, compare, whole and sound) if readable else None for point in resolved.points]
    return ClaimScope(
        {axis.name: axis for axis in resolved.axes},
        resolved.points,
        [metrics or set() for metrics in made],
        made_across(relate),
        {name for name, relation in relate.items() if relation.bootstrap is not None},
        None not in made,
        whole and sound,
    )


def suite_scope(members: Mapping[str, Resolved]) -> ClaimScope:
    """What a suite has: the points of all its members, told apart by an axis called `spec`."""
    scopes = {name: scope_of(member) for name, member in members.items()}
    labels: dict[str, dict[Identity, Label]] = {"spec": {identity(name): name for name in scopes}}
    for scope in scopes.values():
        for axis in scope.axes.values():
            labels.setdefault(axis.name, {}).update((identity(label), label) for label in axis.labels)
    points = [
        replace(point, where={"spec": name, **point.where}, names={}, let=None)
        for name, scope in scopes.items()
        for point in scope.points
    ]
    return ClaimScope(
        {name: Axis(name, (), tuple(own.values()), ()) for name, own in labels.items()},
        points,
        [made for scope in scopes.values() for made in scope.made],
        sound=all(scope.sound for scope in scopes.values()),
    )
