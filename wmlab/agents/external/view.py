"""A network from elsewhere in a continuous world, as an extraction may see it.

Shapes: N states, d variables, G goals, K variables of a goal, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.external.expect import observed
from wmlab.agents.external.network import apply, limits_of
from wmlab.agents.external.options import ExternalNetwork
from wmlab.core.continuous.encodings import encode
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import NetworkView, Policy, States
from wmlab.core.goals import GoalSet
from wmlab.core.programs import pytree, static


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
        outputs = apply(self.weights, self.network, (self._state_block(state),), self.limits)
        return outputs.reshape(state.shape[0], self.goals, -1)

    def values_of(self, state: Array, goal: Array) -> Array:
        blocks = {
            "state": lambda: self._state_block(state),
            "goal": lambda: self._goal_block(self.aims.features[goal]),
            "achieved": lambda: self._goal_block(jax.vmap(self.aims.achieved)(state)),
        }
        return apply(self.weights, self.network, [blocks[name]() for name in self.network.blocks], self.limits)

    def _state_block(self, state: Array) -> Array:
        """States [N, d] as they are read."""
        read, space = observed(self.network, self.space), self.space
        columns = tuple(space.column(variable.name) for variable in read)
        own = columns == tuple(range(space.size))  # the state as it is
        encoding: Any = self.network.encoding
        return encode(read, state if own else space.full(state, jnp)[..., np.array(columns)], encoding)

    def _goal_block(self, features: Array) -> Array:
        """Goals [N, K] as they are read: their variables stand by column, and may be read in another order."""
        network = self.network
        if network.wanted is None or len(network.wanted) < 2:
            return jax.vmap(self.aims.encode)(features)
        places = [self.space.column(name) for name in network.wanted]
        order = np.argsort(np.argsort(places))
        variables = [self.space.everything[column] for column in places]
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
