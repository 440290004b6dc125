"""Networks from states (and goals) to values, and the values of whole batches as learners read them.

Shapes: B rows, N environments or states, d variables, G goals, A actions, S states, W units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.pqn.options import Limits, Network, Options
from wmlab.agents.pqn.rollout import own
from wmlab.core.continuous.encodings import SpaceReader
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import NetworkView, States
from wmlab.core.goals import Features, GoalSet
from wmlab.core.perceptron import Weights, forward, hidden_weights, normalise_by_products, orthogonal_weights
from wmlab.core.programs import pytree, static
from wmlab.core.simulator import Simulator, State

StateReader = Simulator | SpaceReader  # all that a network needs of a world: how states are read, how many actions


def init(key: Array, reader: StateReader, goals: GoalSet, network: Network) -> Weights:
    """Weights before training: variance-preserving normals, or orthogonal matrices; biases 0."""
    reads_goal = network.goal == "input"
    if reads_goal and not goals.width:
        raise ValueError("goal: input needs goals that have features")
    fan_in = reader.width + (goals.width if reads_goal else 0)
    outputs = reader.actions * (1 if reads_goal else goals.count)
    *hidden_keys, output_key = jax.random.split(key, network.depth + 1)
    orthogonal = network.init == "orthogonal"
    params = hidden_weights(hidden_keys, fan_in, network.width, network.norm == "layer", 2.0, orthogonal)
    if orthogonal:
        params["output.weight"] = orthogonal_weights(output_key, network.width, outputs, 1.0)
    else:
        params["output.weight"] = jax.random.normal(output_key, (network.width, outputs)) / jnp.sqrt(network.width)
    params["output.bias"] = jnp.zeros(outputs)
    return params


def apply(
    params: Weights, reader: StateReader, goals: GoalSet, options: Options, state: Array, goal: Array | None = None
) -> Array:
    """Values of encoded states [B, d] or indices [B]: [B, G, A] with `goal: head`, else of encoded goals: [B, A]."""
    network = options.network
    hidden = _read(params["layer0.weight"], state, 0, reader.width)
    if network.goal == "input":
        if goal is None:
            raise ValueError("a network with goal: input reads a goal beside each state")
        hidden += _read(params["layer0.weight"], goal, reader.width, goals.width)
    normalise = normalise_by_products if network.norm == "layer" else None
    values = forward(params, hidden, network.depth, network.activation, normalise)
    if network.output != "linear":
        low, high = limits(goals, options)
        values = low + (high - low) * jax.nn.sigmoid(values)
    return values if network.goal == "input" else values.reshape(-1, goals.count, reader.actions)


def limits(goals: GoalSet, options: Options) -> tuple[Array, Array]:
    """The least and greatest value that a bounded network can give."""
    output = options.network.output
    if isinstance(output, Limits):
        return jnp.float32(output.low), jnp.float32(output.high)
    low, high = goals.value_range(options.discount)
    return low, high


def _read(weight: Array, inputs: Array, first: int, width: int) -> Array:
    """What inputs [B, width], or the one-hot of indices [B], add to a layer that reads them from row `first` on."""
    if jnp.issubdtype(inputs.dtype, jnp.integer):
        return weight[first + inputs]
    return inputs @ weight[first : first + width]


class NetworkValues:
    """The values that a network gives, of whole batches of states.

    A finite world with fewer states than a minibatch has rows is valued as a table, each state once, and the
    rows of a batch are read from it: the same numbers for a fraction of the work.
    """

    def __init__(self, reader: StateReader, goals: GoalSet, options: Options):
        self.reader, self.goals, self.options = reader, goals, options
        self.heads = options.network.goal == "head"
        self.tabular = self.heads and 0 < reader.states <= 2 * options.minibatch

    def table(self, params: Weights) -> Array:
        """[S, G, A]"""
        return self.network(params, jnp.arange(self.reader.states), None)

    def read_by(self, params: Weights) -> Callable[[State, Features], Array]:
        """A function from states [B] (and features of goals) to values [B, G, A], or [B, 1, A] of one goal each."""
        if self.tabular:
            table = self.table(params)
            return lambda state, goal: table[state]
        return partial(self.network, params)

    def network(self, params: Weights, state: State, goal: Features) -> Array:
        """The network itself, on states [B] and features of goals: [B, G, A], or [B, 1, A] of one goal each."""
        encoded = jax.vmap(self.reader.encode)(state)
        if self.heads:
            return apply(params, self.reader, self.goals, self.options, encoded)
        wanted = jax.vmap(self.goals.encode)(goal)
        return apply(params, self.reader, self.goals, self.options, encoded, wanted)[:, None]

    def policy(self, params: Weights) -> Callable[[State, Array], Array]:
        """The values [N, A] that each environment acts on."""
        read = self.read_by(params)

        def own_values(state: State, goal: Array) -> Array:
            if self.heads:
                return own(read(state, None), goal)
            return read(state, self.features(goal))[:, 0]

        return own_values

    def features(self, goal: Array) -> Features:
        """Features [N, ...] of goals of the set, int [N]."""
        return jax.tree.map(lambda features: features[goal], self.goals.features)

    def outcome(self, after: State, goal: Features) -> tuple[Array, Array]:
        """Rewards and continue flags of arrivals [B]: [B, G], or [B, 1] for one goal each."""
        if self.heads:
            return jax.vmap(self.goals.arrive)(after)
        reward, continues = jax.vmap(self.goals.reward_of)(after, goal)
        return reward[:, None], continues[:, None]


# --- as an extraction may see it, in a continuous world -------------------------------------------------------------


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
