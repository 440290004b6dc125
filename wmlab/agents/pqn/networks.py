"""Multilayer perceptrons from states (and goals) to values, as named arrays.

Shapes: B rows, A actions, G goals, W units.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.lax import Precision

from wmlab.agents.pqn.options import Limits, Network, Options
from wmlab.core.goals import GoalSet
from wmlab.core.simulator import StateReader

Params = dict[str, Array]  # layer0.weight, layer0.bias, layer0.scale, layer0.shift, …, output.weight, output.bias

ACTIVATIONS = {"relu": jax.nn.relu, "silu": jax.nn.silu, "tanh": jnp.tanh}


def init(key: Array, reader: StateReader, goals: GoalSet, network: Network) -> Params:
    """Weights before training: variance-preserving normals, biases 0."""
    reads_goal = network.goal == "input"
    if reads_goal and not goals.width:
        raise ValueError("goal: input needs goals that have features")
    fan_in = reader.width + (goals.width if reads_goal else 0)
    outputs = reader.actions * (1 if reads_goal else goals.count)
    *hidden_keys, output_key = jax.random.split(key, network.depth + 1)
    params: Params = {}
    for index, layer_key in enumerate(hidden_keys):
        shape = (fan_in, network.width)
        params[f"layer{index}.weight"] = jax.random.normal(layer_key, shape) * jnp.sqrt(2 / fan_in)
        params[f"layer{index}.bias"] = jnp.zeros(network.width)
        if network.norm == "layer":
            params[f"layer{index}.scale"] = jnp.ones(network.width)
            params[f"layer{index}.shift"] = jnp.zeros(network.width)
        fan_in = network.width
    params["output.weight"] = jax.random.normal(output_key, (fan_in, outputs)) / jnp.sqrt(fan_in)
    params["output.bias"] = jnp.zeros(outputs)
    return params


def apply(
    params: Params, reader: StateReader, goals: GoalSet, options: Options, state: Array, goal: Array | None = None
) -> Array:
    """Values of encoded states [B, d] or indices [B]: [B, G, A] with `goal: head`, else of encoded goals: [B, A]."""
    network = options.network
    hidden = _read(params["layer0.weight"], state, 0, reader.width)
    if network.goal == "input":
        if goal is None:
            raise ValueError("a network with goal: input reads a goal beside each state")
        hidden += _read(params["layer0.weight"], goal, reader.width, goals.width)
    for index in range(network.depth):
        if index > 0:
            hidden = hidden @ params[f"layer{index}.weight"]
        hidden = hidden + params[f"layer{index}.bias"]
        if network.norm == "layer":
            hidden = normalise(hidden) * params[f"layer{index}.scale"] + params[f"layer{index}.shift"]
        hidden = ACTIVATIONS[network.activation](hidden)
    values = hidden @ params["output.weight"] + params["output.bias"]
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


def normalise(hidden: Array) -> Array:
    """Layer normalisation. Means are products with a constant column: sums along rows are slow on CPUs."""
    width = hidden.shape[-1]
    mean = jnp.full((width, 1), 1 / width)
    centred = hidden - jnp.matmul(hidden, mean, precision=Precision.HIGHEST)
    variance = jnp.matmul(centred * centred, mean, precision=Precision.HIGHEST)
    return centred * jax.lax.rsqrt(variance + 1e-6)


def _read(weight: Array, inputs: Array, first: int, width: int) -> Array:
    """What inputs [B, width], or the one-hot of indices [B], add to a layer that reads them from row `first` on."""
    if jnp.issubdtype(inputs.dtype, jnp.integer):
        return weight[first + inputs]
    return inputs @ weight[first : first + width]
