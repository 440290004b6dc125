"""A trained network in a continuous world, as an extraction may see it.

Shapes: N states, d variables, G goals, A actions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.values import Values
from wmlab.core.continuous.encodings import encode, encoded_width
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ContinuousView, Frame, arrive_of_goals, sample_box
from wmlab.core.simulator import GoalSet, Simulator


def agent_view(
    weights: Mapping[str, np.ndarray | Array],
    space: ContinuousSpace,
    goals: GoalSet,
    options: Options,
    states: Literal["uniform", "reset"] = "uniform",
) -> ContinuousView:
    """The view of a PQN agent. Of the world it knows the space alone: its ranges, and where episodes start."""
    frame = Frame.of(space)
    box = jnp.asarray(space.starts, jnp.float32) if states == "reset" else frame.ranges
    params = {
        "weights": {name: jnp.asarray(weight) for name, weight in weights.items()},
        "goals": goals,
        "box": box,  # [d, 2] states are drawn from it
    }
    values, values_of = _readers(space, options)
    count, policy = len(space.actions), options.policy
    discount = jnp.float32(options.discount)
    return ContinuousView(
        params, discount, frame, values, arrive_of_goals, sample_box, count, goals.count, policy, values_of
    )


def state_reader(space: ContinuousSpace, options: Options) -> Simulator:
    """What networks need of a simulator: how a state is read, and how many actions there are. It cannot be acted in."""
    encoding = options.network.encoding
    if encoding == "one_hot":
        raise ValueError("a continuous state has no one-hot encoding")

    def read(params: Any, state: Array) -> Array:
        return encode(space.variables, state, encoding)

    width = encoded_width(space.variables, encoding)
    return Simulator((), _nowhere, _nowhere, _nowhere, read, width, len(space.actions), 1)


@functools.cache
def _readers(space: ContinuousSpace, options: Options) -> tuple[Callable[..., Array], Callable[..., Array] | None]:
    """The same functions for every agent of the same options, so that all share one program."""
    reader = state_reader(space, options)

    def values(params: Any, state: Array) -> Array:
        network = Values(reader, params["goals"], options)
        if network.heads:
            return network.network(params["weights"], state, None)
        count = params["goals"].count
        rows, goal = jnp.repeat(state, count, axis=0), jnp.tile(jnp.arange(count), state.shape[0])
        return values_of(params, rows, goal).reshape(state.shape[0], count, -1)

    def values_of(params: Any, state: Array, goal: Array) -> Array:
        network = Values(reader, params["goals"], options)
        return network.network(params["weights"], state, network.features(goal))[:, 0]

    return values, None if options.network.goal == "head" else values_of


def _nowhere(*_: Any) -> Any:
    raise TypeError("an extraction takes no step in the world")
