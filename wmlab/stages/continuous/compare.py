"""compare: the distance between the models of two agents, and how far each is from the truth.

Shapes: N states, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.model_error import Sampled, closeness, model_distance, sample_errors
from wmlab.registry import truth_is_known
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import load_model, space_of, states_of, world_of

DRAWS = 64  # of next states, where a model is stochastic


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = params["compare"]
    space = space_of(params["mdp"])
    world = world_of(params["mdp"], params.get("seed", 0)) if truth_is_known(params["mdp"]) else None
    states = states_of(asked["states"], space, asked["samples"], "states of a comparison")

    def between(reference: Dynamics, other: Dynamics) -> Sampled:
        return sample_errors(space, reference, other, states, jax_key(0, "draws of a comparison"), DRAWS)

    one, other = (load_model(inputs[name], space) for name in ("model", "other"))
    distance, pairs = asked["distance"], {"each other": between(other, one)}
    if world is None:
        return Result({}, {"metrics": {distance: model_distance(pairs["each other"])[distance]}})
    pairs |= {"this model": between(world.dynamics, one), "the other": between(world.dynamics, other)}
    return Result({}, {"metrics": closeness(pairs, distance)})
