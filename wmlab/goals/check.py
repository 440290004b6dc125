"""What can be wrong with a spec's `goals`, beyond what each reward kind checks of its own options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab.errors import suggest
from wmlab.goals.check_continuous import check_continuous_goals, check_ending
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
    wrong = list(_check_points(goals, kind, scope)) if isinstance(found, np.ndarray) else []
    yield from wrong
    if not wrong:  # goals that cannot be have no names to end an episode by
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
    terminate = goals.get("terminate", "on_arrival")
    wrong = list(check_ending(terminate))
    yield from wrong
    if wrong or terminate == "never":
        return
    names = kind.traits["labels"](kind.build(goals["reward"]), space, at)
    if isinstance(terminate, Mapping) and terminate.get("table") is not None:
        yield from _check_table(terminate["table"], names, space)
        return
    if at is not None:
        return
    nowhere = next((name for name in names if name not in space.names), None)
    if nowhere is not None:
        message = f"goal '{nowhere}' is at no state, so there is nowhere to arrive"
        yield Finding(("terminate",), message, "say never, or name goals by their states")


def _check_table(table: Mapping[str, Any], names: tuple[str, ...], space: FiniteSpace) -> Iterator[Finding]:
    """Goals and states that a table of ends names, and that are not there."""
    path = ("terminate", "table")
    for goal, states in table.items():
        if goal not in names:
            yield Finding((*path, goal), f"no goal '{goal}'", suggest(goal, names), key=True)
        for position, state in enumerate(states):
            try:
                space.index(state)
            except LookupError as error:
                yield Finding((*path, goal, position), str(error.args[0]))


def goal_labels(goals: Mapping[str, Any], space: FiniteSpace) -> tuple[str, ...]:
    """The goals' names, from a spec's `goals`; LookupError where they cannot be told."""
    kind = rewards[goals["reward"]["kind"]]
    at = goals.get("at")
    found = None if at is None else places(at, space)
    return tuple(kind.traits["labels"](kind.build(goals["reward"]), space, found))
