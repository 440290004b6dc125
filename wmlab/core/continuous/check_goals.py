"""What can be wrong with goals on named variables: training goals and unseen ones."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wmlab.core.continuous.points import Path, Points, check_widths, goal_points, points_of
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.select import SelectionError
from wmlab.core.randomness import generator
from wmlab.errors import one_of, suggest
from wmlab.expressions.findings import condition_findings
from wmlab.registry import AgentTraits, Finding, KindChoice, Scope, rewards
from wmlab.sections.experiment import Ending, GoalsSection, UnseenGoal

NEED_HEADS = "say network.goal: head"
STARTS = 4096  # states that an avoided region is tried on


def check_continuous_goals(goals: GoalsSection, scope: Scope) -> Iterator[Finding]:
    """Findings with paths below `goals`, in a continuous world."""
    space = scope.space
    assert isinstance(space, ContinuousSpace)
    kind, options = goals.reward.kind, goals.reward.options
    if kind.traits.in_continuum is None:
        message = f"a reward of kind {kind.name} needs a finite world"
        others = [name for name in rewards.own if rewards[name].traits.in_continuum is not None]
        yield Finding(("reward", "kind"), message, f"use {one_of(others)}")
        return
    if goals.at is None and kind.traits.at == "needed":
        yield Finding(("at",), "which goals? name values of variables", f"as in [{{{space.names[0]}: 0}}]")
        return
    try:
        points = goal_points(goals, space)
    except SelectionError as error:
        yield from error.findings
        return
    if kind.traits.is_noisy(options):
        yield Finding(("reward", "noise"), "noise on each goal and state needs a finite world")
    for finding in kind.traits.check_in_continuum(options, points, scope):
        yield dataclasses.replace(finding, path=("reward", *finding.path))
    yield from _check_termination(goals, points, scope)
    yield from _check_network(scope, points)


def _check_termination(goals: GoalsSection, points: Points, scope: Scope) -> Iterator[Finding]:
    terminate, space, reward = goals.terminate, scope.space, goals.reward
    payment = reward.traits.in_continuum
    if terminate == "on_arrival" and payment is not None and not payment(reward.options).arrives:
        hint = "say never, or {within: distance}" if points.columns else "say never, or {when: condition}"
        yield Finding(("terminate",), f"a reward of kind {reward.name} has no point of arrival", hint)
    wrong = list(check_ending(terminate))
    yield from wrong
    if wrong or not isinstance(terminate, Ending):
        return
    if terminate.table is not None:
        yield Finding(("terminate", "table"), "a table of states needs a finite world", "say {within: distance}")
        return
    if terminate.within is not None and not points.columns:
        yield Finding(("terminate", "within"), "these goals are at no point to be near to", "say {when: condition}")
    elif terminate.within is not None:
        yield from check_widths(terminate.within, points.names(space), ("terminate", "within"), "distance")
    if terminate.when is not None:
        names, path = [each.name for each in space.everything], ("terminate", "when")
        yield from condition_findings(terminate.when, names, scope.let, path, points.common(space))


def check_ending(terminate: str | Ending) -> Iterator[Finding]:
    """An episode ends near the goal, by a condition, by either of them, or by a table."""
    if not isinstance(terminate, Ending):
        return
    given = [key for key in ("within", "when", "table") if getattr(terminate, key) is not None]
    if not given or ("table" in given and len(given) > 1):
        yield Finding(("terminate",), "say within, when or both, or a table")


def reads_goals(agent: KindChoice[AgentTraits] | None) -> bool:
    """Whether a network has its goal as input, so that a goal must be something to read."""
    return agent is not None and agent.get("network", "goal") == "input"


def _check_network(scope: Scope, points: Points) -> Iterator[Finding]:
    if not reads_goals(scope.agent):
        return
    if not points.columns:
        yield Finding(("reward", "pays"), "these goals have no values that a network could read", NEED_HEADS)
    elif not points.alike:
        yield Finding(("at",), "goals name different variables, which one input cannot hold", NEED_HEADS)


def check_unseen_goal(
    goal: UnseenGoal, space: ContinuousSpace, path: Path, let: Sequence[str] = ()
) -> Iterator[Finding]:
    """One unseen goal: its variables exist, its values can be, and there is somewhere to start from."""
    keys = [key for key in ("reach", "reach_any") if getattr(goal, key) is not None]
    if len(keys) != 1:
        yield Finding(path, "say one of reach and reach_any")
        return
    (key,) = keys
    try:
        points = points_of(goal.targets, space, (*path, key))
    except SelectionError as error:
        for finding in error.findings:
            place = finding.path
            if key == "reach":  # said without a list, so without a position
                place = (*place[: len(path) + 1], *place[len(path) + 2 :])
            yield dataclasses.replace(finding, path=place)
        return
    if goal.within is None:
        yield Finding((*path, "within"), "how near counts? a continuous state is never met exactly")
    else:
        yield from check_widths(goal.within, points.names(space), (*path, "within"), "distance")
    names = [variable.name for variable in space.everything]
    for position, name in enumerate(goal.watch):
        if name not in names:
            hint = suggest(name, names) or f"say {one_of(names)}"
            yield Finding((*path, "watch", position), f"no variable '{name}'", hint)
    if goal.avoid is not None:
        yield from _check_region(goal.avoid, space, (*path, "avoid"), let)


def _check_region(avoid: Any, space: ContinuousSpace, path: Path, let: Sequence[str]) -> Iterator[Finding]:
    if not isinstance(avoid, str):
        hint = f'as in "abs({space.names[-1]}) > 1"'
        yield Finding(path, "in a continuous world a region is a condition on variables", hint)
        return
    names = [variable.name for variable in space.everything]
    wrong = list(condition_findings(avoid, names, let, path))
    yield from wrong
    if wrong:
        return
    # The corners of the box where episodes start, and some states inside it, [n, d].
    corners = np.array(list(itertools.product(*space.starts)), np.float32)
    starts = np.concatenate([corners, space.sample(generator(0, "starts to try"), STARTS, "reset")])
    if np.all(np.broadcast_to(space.holds(avoid, starts), starts.shape[:1])):
        yield Finding(path, "every episode starts inside this region, so that each would end at once")
