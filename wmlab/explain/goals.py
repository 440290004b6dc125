"""What a spec declares of its goals: how many, which rewards, whether generic, whether they span the states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from wmlab.explain.world import WorldFacts

Ending = Literal["never", "on arrival", "within", "by a condition", "by a table"]


@dataclass(frozen=True)
class GoalFacts:
    """The goals as declared."""

    family: str  # the kind of reward
    count: int | None
    noise: bool  # absolutely continuous noise on rewards
    generic: bool  # rewards have a density, by kind or by noise
    scattered: bool  # goals of a family lie in general position: moved off their places at random
    spans: bool | None  # rank of the rewards is that of the states; None where it cannot be told
    sigma: float | None  # width of a Gaussian, radius of an indicator
    ending: Ending
    rho: float | None  # distance within which an episode ends
    whole: bool  # in a continuum: goals are points of the whole state space, not of some variables


def goal_facts(goals: Mapping[str, Any], world: WorldFacts) -> GoalFacts:
    """From a spec's resolved `goals`."""
    reward, terminate = goals["reward"], goals.get("terminate", "on_arrival")
    noise = bool(reward.get("noise"))
    generic = noise or reward["kind"] == "generic"
    count = count_goals(goals, world)
    width = reward.get("sigma", reward.get("radius"))
    return GoalFacts(
        family=reward["kind"],
        count=count,
        noise=noise,
        generic=generic,
        scattered=bool(reward.get("jitter")),
        spans=spans(reward, goals.get("at"), world, count, generic),
        sigma=float(width) if isinstance(width, (int, float)) else None,
        ending=ending_of(terminate),
        rho=float(terminate["within"]) if ending_of(terminate) == "within" else None,
        whole=is_whole(goals.get("at"), world),
    )


def ending_of(terminate: Any) -> Ending:
    if isinstance(terminate, Mapping):
        if terminate.get("when") is not None:
            return "by a condition"
        return "by a table" if terminate.get("table") is not None else "within"
    return "never" if terminate == "never" else "on arrival"


def count_goals(goals: Mapping[str, Any], world: WorldFacts) -> int | None:
    """|G|; None where it cannot be told."""
    reward, at = goals["reward"], goals.get("at")
    if reward["kind"] == "table":
        return len(reward["of"])
    if at is None and reward["kind"] == "expression":
        return len(reward["pays"]) if isinstance(reward["pays"], Mapping) else 1
    if at is None:
        return reward.get("count")
    if at == "all":
        return world.states
    if isinstance(at, Mapping):
        return int(at["first"]) if "first" in at else prod(points_along(axis) for axis in at.values())
    return len(at)


def points_along(axis: Any) -> int:
    return int(axis["linspace"][2]) if isinstance(axis, Mapping) else len(axis)


def spans(reward: Mapping[str, Any], at: Any, world: WorldFacts, count: int | None, generic: bool) -> bool | None:
    """Whether the rewards, as a matrix over goals and states, have the rank of the states."""
    if world.family != "finite" or world.states is None or count is None:
        return None
    if count < world.states:
        return False
    if generic:
        return True  # almost surely
    if reward["kind"] == "table":
        return bool(np.linalg.matrix_rank(table_of(reward["of"], world)) == world.states)
    if reward["kind"] == "expression":
        return None  # only its values could tell
    at_every_state = count == world.states and are_states(at, world)
    if at_every_state and (reward.get("radius") is None or reward["kind"] == "gaussian"):
        return True  # the identity; and Gaussians at distinct points are independent
    return None


def are_states(at: Any, world: WorldFacts) -> bool:
    """Whether each goal is one state, and neither a point between states nor a set of them."""
    if isinstance(at, Mapping):
        return "first" in at
    variables = getattr(world.space, "coordinates", None)
    return variables is None or not any(isinstance(goal, Mapping) and len(goal) < variables.own for goal in at or ())


def table_of(rows: Mapping[str, Any], world: WorldFacts) -> np.ndarray:
    """Rewards written out, [G, S]."""
    assert world.states is not None
    table = np.zeros((len(rows), world.states))
    for position, row in enumerate(rows.values()):
        if isinstance(row, Mapping):
            table[position, [world.space.index(state) for state in row]] = list(row.values())
        else:
            table[position] = row
    return table


def is_whole(at: Any, world: WorldFacts) -> bool:
    """Whether goals name every state variable."""
    if world.family != "continuous" or world.dimension is None or at is None:
        return world.family != "continuous"
    if isinstance(at, Mapping):
        return len(at) >= world.dimension
    return all(not isinstance(point, Mapping) or len(point) >= world.dimension for point in at)
