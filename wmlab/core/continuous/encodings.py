"""How networks read the variables of a continuous world.

Shapes: K variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.space import Variable

Encoding = Literal["raw", "normalised", "sincos"]


def encode(variables: Sequence[Variable], values: Array, encoding: Encoding) -> Array:
    """Values [..., K] of variables as a network reads them.

    `normalised` takes ranges to [-1, 1]; `sincos` does so too, and gives the sine and cosine of periodic ones.
    """
    if encoding == "raw":
        return values
    columns = []
    for position, variable in enumerate(variables):
        low, high = variable.scale
        scaled = 2 * (values[..., position] - low) / (high - low) - 1
        if encoding == "sincos" and variable.periodic:
            columns += [jnp.sin(jnp.pi * scaled), jnp.cos(jnp.pi * scaled)]  # on [-π, π): the angle's own
        else:
            columns.append(scaled)
    return jnp.stack(columns, axis=-1)


def encoded_width(variables: Sequence[Variable], encoding: Encoding) -> int:
    """How many numbers `encode` gives."""
    return len(variables) + (sum(variable.periodic for variable in variables) if encoding == "sincos" else 0)
