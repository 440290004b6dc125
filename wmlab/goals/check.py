"""What can be wrong with a spec's `goals`, beyond what each reward kind checks of its own options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab.goals.check_continuous import check_continuous_goals
from wmlab.goals.finite import Places
from wmlab.goals.select import SelectionError, places
from wmlab.registry import Finding, Kind, Scope, rewards
from wmlab.spaces import FiniteSpace
from wmlab.spaces.continuous import ContinuousSpace


def check_goals(goals: Mapping[str, Any], scope: Scope) -> Iterator[Finding]:
    """Findings with paths below `goals`: which states are goals, and whether they can end an episode."""
    space = scope.space
    if isinstance(space, ContinuousSpace):
        yield from check_continuous_goals(goals, scope)
    if not isinstance(space, FiniteSpace):
        return
    kind = rewards[goals["reward"]["kind"]]
    at = goals.get("at")
    wanted = kind.traits["at"]
    if at is None and wanted == "needed":
        yield Finding(("at",), f"a reward of kind {kind.name} needs goals", "say all, a list of states, or {first: n}")
        return
    if at is not None and wanted == "none":
        yield Finding(("at",), f"a reward of kind {kind.name} names its own goals")
        return
    try:
        found = None if at is None else places(at, space)
    except SelectionError as error:
        yield from error.findings
        return
    if isinstance(found, np.ndarray):
        yield from _check_points(goals, kind, scope)
    yield from _check_termination(goals, kind, space, found)


def _check_points(goals: Mapping[str, Any], kind: Kind, scope: Scope) -> Iterator[Finding]:
    """Goals that lie between states: for rewards that know distances, and agents that need not stand on them."""
    agent = scope.experiment.get("agent", {}).get("kind", "exact")
    if not kind.traits.get("points"):
        yield Finding(("at",), f"a reward of kind {kind.name} needs goals at states", "use gaussian, or indicator")
    elif kind.name == "indicator" and goals["reward"].get("radius") is None:
        yield Finding(("reward", "radius"), "goals that lie between states need a radius")
    elif agent != "exact":
        yield Finding(("at",), f"an agent of kind {agent} needs goals at states")


def _check_termination(
    goals: Mapping[str, Any], kind: Kind, space: FiniteSpace, at: Places | None
) -> Iterator[Finding]:
    if goals.get("terminate", "on_arrival") == "never" or at is not None:
        return
    names = kind.traits["labels"](kind.build(goals["reward"]), space, at)
    nowhere = next((name for name in names if name not in space.names), None)
    if nowhere is not None:
        message = f"goal '{nowhere}' is at no state, so there is nowhere to arrive"
        yield Finding(("terminate",), message, "say never, or name goals by their states")


def goal_labels(goals: Mapping[str, Any], space: FiniteSpace) -> tuple[str, ...]:
    """The goals' names, from a spec's `goals`; LookupError where they cannot be told."""
    kind = rewards[goals["reward"]["kind"]]
    at = goals.get("at")
    found = None if at is None else places(at, space)
    return tuple(kind.traits["labels"](kind.build(goals["reward"]), space, found))
