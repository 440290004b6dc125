"""compare: the distance between the models of two agents, and how far each is from the truth.

Shapes: N states, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.dynamics import Dynamics
from wmlab.evaluate.continuous import Sampled, model_distance, restricted, sample_errors
from wmlab.randomness import jax_key
from wmlab.runtime.result import Result
from wmlab.stages.continuous.dynamics import dynamics_of
from wmlab.stages.continuous.records import load_model, states_of, world_of

DRAWS = 64  # of next states, where a model is stochastic


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = params["compare"]
    world = world_of(params["mdp"], params.get("seed", 0))
    states = states_of(asked["states"], world.space, asked["samples"], "states of a comparison")

    def between(reference: Dynamics, other: Dynamics) -> Sampled:
        return sample_errors(world.space, reference, other, states, jax_key(0, "draws of a comparison"), DRAWS)

    one, other = (dynamics_of(load_model(inputs[name], world.space)) for name in ("model", "other"))
    pairs = {
        "each other": between(other, one),
        "this model and the truth": between(world.dynamics, one),
        "the other and the truth": between(world.dynamics, other),
    }
    inside = np.all(pairs["this model and the truth"].interior, axis=0)  # [N] no action leads to a bound
    distance = asked["distance"]
    found = model_distance(pairs["each other"])[distance]
    by = found["by"] | {
        "between": {name: model_distance(pair)[distance]["value"] for name, pair in pairs.items()},
        "between, bounds left out": {name: _inside(pair, inside, distance) for name, pair in pairs.items()},
    }
    return Result({}, {"metrics": {distance: {"value": found["value"], "by": by}}})


def _inside(pair: Sampled, inside: Any, distance: str) -> float | None:
    """A distance over the states bool [N] from which no action leads to a bound."""
    value: float | None = model_distance(restricted(pair, inside))[distance]["value"] if inside.any() else None
    return value
