"""How near states are to points on named variables.

Shapes: G goals, K named variables, d state variables.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.space import ContinuousSpace


def gaps(space: ContinuousSpace, columns: tuple[int, ...], states: Array, values: Array) -> Array:
    """State minus wanted value in each named variable: [..., G, K] of states [..., d] and values [G, K]."""
    named = space.full(states, jnp)[..., jnp.array(columns)]
    return space.difference(named[..., None, :], values, jnp, columns)


def is_near(gap: Array, asked: Array, distance: Array) -> Array:
    """Whether gaps [..., K] are below a distance [] or [K], in the variables asked for [..., K]: bool [...]."""
    if distance.ndim == 0:
        return jnp.sum(jnp.where(asked, gap, 0.0) ** 2, axis=-1) < distance**2
    return jnp.all((jnp.abs(gap) < distance) | ~asked, axis=-1)


def bell(gap: Array, asked: Array, sigma: Array) -> Array:
    """exp(-½ Σ (gap / sigma)²) over the variables asked for: [...]."""
    return jnp.exp(-0.5 * jnp.sum(jnp.where(asked, gap / sigma, 0.0) ** 2, axis=-1))
