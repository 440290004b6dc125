"""Multilayer perceptrons as named arrays: what the networks of agents and of models have in common.

Shapes: N rows, W units, O outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array
from jax.lax import Precision

Weights = dict[str, Array]  # layer0.weight, layer0.bias, layer0.scale, layer0.shift, …, output.weight, output.bias

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
    "tanh": jnp.tanh,
    "elu": jax.nn.elu,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "gelu_tanh": partial(jax.nn.gelu, approximate=True),
}


def hidden_weights(
    keys: Sequence[Array], inputs: int, width: int, norm: bool, gain: float, orthogonal: bool = False
) -> Weights:
    """First weights of a hidden layer for each key: normals of variance gain / inputs, or √2 orthogonal; biases 0."""
    weights: Weights = {}
    for index, key in enumerate(keys):
        if orthogonal:
            weight = orthogonal_weights(key, inputs, width, math.sqrt(2))
        else:
            weight = jax.random.normal(key, (inputs, width)) * jnp.sqrt(gain / inputs)
        weights[f"layer{index}.weight"] = weight
        weights[f"layer{index}.bias"] = jnp.zeros(width)
        if norm:
            weights[f"layer{index}.scale"] = jnp.ones(width)
            weights[f"layer{index}.shift"] = jnp.zeros(width)
        inputs = width
    return weights


def orthogonal_weights(key: Array, inputs: int, outputs: int, scale: float) -> Array:
    """A matrix [inputs, outputs] whose rows or columns, whichever are fewer, are orthogonal and `scale` long."""
    return jax.nn.initializers.orthogonal(scale)(key, (inputs, outputs))


def forward(
    weights: Weights,
    read: Array,
    depth: int,
    activation: str,
    normalise: Callable[[Array], Array] | None,
    norm_after: bool = False,
) -> Array:
    """Outputs [N, O] from what the first layer reads [N, W], its product with the inputs before the bias.

    Normalisation stands before each activation, or after it.
    """
    hidden = read
    for index in range(depth):
        if index > 0:
            hidden = hidden @ weights[f"layer{index}.weight"]
        hidden = hidden + weights[f"layer{index}.bias"]
        if norm_after:
            hidden = ACTIVATIONS[activation](hidden)
        if normalise is not None:
            hidden = normalise(hidden) * weights[f"layer{index}.scale"] + weights[f"layer{index}.shift"]
        if not norm_after:
            hidden = ACTIVATIONS[activation](hidden)
    return hidden @ weights["output.weight"] + weights["output.bias"]


def normalise_by_products(hidden: Array, epsilon: float = 1e-6) -> Array:
    """Rows [N, W] normalised. Means are products with a constant column: sums along rows are slow on CPUs."""
    width = hidden.shape[-1]
    mean = jnp.full((width, 1), 1 / width)
    centred = hidden - jnp.matmul(hidden, mean, precision=Precision.HIGHEST)
    variance = jnp.matmul(centred * centred, mean, precision=Precision.HIGHEST)
    return centred * jax.lax.rsqrt(variance + epsilon)
