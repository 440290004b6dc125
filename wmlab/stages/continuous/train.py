"""train: an agent in a continuous world, as it was at each checkpoint, and where it has been."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.simulator import place_shape
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.stages.continuous.external import read_agent
from wmlab.stages.continuous.records import aims_of, space_of, world_of
from wmlab.stages.hooks import hooks_of

if TYPE_CHECKING:
    from wmlab.agents.pqn.record import Trained


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    seed, kind = params.get("seed", 0), agents[params["agent"]["kind"]]
    if not kind.traits.acts:
        return read_agent(params, space_of(params["mdp"]))
    if not kind.traits.learns:
        return exact_values(params)
    options = kind.build(params["agent"])
    world = world_of(params["mdp"], seed)
    goals = aims_of(params["goals"], world.space, params["agent"])
    trained = kind.run(options, world, goals, seed, keep=params.get("keep", "final"), **hooks_of(context))
    return store_trained(trained, params, world.space)


def exact_values(params: Mapping[str, Any]) -> Result:
    """Values that are computed instead of learnt: the same for every seed, and of no checkpoint but the last."""
    kind, seed = agents[params["agent"]["kind"]], params.get("seed", 0)
    world = world_of(params["mdp"], seed)
    grid, q = kind.run(kind.build(params["agent"]), world, continuous_goals(params["goals"], world.space), seed)
    labels = list(goal_points(params["goals"], world.space).labels)
    data = {"goals": labels, "steps": [], "agent": params["agent"], "asked": params["goals"]}
    return Result({"q": q}, data | {"grid": dataclasses.asdict(grid)})


def store_trained(trained: Trained, params: Mapping[str, Any], space: ContinuousSpace) -> Result:
    """A trained agent's weights, returns, curves and visits, with the goals and options that it carries along."""
    arrays = {
        "returns": trained.returns,
        "visits": trained.visits.reshape(place_shape(space)),
        **{f"curves/{name}": curve for name, curve in trained.curves.items()},
    }
    # The last stands under its own number, also where it is the only one whose weights were kept.
    first = len(trained.steps) - len(trained.checkpoints)
    for index, weights in enumerate(trained.checkpoints, first):
        arrays |= {f"checkpoints/{index}/{name}": array for name, array in weights.items()}
    labels = list(goal_points(params["goals"], space).labels)
    data = {"goals": labels, "steps": trained.steps.tolist(), "agent": params["agent"], "asked": params["goals"]}
    return Result(arrays, data)
