"""train: an agent in a continuous world, as it was at each checkpoint, and where it has been."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.simulator import place_shape
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.stages.continuous import exact
from wmlab.stages.continuous.external import read_agent
from wmlab.stages.continuous.records import aims_of, space_of, world_of

if TYPE_CHECKING:
    from wmlab.agents.pqn.record import Trained


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    seed, kind = params.get("seed", 0), agents[params["agent"]["kind"]]
    if not kind.traits.acts:
        return read_agent(params, space_of(params["mdp"]))
    if not kind.traits.learns:
        return exact.run(params, inputs, context)
    options = kind.build(params["agent"])
    world = world_of(params["mdp"], seed)
    goals = aims_of(params["goals"], world.space, options)
    trained = kind.run(options, world, goals, seed, **hooks_of(params, context))
    return store_trained(trained, params, world.space)


def hooks_of(params: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """What a training keeps and tells on its way."""
    partial = context.partial.load()
    return {
        "keep": params.get("keep", "final"),
        "resume": None if partial is None else partial.arrays,
        "save": lambda arrays: context.partial.save(Result(arrays, {})),
        "progress": lambda now: context.progress(now.update, now.updates, str(now)),
    }


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
