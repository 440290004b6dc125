"""The values of whole batches of states, as the learner and its policy read them.

Shapes: B rows, N environments, G goals, A actions, S states.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.agents.pqn import networks
from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.rollout import own
from wmlab.core.goals import GoalSet
from wmlab.core.simulator import State, StateReader


class NetworkValues:
    """The values that a network gives, of whole batches of states.

    A finite world with fewer states than a minibatch has rows is valued as a table, each state once, and the
    rows of a batch are read from it: the same numbers for a fraction of the work.
    """

    def __init__(self, reader: StateReader, goals: GoalSet, options: Options):
        self.reader, self.goals, self.options = reader, goals, options
        self.heads = options.network.goal == "head"
        self.tabular = self.heads and 0 < reader.states <= 2 * options.minibatch

    def table(self, params: networks.Params) -> Array:
        """[S, G, A]"""
        return self.network(params, jnp.arange(self.reader.states), None)

    def read_by(self, params: networks.Params) -> Callable[[State, Any], Array]:
        """A function from states [B] (and features of goals) to values [B, G, A], or [B, 1, A] of one goal each."""
        if self.tabular:
            table = self.table(params)
            return lambda state, goal: table[state]
        return partial(self.network, params)

    def network(self, params: networks.Params, state: State, goal: Any) -> Array:
        """The network itself, on states [B] and features of goals: [B, G, A], or [B, 1, A] of one goal each."""
        encoded = jax.vmap(self.reader.encode)(state)
        if self.heads:
            return networks.apply(params, self.reader, self.goals, self.options, encoded)
        wanted = jax.vmap(self.goals.encode)(goal)
        return networks.apply(params, self.reader, self.goals, self.options, encoded, wanted)[:, None]

    def policy(self, params: networks.Params) -> Callable[[State, Array], Array]:
        """The values [N, A] that each environment acts on."""
        read = self.read_by(params)

        def own_values(state: State, goal: Array) -> Array:
            if self.heads:
                return own(read(state, None), goal)
            return read(state, self.features(goal))[:, 0]

        return own_values

    def features(self, goal: Array) -> Any:
        return jax.tree.map(lambda features: features[goal], self.goals.features)

    def outcome(self, after: State, goal: Any) -> tuple[Array, Array]:
        """Rewards and continue flags of arrivals [B]: [B, G], or [B, 1] for one goal each."""
        if self.heads:
            return jax.vmap(self.goals.arrive)(after)
        reward, continues = jax.vmap(self.goals.reward_of)(after, goal)
        return reward[:, None], continues[:, None]
