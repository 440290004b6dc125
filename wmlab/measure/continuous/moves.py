"""Displacements of sampled states under two dynamics: their means, their spread and how far apart they are.

Shapes: n states, d state variables, D variables with derived ones.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.space import ContinuousSpace


@partial(jax.jit, static_argnames=("space", "draws"))
def moves(
    space: ContinuousSpace, truth: Dynamics, model: Dynamics, states: Array, action: Array, key: Array, draws: int
) -> tuple[Array, Array, Array, Array]:
    """Mean displacements of truth and model [n, D], their standard deviations [2, n, D], their energy distance [n].

    The energy distance is 2 E|X - Y| - E|X - X'| - E|Y - Y'| between next states, in units of the truth's standard
    deviation of each variable over all states.
    """
    actions = jnp.full(states.shape[0], action, jnp.int32)
    here = space.full(states, jnp)

    def displacement(dynamics: Dynamics, draw_key: Array) -> Array:
        after = space.full(dynamics.draw(draw_key, states, actions), jnp)
        return space.difference(after, here, jnp)

    if truth.noise == 0 and model.noise == 0:
        true, guess = displacement(truth, key), displacement(model, key)
        return true, guess, jnp.zeros((2, *true.shape)), jnp.zeros(true.shape[0])
    scale = jnp.std(here, axis=0) + 1e-12

    def one(total: Any, draw_key: Array) -> tuple[Any, None]:
        keys = jax.random.split(draw_key, 4)
        pair = jnp.stack([displacement(truth, keys[0]), displacement(truth, keys[1])])  # [2, n, D]
        other = jnp.stack([displacement(model, keys[2]), displacement(model, keys[3])])
        energy = 2 * _length(pair[0] - other[0], scale) - _length(pair[0] - pair[1], scale)
        energy = energy - _length(other[0] - other[1], scale)
        new = (pair.sum(0), other.sum(0), (pair**2).sum(0), (other**2).sum(0), energy)
        return tuple(old + more for old, more in zip(total, new, strict=True)), None

    zero = jnp.zeros_like(here)
    sums: Any = jax.lax.scan(one, (zero, zero, zero, zero, jnp.zeros(here.shape[0])), jax.random.split(key, draws))[0]
    count = 2 * draws
    true, guess = sums[0] / count, sums[1] / count
    moments = jnp.stack([sums[2] / count - true**2, sums[3] / count - guess**2])
    sd = jnp.sqrt(jnp.maximum(moments, 0) * count / (count - 1))
    return true, guess, sd, sums[4] / draws


def _length(gap: Array, scale: Array) -> Array:
    return jnp.sqrt(jnp.sum((gap / scale) ** 2, axis=-1))
