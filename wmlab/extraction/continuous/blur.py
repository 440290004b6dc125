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
from wmlab.core.programs import pytree, static

held = jax.lax.stop_gradient


@pytree
class BlurredView(ContinuousView):
    """The same agent with the same values, whose slopes are means over `places` at normal distances.

    Shapes: N states, d variables, P places.
    """

    sharp: ContinuousView
    key: Array
    width: float = static()  # standard deviation of the distances, as a fraction of each variable's range
    places: int = static()  # P

    @property
    def reads_goal(self) -> bool:
        return self.sharp.reads_goal

    def values(self, state: Array) -> Array:
        return self._tilted(self.sharp.values(state), self.sharp.values(self._around(state)))

    def values_at(self, state: Array, goal: Array) -> Array:
        near = self.sharp.values_at(self._around(state), jnp.tile(goal, (self.places, 1)))
        return self._tilted(self.sharp.values_at(state, goal), near)

    def known_worth(self, state: Array) -> Array | None:
        worth, near = self.sharp.known_worth(state), self.sharp.known_worth(self._around(state))
        return None if worth is None or near is None else self._tilted(worth, near)

    def arrive(self, state: Array) -> tuple[Array, Array]:
        return self.sharp.arrive(state)

    def sample(self, key: Array, count: int) -> Array:
        return self.sharp.sample(key, count)

    def _around(self, state: Array) -> Array:
        """[P N, d]"""
        noise = self.width * self.frame.span * jax.random.normal(self.key, (self.places, *state.shape))
        return (state + noise).reshape(-1, state.shape[-1])

    def _tilted(self, at: Array, near: Array) -> Array:
        """Values [N, …] that are `at`'s, with the slopes of those `near` [P N, …]."""
        return held(at) + (near - held(near)).reshape(self.places, *at.shape).mean(axis=0)


def blurred(view: ContinuousView, key: Array, width: float, places: int) -> BlurredView:
    """A view of the same values with blurred slopes."""
    common = {field.name: getattr(view, field.name) for field in dataclasses.fields(ContinuousView)}
    return BlurredView(**common, sharp=view, key=key, width=width, places=places)
