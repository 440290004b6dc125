"""A world model stored on a grid of states: the change of state at every point, and what lies between.

Shapes: N states, d variables, A actions, m points along each variable.
"""

from __future__ import annotations

import itertools
from typing import Literal

import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.dynamics import Chance, Dynamics
from wmlab.core.continuous.view import Frame
from wmlab.core.programs import pytree, static


@pytree
class GridModel(Dynamics):
    """Changes of state, in units of each variable's range, at the points of a regular grid."""

    weights: dict[str, Array]  # change [m^d, A, d]
    frame: Frame
    actions: int = static()  # A
    points: int = static()  # m
    between: Literal["linear", "nearest"] = static(default="linear")

    @property
    def stochastic(self) -> bool:
        return False

    @property
    def chances(self) -> tuple[Chance, ...]:
        return ()

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        return self.predict(states, actions)

    def predict(self, state: Array, action: Array) -> Array:
        """The next states [N, d] of states [N, d] and actions int [N]."""
        place = jnp.clip((self.frame.wrap(state) - self.frame.low) / self.frame.span, 0.0, 1.0) * (self.points - 1)
        if self.between == "nearest":
            change = self._at(jnp.round(place).astype(int), action)
        else:
            change = self._blend(place, action)
        return self.frame.confine(state + self.frame.span * change)

    def sample(self, key: Array, state: Array, action: Array) -> Array:
        """The same: nothing is left to chance."""
        return self.predict(state, action)

    def _blend(self, place: Array, action: Array) -> Array:
        """Multilinear interpolation between the corners of each cell."""
        base = jnp.clip(jnp.floor(place), 0, self.points - 2)
        part, base = place - base, base.astype(int)
        total = jnp.zeros_like(place)
        for corner in itertools.product((0, 1), repeat=self.frame.size):
            side = jnp.array(corner)
            weight = jnp.where(side == 1, part, 1 - part).prod(axis=-1, keepdims=True)
            total = total + weight * self._at(base + side, action)
        return total

    def _at(self, place: Array, action: Array) -> Array:
        powers = jnp.array([self.points**power for power in reversed(range(self.frame.size))])
        return self.weights["change"][(place * powers).sum(axis=-1), action]


def nodes(frame: Frame, points: int) -> Array:
    """The points of a regular grid over the ranges, [m^d, d], the last variable fastest."""
    axes = jnp.meshgrid(*[jnp.linspace(0.0, 1.0, points)] * frame.size, indexing="ij")
    return frame.low + frame.span * jnp.stack([axis.ravel() for axis in axes], axis=-1)
