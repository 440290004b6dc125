"""train: an agent in a continuous world, as it was at each checkpoint, and where it has been."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.goals.points import points_of
from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.simulators_continuous import continuous_simulator, place_shape
from wmlab.stages.continuous import exact
from wmlab.stages.continuous.records import aims_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    seed, asked = params.get("seed", 0), params["agent"]
    kind = agents[asked["kind"]]
    if not kind.traits.get("learns"):
        return exact.run(params, inputs, context)
    options = kind.build(asked)
    world = world_of(params["mdp"], seed)
    partial = context.partial.load()
    trained = kind.run(
        continuous_simulator(world, starts=options.starts, encoding=options.network.encoding),
        aims_of(params["goals"], world.space, options),
        options,
        seed,
        resume=None if partial is None else partial.arrays,
        save=lambda arrays: context.partial.save(Result(arrays, {})),
        progress=lambda now: context.progress(now.update, now.updates, str(now)),
    )
    arrays = {
        "returns": trained.returns,
        "visits": trained.visits.reshape(place_shape(world.space)),
        **{f"curves/{name}": curve for name, curve in trained.curves.items()},
    }
    for index, weights in enumerate(trained.checkpoints):
        arrays |= {f"checkpoints/{index}/{name}": array for name, array in weights.items()}
    labels = list(points_of(params["goals"]["at"], world.space).labels)
    data = {"goals": labels, "steps": trained.steps.tolist(), "agent": asked, "asked": params["goals"]}
    return Result(arrays, data)
