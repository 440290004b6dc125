"""How networks read the variables of a continuous world.

Shapes: K variables, d state variables.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.space import ContinuousSpace, Variable, encoded_width
from wmlab.core.programs import pytree, static
from wmlab.registry.traits import Encoding


def encode(variables: Sequence[Variable], values: Array, encoding: Encoding) -> Array:
    """Values [..., K] of K variables as a network reads them, [..., encoded_width].

    `normalised` takes ranges to [-1, 1]; `sincos` does so too, and gives the sine and cosine of periodic ones.
    """
    if encoding == "raw":
        return values
    scaled = []
    for position, (low, high) in enumerate(variable.scale for variable in variables):
        scaled.append(2 * (values[..., position] - low) / (high - low) - 1)
    return side_by_side(scaled, [encoding == "sincos" and variable.periodic for variable in variables])


def side_by_side(scaled: Sequence[Array], circular: Sequence[bool]) -> Array:
    """Numbers [...] in [-1, 1] of each variable, as columns [..., width]: of circular ones their sine and cosine."""
    columns: list[Array] = []
    for one, circle in zip(scaled, circular, strict=True):
        columns += [jnp.sin(jnp.pi * one), jnp.cos(jnp.pi * one)] if circle else [one]  # of [-π, π) the angle's own
    return jnp.stack(columns, axis=-1)


@pytree
class SpaceReader:
    """How networks read the states of a continuous space, and nothing of what its actions do."""

    space: ContinuousSpace = static()
    encoding: Encoding = static()

    @property
    def width(self) -> int:
        return encoded_width(self.space.variables, self.encoding)

    @property
    def actions(self) -> int:
        return len(self.space.actions)

    @property
    def states(self) -> int:
        return 0  # they are not finitely many

    def encode(self, state: Array) -> Array:
        """A state [d] as networks read it, float32 [width]."""
        return encode(self.space.variables, state, self.encoding)
