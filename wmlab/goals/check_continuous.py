"""What can be wrong with goals on named variables: training goals and unseen ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.goals.conditions import inside
from wmlab.goals.points import Path, Points, check_widths, points_of
from wmlab.goals.select import SelectionError
from wmlab.randomness import generator
from wmlab.registry import Finding, Scope
from wmlab.spaces.continuous import ContinuousSpace

REWARDS = ("indicator", "gaussian")
STARTS = 4096  # states that an avoided region is tried on


def check_continuous_goals(goals: Mapping[str, Any], scope: Scope) -> Iterator[Finding]:
    """Findings with paths below `goals`, in a continuous world."""
    space = scope.space
    assert isinstance(space, ContinuousSpace)
    reward = goals["reward"]
    if reward["kind"] not in REWARDS:
        message = f"a reward of kind {reward['kind']} needs a finite world"
        yield Finding(("reward", "kind"), message, "use indicator or gaussian")
        return
    if goals.get("at") is None:
        yield Finding(("at",), "which goals? name values of variables", f"as in [{{{space.names[0]}: 0}}]")
        return
    try:
        points = points_of(goals["at"], space)
    except SelectionError as error:
        yield from error.findings
        return
    yield from _check_reward(reward, points, space)
    yield from _check_termination(goals, points, space)
    yield from _check_network(scope.experiment.get("agent") or {}, points)


def _check_reward(reward: Mapping[str, Any], points: Points, space: ContinuousSpace) -> Iterator[Finding]:
    if reward.get("noise") is not None:
        yield Finding(("reward", "noise"), "noise on each goal and state needs a finite world")
    key = "radius" if reward["kind"] == "indicator" else "sigma"
    if reward.get(key) is None:
        yield Finding(("reward", key), "in a continuous world an indicator needs a radius: no state is met exactly")
        return
    yield from check_widths(reward[key], _names(points, space), ("reward", key), key)


def _check_termination(goals: Mapping[str, Any], points: Points, space: ContinuousSpace) -> Iterator[Finding]:
    terminate = goals.get("terminate", "on_arrival")
    if terminate == "on_arrival" and goals["reward"]["kind"] == "gaussian":
        message = "a gaussian goal has no point of arrival"
        yield Finding(("terminate",), message, "say never, or {within: distance}")
    wrong = list(check_ending(terminate))
    yield from wrong
    if wrong or not isinstance(terminate, Mapping):
        return
    if terminate.get("table") is not None:
        yield Finding(("terminate", "table"), "a table of states needs a finite world", "say {within: distance}")
        return
    yield from check_widths(terminate["within"], _names(points, space), ("terminate", "within"), "distance")


def check_ending(terminate: Any) -> Iterator[Finding]:
    """An episode that ends by a distance or by a table ends by one of them."""
    if isinstance(terminate, Mapping) and (terminate.get("within") is None) == (terminate.get("table") is None):
        yield Finding(("terminate",), "say one of within and table")


def _check_network(agent: Mapping[str, Any], points: Points) -> Iterator[Finding]:
    if not points.alike and (agent.get("network") or {}).get("goal") == "input":
        yield Finding(("at",), "goals name different variables, which one input cannot hold", "say network.goal: head")


def check_unseen_goal(goal: Mapping[str, Any], space: ContinuousSpace, path: Path) -> Iterator[Finding]:
    """One unseen goal: its variables exist, its values can be, and there is somewhere to start from."""
    keys = [key for key in ("reach", "reach_any") if goal.get(key) is not None]
    if len(keys) != 1:
        yield Finding(path, "say one of reach and reach_any")
        return
    (key,) = keys
    try:
        points = points_of([goal[key]] if key == "reach" else goal[key], space, (*path, key))
    except SelectionError as error:
        for finding in error.findings:
            place = finding.path
            if key == "reach":  # said without a list, so without a position
                place = (*place[: len(path) + 1], *place[len(path) + 2 :])
            yield Finding(place, finding.message, finding.hint)
        return
    if goal.get("within") is None:
        yield Finding((*path, "within"), "how near counts? a continuous state is never met exactly")
    else:
        yield from check_widths(goal["within"], _names(points, space), (*path, "within"), "distance")
    if goal.get("avoid") is not None:
        yield from _check_region(goal["avoid"], space, (*path, "avoid"))


def _check_region(avoid: Any, space: ContinuousSpace, path: Path) -> Iterator[Finding]:
    if not isinstance(avoid, str):
        hint = f'as in "abs({space.names[-1]}) > 1"'
        yield Finding(path, "in a continuous world a region is a condition on variables", hint)
        return
    try:
        known: dict[str, expressions.Type] = {variable.name: "number" for variable in space.everything}
        wrong = expressions.problems(expressions.parse(avoid), known, "boolean")
    except expressions.ExpressionError as error:
        wrong = (error,)
    for problem in wrong:
        yield Finding(path, str(problem), problem.hint)
    if wrong:
        return
    starts = _starts(space)
    if np.all(np.broadcast_to(inside(avoid, space, starts), starts.shape[:1])):
        yield Finding(path, "every episode starts inside this region, so that each would end at once")


def _starts(space: ContinuousSpace) -> np.ndarray:
    """States where episodes may start [n, d]: the corners of the box, and some inside it."""
    corners = np.array(list(itertools.product(*space.starts)), np.float32)
    return np.concatenate([corners, space.sample(generator(0, "starts to try"), STARTS, "reset")])


def _names(points: Points, space: ContinuousSpace) -> list[str]:
    return [space.everything[column].name for column in points.columns]
