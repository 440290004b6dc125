"""measure: the model and the values against the truth, and the fit, which needs none.

Shapes: N states, A actions, G goals, d variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.world import ContinuousWorld
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.model_error import Sampled, error_map, model_error, sample_errors
from wmlab.registry import truth_is_known
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import Agent, load_agent, load_model, space_of, states_of, world_of
from wmlab.stages.continuous.values import agent_return, fit, td_error, value_errors

Metrics = dict[str, dict[str, Any]]
ACROSS = 2  # a map of errors is over the first two variables


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked, space = params["evaluate"], space_of(params["mdp"])
    world = world_of(params["mdp"], params.get("seed", 0)) if truth_is_known(params["mdp"]) else None
    agent = load_agent(inputs["agent"], space)
    stored = inputs.get("model")
    metrics = of_agent(asked, agent, world, -1) if world is not None else {}
    arrays: dict[str, np.ndarray] = {}
    if stored is None:
        return Result(arrays, {"metrics": metrics})
    metrics |= of_fit(asked, agent, world, stored, -1)
    if "model_error" in asked and world is not None:
        sampled = sampled_errors(asked["model_error"], load_model(stored, space), world)
        metrics |= model_error(sampled)
        arrays |= drawn(sampled)
    return Result(arrays, {"metrics": metrics, "across": list(space.names[:ACROSS])})


def of_agent(asked: Mapping[str, Any], agent: Agent, world: ContinuousWorld, checkpoint: int) -> Metrics:
    """What is asked of the agent itself: its return and its values."""
    metrics: Metrics = {}
    if "return" in asked:
        metrics |= agent_return(agent, world, asked["return"]["starts"], checkpoint)
    if "value_error" in asked:
        metrics |= value_errors(agent, world, asked["value_error"], checkpoint)
    return metrics


def of_fit(
    asked: Mapping[str, Any], agent: Agent, world: ContinuousWorld | None, model: Result, checkpoint: int
) -> Metrics:
    """How well a stored model explains the values, and how well the truth itself does, at the same states."""
    if "fit" not in asked:
        return {}
    td = {} if world is None else td_error(agent, world, model.arrays["held_out"], checkpoint)
    return fit(model.arrays["residual"], agent.labels) | td


def sampled_errors(asked: Mapping[str, Any], model: Dynamics, world: ContinuousWorld) -> Sampled:
    """Truth beside model at the states that a spec asks for."""
    purpose = "states of the model's error"
    states = states_of(asked["states"], world.space, asked["samples"], purpose)
    key = jax_key(0, "draws of the model's error")
    return sample_errors(world.space, world.dynamics, model, states, key, asked["draws"])


def drawn(sampled: Sampled) -> dict[str, np.ndarray]:
    """Where the model is wrong, over the first two variables; a world of one variable has no such map."""
    if sampled.space.size < ACROSS:
        return {}
    first, second = sampled.space.names[:ACROSS]
    return {f"map/{name}": array for name, array in error_map(sampled, (first, second)).items()}
