"""Multilayer perceptrons as named arrays.

Shapes: N rows, W units.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.extraction.continuous.options import Model

Weights = dict[str, Array]  # layer0.weight, layer0.bias, …, output.weight, output.bias

ACTIVATIONS = {"tanh": jnp.tanh, "relu": jax.nn.relu, "silu": jax.nn.silu}


def init(key: Array, inputs: int, outputs: int, model: Model) -> Weights:
    """First weights: variance-preserving normals, the last layer `init_scale` as large, biases 0."""
    *hidden_keys, output_key = jax.random.split(key, model.depth + 1)
    gain = 1.0 if model.activation == "tanh" else 2.0
    weights: Weights = {"skip.weight": jnp.zeros((inputs, outputs))} if model.skip else {}
    for index, layer_key in enumerate(hidden_keys):
        shape = (inputs, model.width)
        weights[f"layer{index}.weight"] = jax.random.normal(layer_key, shape) * jnp.sqrt(gain / inputs)
        weights[f"layer{index}.bias"] = jnp.zeros(model.width)
        if model.norm == "layer":
            weights[f"layer{index}.scale"] = jnp.ones(model.width)
            weights[f"layer{index}.shift"] = jnp.zeros(model.width)
        inputs = model.width
    return weights | linear(output_key, inputs, outputs, model.init_scale)


def linear(key: Array, inputs: int, outputs: int, scale: float) -> Weights:
    """The first weights of a last layer."""
    weight = jax.random.normal(key, (inputs, outputs)) * (scale / jnp.sqrt(inputs))
    return {"output.weight": weight, "output.bias": jnp.zeros(outputs)}


def apply(weights: Weights, model: Model, inputs: Array) -> Array:
    """[N, inputs] -> [N, outputs]"""
    hidden = inputs
    for index in range(model.depth):
        hidden = hidden @ weights[f"layer{index}.weight"] + weights[f"layer{index}.bias"]
        if model.norm == "layer":
            hidden = _normalise(hidden) * weights[f"layer{index}.scale"] + weights[f"layer{index}.shift"]
        hidden = ACTIVATIONS[model.activation](hidden)
    outputs = hidden @ weights["output.weight"] + weights["output.bias"]
    return outputs + inputs @ weights["skip.weight"] if model.skip else outputs


def _normalise(hidden: Array) -> Array:
    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-6)
