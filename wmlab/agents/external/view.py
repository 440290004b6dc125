"""A network from elsewhere in a continuous world, as an extraction may see it.

Shapes: N states, d variables, G goals, A actions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.external.expect import observed
from wmlab.agents.external.network import apply, limits_of
from wmlab.agents.external.options import Network
from wmlab.core.continuous.encodings import encode
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ContinuousView, Frame, arrive_of_goals, sample_box
from wmlab.core.simulator import GoalSet


def network_view(
    weights: Mapping[str, np.ndarray],
    network: Network,
    space: ContinuousSpace,
    goals: GoalSet,
    discount: float,
    policy: Literal["greedy", "uniform"],
    states: Literal["uniform", "reset"] = "uniform",
) -> ContinuousView:
    """The view of a network. Of the world it knows the space alone: its ranges, and where episodes start."""
    frame = Frame.of(space)
    params = {
        "weights": {name: jnp.asarray(weight) for name, weight in weights.items()},
        "goals": goals,
        "limits": limits_of(network, goals, discount),
        "box": jnp.asarray(space.starts, jnp.float32) if states == "reset" else frame.ranges,
    }
    values, values_of = _readers(space, network.form)
    count, rate = len(space.actions), jnp.float32(discount)
    return ContinuousView(
        params, rate, frame, values, arrive_of_goals, sample_box, count, goals.count, policy, values_of
    )


@functools.cache
def _readers(space: ContinuousSpace, network: Network) -> tuple[Callable[..., Array], Callable[..., Array] | None]:
    """The same functions for every agent of the same network, so that all share one program."""
    encoding: Any = network.encoding
    read = observed(network, space)
    columns = tuple(space.column(variable.name) for variable in read)
    own = columns == tuple(range(space.size))  # the state as it is

    def state_block(state: Array) -> Array:
        return encode(read, state if own else space.full(state, jnp)[..., np.array(columns)], encoding)

    def goal_block(goals: GoalSet, features: Array) -> Array:
        """Goals [N, K] as they are read: their variables stand by column, and may be read in another order."""
        if network.wanted is None or len(network.wanted) < 2:
            return jax.vmap(goals.encode)(features)
        places = [space.column(name) for name in network.wanted]
        order = np.argsort(np.argsort(places))
        variables = [space.everything[column] for column in places]
        return encode(variables, features[:, order], encoding)

    def heads(params: Any, state: Array) -> Array:
        found = apply(params["weights"], network, (state_block(state),), params["limits"])
        return found.reshape(state.shape[0], params["goals"].count, -1)

    def values_of(params: Any, state: Array, goal: Array) -> Array:
        goals: GoalSet = params["goals"]
        blocks = {
            "state": lambda: state_block(state),
            "goal": lambda: goal_block(goals, goals.features[goal]),
            "achieved": lambda: goal_block(goals, jax.vmap(goals.achieved)(state)),
        }
        return apply(params["weights"], network, [blocks[name]() for name in network.blocks], params["limits"])

    def every_goal(params: Any, state: Array) -> Array:
        count = params["goals"].count
        rows, goal = jnp.repeat(state, count, axis=0), jnp.tile(jnp.arange(count), state.shape[0])
        return values_of(params, rows, goal).reshape(state.shape[0], count, -1)

    return (heads, None) if network.goal == "head" else (every_goal, values_of)
