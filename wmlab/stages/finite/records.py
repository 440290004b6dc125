"""Between stored arrays and the records of finite worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.goals.finite import Goals, make_goals
from wmlab.goals.select import places, states_of
from wmlab.kernels import Kernel
from wmlab.mdps.world import FiniteWorld
from wmlab.planning.finite import Tasks
from wmlab.registry import mdps
from wmlab.runtime.result import Result
from wmlab.spaces import FiniteSpace
from wmlab.views import FiniteView

VIEW = ("q", "policy", "reward", "continues", "discount")


def world_of(mdp: Mapping[str, Any], seed: int) -> FiniteWorld:
    kind = mdps[mdp["kind"]]
    world: FiniteWorld = kind.run(kind.build(mdp), seed)
    return world


def space_of(mdp: Mapping[str, Any]) -> FiniteSpace:
    """The states and actions of a world, and nothing of what the actions do."""
    kind = mdps[mdp["kind"]]
    space: FiniteSpace = kind.traits["space"](kind.build(mdp))
    return space


def goals_of(goals: Mapping[str, Any], space: FiniteSpace, seed: int) -> Goals:
    at = places(goals["at"], space) if goals.get("at") is not None else None
    return make_goals(goals["reward"], space, at, goals["terminate"], seed)


def store_view(view: FiniteView, data: Mapping[str, Any]) -> Result:
    return Result({name: getattr(view, name) for name in VIEW}, data)


def load_view(agent: Result, space: FiniteSpace, support: np.ndarray | None = None) -> FiniteView:
    values: dict[str, np.ndarray] = {name: agent.arrays[name] for name in VIEW}
    return FiniteView(**values, space=space, support=support)


def row_labels(agent: Result, view: FiniteView) -> list[str] | None:
    """A name for each row; None where several discounts or policies share a goal."""
    goals = list(agent.data["goals"])
    return goals if len(goals) == view.rows else None


def store_kernel(kernel: Kernel, data: Mapping[str, Any], **arrays: np.ndarray) -> Result:
    return Result({"successors": kernel.successors, "probabilities": kernel.probabilities, **arrays}, data)


def load_kernel(model: Result) -> Kernel:
    return Kernel(model.arrays["successors"], model.arrays["probabilities"])


def task_of(params: Mapping[str, Any], space: FiniteSpace) -> Tasks:
    """One unseen goal: what to reach and what to avoid."""
    goal = params["goal"]
    reach = [
        state
        for said in ([goal["reach"]] if goal.get("reach") is not None else goal["reach_any"])
        for state in states_of(said, space, ("reach",))
    ]
    avoid = states_of(goal.get("avoid"), space, ("avoid",))
    return Tasks.of(space.size, [reach], [avoid], params["discount"])


def starts_of(starts: str | int, world: FiniteWorld) -> np.ndarray | None:
    """Where evaluation starts, as a distribution [S]. It is exact, so that a count of resets is the reset itself."""
    return None if starts in ("all", "uniform") else world.reset
