"""A trained network in a continuous world, as an extraction may see it.

Shapes: N states, d variables, G goals, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.pqn.networks import NetworkValues
from wmlab.agents.pqn.options import Options
from wmlab.core.continuous.encodings import SpaceReader
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import NetworkView, States
from wmlab.core.goals import GoalSet
from wmlab.core.programs import pytree, static


@pytree
class PQNView(NetworkView):
    """The view of a PQN agent. Of the world it knows the space alone: its ranges, and where episodes start."""

    reader: SpaceReader = static()
    options: Options = static()

    @property
    def reads_goal(self) -> bool:
        return self.options.network.goal == "input"

    def heads(self, state: Array) -> Array:
        return self._network.network(self.weights, state, None)

    def values_of(self, state: Array, goal: Array) -> Array:
        return self._network.network(self.weights, state, self._network.features(goal))[:, 0]

    @property
    def _network(self) -> NetworkValues:
        return NetworkValues(self.reader, self.aims, self.options)


def agent_view(
    weights: Mapping[str, np.ndarray | Array],
    space: ContinuousSpace,
    goals: GoalSet,
    options: Options,
    states: States = "uniform",
) -> PQNView:
    """The view of a PQN agent by its weights, options and goals; `states` says where it is looked at."""
    return PQNView.of(
        space,
        goals,
        options.discount,
        options.policy,
        states,
        weights={name: jnp.asarray(weight) for name, weight in weights.items()},
        reader=space_reader(space, options),
        options=options,
    )


def space_reader(space: ContinuousSpace, options: Options) -> SpaceReader:
    """How a PQN network reads the states of a continuous space."""
    if options.network.encoding == "one_hot":
        raise ValueError("a continuous state has no one-hot encoding")
    return SpaceReader(space, options.network.encoding)
