"""Multilayer perceptrons from elsewhere, in JAX: the same arithmetic in the same order as our own networks.

Shapes: B rows, N states, d variables, S states of a finite world, G goals, K variables of a goal, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.external.expect import observed
from wmlab.agents.external.options import ExternalNetwork
from wmlab.agents.pqn.options import Limits
from wmlab.core.continuous.encodings import encode
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import NetworkView, Policy, States
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.simulator import embedded_states, finite_goals
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.goals import GoalSet
from wmlab.core.perceptron import Weights, forward, normalise_by_products
from wmlab.core.programs import pytree, static
from wmlab.errors import StageError


def apply(weights: Weights, network: ExternalNetwork, blocks: Sequence[Array], limits: Array) -> Array:
    """Outputs [B, O] of what is read, in blocks [B, …]; `limits` [2] are the ends of a bounded output."""
    hidden, first = None, 0
    for block in blocks:
        width = block.shape[-1]
        read = block @ weights["layer0.weight"][first : first + width]
        hidden = read if hidden is None else hidden + read
        first += width
    assert hidden is not None
    normalise = partial(normalise_by_products, epsilon=network.epsilon) if network.norm == "layer" else None
    after = network.norm_place == "after"
    values = forward(weights, hidden, network.depth, network.activation, normalise, after)
    if network.output == "linear":
        return values
    return limits[0] + (limits[1] - limits[0]) * jax.nn.sigmoid(values)


def limits_of(network: ExternalNetwork, goals: GoalSet, discount: float) -> Array:
    """The ends of a bounded output [2]; those of a linear one are not asked for."""
    if isinstance(network.output, Limits):
        return jnp.array([network.output.low, network.output.high], jnp.float32)
    return goals.value_range(discount) if network.output == "bounded" else jnp.zeros(2)


def finite_values(
    network: ExternalNetwork, weights: Mapping[str, np.ndarray], space: FiniteSpace, goals: Goals, discount: float
) -> np.ndarray:
    """Q [G, S, A], float64, of a network in a finite world: each state is read once for every goal."""
    ends = limits_of(network, finite_goals(goals), discount)
    network = network.form
    params = {name: jnp.asarray(weight) for name, weight in weights.items()}
    one_hot = network.encoding == "one_hot"
    read = np.eye(space.size) if one_hot else embedded_states(space, network.encoding)
    states = jnp.asarray(read, jnp.float32)  # [S, …]
    if network.goal == "head":
        values = _apply(params, network, (states,), ends)
        by_goal = np.asarray(values).reshape(space.size, goals.count, -1).transpose(1, 0, 2)
        return by_goal.astype(np.float64)
    rows = []
    for label in goals.labels:
        if label not in space.names:
            raise StageError(f"goal '{label}' is at no state, and a network that reads goals reads states")
        wanted = jnp.tile(jax.nn.one_hot(space.index(label), space.size), (space.size, 1))
        blocks = tuple(states if block == "state" else wanted for block in network.inputs)
        rows.append(np.asarray(_apply(params, network, blocks, ends)))
    return np.stack(rows).astype(np.float64)


_apply = jax.jit(apply, static_argnames="network")


# --- as an extraction may see it, in a continuous world -------------------------------------------------------------


@pytree
class ExternalView(NetworkView):
    """The view of a network from elsewhere. Of the world it knows the space alone: its ranges, and its starts."""

    limits: Array  # [2]: ends of a bounded output
    space: ContinuousSpace = static()
    network: ExternalNetwork = static()

    @property
    def reads_goal(self) -> bool:
        return self.network.goal == "input"

    def heads(self, state: Array) -> Array:
        outputs = apply(self.weights, self.network, (read_state(self.network, self.space, state),), self.limits)
        return outputs.reshape(state.shape[0], self.goals, -1)

    def values_of(self, state: Array, goal: Array) -> Array:
        blocks = {
            "state": lambda: read_state(self.network, self.space, state),
            "goal": lambda: read_goal(self.network, self.space, self.aims, self.aims.features[goal]),
            "achieved": lambda: read_goal(self.network, self.space, self.aims, jax.vmap(self.aims.achieved)(state)),
        }
        return apply(self.weights, self.network, [blocks[name]() for name in self.network.blocks], self.limits)


def read_state(network: ExternalNetwork, space: ContinuousSpace, state: Array) -> Array:
    """States [N, d] as a network reads them."""
    read = observed(network, space)
    columns = tuple(space.column(variable.name) for variable in read)
    own = columns == tuple(range(space.size))  # the state as it is
    encoding: Any = network.encoding
    return encode(read, state if own else space.full(state, jnp)[..., np.array(columns)], encoding)


def read_goal(network: ExternalNetwork, space: ContinuousSpace, aims: GoalSet, features: Array) -> Array:
    """Goals [N, K] as a network reads them: their variables stand by column, and may be read in another order."""
    if network.wanted is None or len(network.wanted) < 2:
        return jax.vmap(aims.encode)(features)
    places = [space.column(name) for name in network.wanted]
    order = np.argsort(np.argsort(places))
    variables = [space.everything[column] for column in places]
    encoding: Any = network.encoding
    return encode(variables, features[:, order], encoding)


def network_view(
    weights: Mapping[str, np.ndarray],
    network: ExternalNetwork,
    space: ContinuousSpace,
    goals: GoalSet,
    discount: float,
    policy: Policy,
    states: States = "uniform",
) -> ExternalView:
    """The view of a network by its weights; `states` says where it is looked at."""
    return ExternalView.of(
        space,
        goals,
        discount,
        policy,
        states,
        weights={name: jnp.asarray(weight) for name, weight in weights.items()},
        limits=limits_of(network, goals, discount),
        space=space,
        network=network.form,
    )
