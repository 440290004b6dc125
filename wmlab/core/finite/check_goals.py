"""What can be wrong with a spec's `goals`, beyond what each reward kind checks of its own options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab.core.continuous.check_goals import check_continuous_goals, check_ending, reads_goals
from wmlab.core.continuous.points import check_widths
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.goals import Places, labels_of, state_labels, within
from wmlab.core.finite.places import meets, places
from wmlab.core.finite.select import SelectionError
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import lookup_findings
from wmlab.errors import suggest
from wmlab.expressions.findings import condition_findings
from wmlab.registry import Finding, RewardChoice, Scope
from wmlab.registry.kinds import Path
from wmlab.sections.experiment import Ending, GoalsSection

TRIED = 2_000_000  # goals times states that are looked at; of more, the first goals


def check_goals(goals: GoalsSection, scope: Scope) -> Iterator[Finding]:
    """Findings with paths below `goals`: which states are goals, and whether they can end an episode."""
    space = scope.space
    if isinstance(space, ContinuousSpace):
        yield from check_continuous_goals(goals, scope)
    if not isinstance(space, FiniteSpace):
        return
    kind, at = goals.reward.kind, goals.at
    wanted = kind.traits.at
    if at is None and wanted == "needed":
        yield Finding(("at",), f"a reward of kind {kind.name} needs goals", "say all, a list of states, or {first: n}")
        return
    if at is not None and wanted == "none":
        yield Finding(("at",), f"a reward of kind {kind.name} names its own goals")
        return
    try:
        centres = None if at is None else places(at, space)
    except SelectionError as error:
        yield from error.findings
        return
    wrong = list(_check_points(goals, centres, scope)) if isinstance(centres, np.ndarray) else []
    wrong += [] if centres is None or wrong else _check_widths(goals.reward, centres, space)
    wrong += _check_reach(goals, centres, space) if isinstance(centres, np.ndarray) and not wrong else []
    yield from wrong
    if not wrong:  # goals that cannot be have no names to end an episode by
        yield from _check_termination(goals, scope, centres)


def _check_points(goals: GoalsSection, at: np.ndarray, scope: Scope) -> Iterator[Finding]:
    """Goals that lie between states or stand for several: for rewards that know distances, and some agents."""
    agent, named, reward = scope.agent, scope.space.coordinates, goals.reward
    between = np.flatnonzero(~meets(at, scope.space))
    first = int(between[0]) if len(between) else 0
    path: Path = ("at", first) if isinstance(goals.at, (list, tuple)) and len(goals.at) == len(at) else ("at",)
    lacks = reward.traits.width_option if reward.traits.width(reward.options) is None else None
    if not reward.traits.points:
        where = f", and {state_labels(scope.space, at)[first]} is none" if len(between) else ""
        yield Finding(
            path, f"a reward of kind {reward.name} needs goals at states{where}", "use gaussian, or indicator"
        )
    elif lacks is not None and len(between):
        yield Finding(("reward", lacks), f"goals that lie between states need a {lacks}")
    elif agent is not None and ((named is None and not agent.traits.goals_between_states) or reads_goals(agent)):
        reader = f"an agent of kind {agent.name}" + (" that reads its goal" if reads_goals(agent) else "")
        hint = "say network.goal: head" + (", or name every variable" if named is not None else "")
        yield Finding(path, f"{reader} needs goals at states", hint if reads_goals(agent) else None)


def _check_reach(goals: GoalsSection, at: np.ndarray, space: FiniteSpace) -> Iterator[Finding]:
    """Goals that are listed, and of which no state is near enough to pay. A product may go beyond a world's rim."""
    width = goals.reward.traits.width(goals.reward.options)
    if not isinstance(goals.at, (list, tuple)) or goals.reward.traits.width_option != "radius" or width is None:
        return
    near = within(space, at[: max(1, TRIED // space.size)], width).any(axis=1)
    for position in np.flatnonzero(~near).tolist():
        path: Path = ("at", position) if len(goals.at) == len(at) else ("at",)
        message = f"no state is nearer than the radius to {state_labels(space, at)[position]}, so that it never pays"
        yield Finding(path, message, "make goals.reward.radius wider")


def _check_widths(reward: RewardChoice, at: Places, space: FiniteSpace) -> Iterator[Finding]:
    """Widths for each variable: those that the goals name, and no others."""
    if space.coordinates is None:
        return
    points = np.asarray(at) if np.ndim(at) == 2 else space.embedding()[np.asarray(at)]
    told = np.isfinite(points).any(axis=0)
    names = [name for name, named in zip(space.coordinates.names, told, strict=False) if named]
    option, widths = reward.traits.width_option, reward.traits.width(reward.options)
    if option is not None and isinstance(widths, Mapping):
        yield from check_widths(widths, names, ("reward", option), "width" if option == "sigma" else option)


def _check_termination(goals: GoalsSection, scope: Scope, at: Places | None) -> Iterator[Finding]:
    terminate, space, reward = goals.terminate, scope.space, goals.reward
    wrong = list(check_ending(terminate))
    yield from wrong
    if wrong or terminate == "never":
        return
    names = labels_of(reward, space, at)
    if isinstance(terminate, Ending) and terminate.table is not None:
        yield from _check_table(terminate.table, names, space)
        return
    if isinstance(terminate, Ending) and terminate.when is not None:
        yield from _check_condition(terminate.when, scope, at is not None)
    if at is not None or (isinstance(terminate, Ending) and terminate.within is None):
        if terminate == "on_arrival" and isinstance(at, np.ndarray):
            yield from _check_arrival(reward, at, space)
        return
    nowhere = next((name for name in names if name not in space.names), None)
    if nowhere is not None:
        message = f"goal '{nowhere}' is at no state, so there is nowhere to arrive"
        yield Finding(("terminate",), message, "say never, or name goals by their states")


def _check_arrival(reward: RewardChoice, at: np.ndarray, space: FiniteSpace) -> Iterator[Finding]:
    """Points at which no state is: only a radius says what counts as having arrived there."""
    if reward.traits.width_option == "radius":
        return
    nowhere = np.flatnonzero(~meets(at, space))
    if len(nowhere):
        message = f"goal {state_labels(space, at)[nowhere[0]]} is at no state, so there is nowhere to arrive"
        yield Finding(("terminate",), message, "say never, or {within: distance}")


def _check_condition(when: str, scope: Scope, placed: bool) -> Iterator[Finding]:
    """A condition that ends episodes, on the variables of the states."""
    path, names = ("terminate", "when"), tuple(scope.space.described())
    if not names:
        yield Finding(path, "the states of this world have no variables", "say a table of states")
        return
    wanted = names if scope.space.coordinates is not None else names[:2]  # goals lie on a map's rows and columns
    yield from condition_findings(when, names, scope.let, path, wanted if placed else ())


def _check_table(table: Mapping[str, Any], names: tuple[str, ...], space: FiniteSpace) -> Iterator[Finding]:
    """Goals and states that a table of ends names, and that are not there."""
    path = ("terminate", "table")
    for goal, states in table.items():
        if goal not in names:
            yield Finding((*path, goal), f"no goal '{goal}'", suggest(goal, names), key=True)
        for position, state in enumerate(states):
            yield from lookup_findings(space.states, state, (*path, goal, position))
