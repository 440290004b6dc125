"""Slopes of an agent's values, taken around a state rather than at it.

An agent's errors are in its values and in their slopes alike. Where both are read at one place they agree with each
other, and the least residual is that of a world that moves less than the true one: the bias of a regression whose
regressor is noisy. Slopes from around the place have the same mean, and errors that know less of the residual's.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.view import ContinuousView

held = jax.lax.stop_gradient


def blurred(view: ContinuousView, key: Array, width: float, places: int) -> ContinuousView:
    """The same agent with the same values, whose slopes are means over `places` at normal distances.

    `width` is their standard deviation, as a fraction of each variable's range.
    """

    def around(state: Array) -> Array:
        """[places N, d]"""
        noise = width * view.frame.span * jax.random.normal(key, (places, *state.shape))
        return (state + noise).reshape(-1, state.shape[-1])

    def tilted(at: Array, near: Array) -> Array:
        """Values [N, …] that are `at`'s, with the slopes of those `near` [places N, …]."""
        return held(at) + (near - held(near)).reshape(places, *at.shape).mean(axis=0)

    def values(params: object, state: Array) -> Array:
        return tilted(view.values_fn(params, state), view.values_fn(params, around(state)))

    def values_of(params: object, state: Array, goal: Array) -> Array:
        assert view.values_of_fn is not None
        near = view.values_of_fn(params, around(state), jnp.tile(goal, places))
        return tilted(view.values_of_fn(params, state, goal), near)

    def worth(params: object, state: Array) -> Array:
        assert view.worth_fn is not None
        return tilted(view.worth_fn(params, state), view.worth_fn(params, around(state)))

    return dataclasses.replace(
        view,
        values_fn=values,
        values_of_fn=None if view.values_of_fn is None else values_of,
        worth_fn=None if view.worth_fn is None else worth,
    )
