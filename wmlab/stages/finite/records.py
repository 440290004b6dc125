"""Between stored arrays and the records of finite worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.finite.goals import Goals, make_goals
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.select import places, states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.errors import StageError
from wmlab.planning.finite.values import Tasks
from wmlab.registry import Kind, WorldTraits, mdps
from wmlab.runtime.result import Result
from wmlab.stages.finite.kernel_files import read_rows

VIEW = ("q", "policy", "reward", "continues", "discount")


def world_of(mdp: Mapping[str, Any], seed: int) -> FiniteWorld:
    """A world from its options; one whose kernel is in a file gets the rows of that file."""
    kind, options = _built(mdp)
    world: FiniteWorld
    if mdp.get("file") is None:
        world = kind.run(options, seed)
        return world
    rows = read_rows(mdp["file"], mdp.get("sha256"), kind.traits.space(options))
    assert kind.traits.of_rows is not None  # a kind with a `file` reads its rows
    try:
        world = kind.traits.of_rows(options, rows)
    except StageError as error:
        raise StageError(f"{mdp['file']}: {error}") from None
    return world


def space_of(mdp: Mapping[str, Any]) -> FiniteSpace:
    """The states and actions of a world, and nothing of what the actions do."""
    kind, options = _built(mdp)
    space: FiniteSpace = kind.traits.space(options)
    return space


def _built(mdp: Mapping[str, Any]) -> tuple[Kind[WorldTraits], Any]:
    """The kind of a world and its options; the hash of a file is the plan's, and none of them."""
    kind = mdps[mdp["kind"]]
    return kind, kind.build({name: value for name, value in mdp.items() if name != "sha256"})


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
        for target in ([goal["reach"]] if goal.get("reach") is not None else goal["reach_any"])
        for state in states_of(target, space, ("reach",))
    ]
    avoid = states_of(goal.get("avoid"), space, ("avoid",))
    return Tasks.of(space.size, [reach], [avoid], params["discount"])


def declared_starts(starts: str | int, mdp: Mapping[str, Any]) -> np.ndarray | None:
    """Where evaluation starts, as a distribution [S], where no world is known: a spec says it, and no more."""
    kind, options = _built(mdp)
    if starts in ("all", "uniform"):
        return None
    assert kind.traits.reset is not None
    return np.asarray(kind.traits.reset(options))
