"""What a model's error is held against: the error of one that misses walls alone, and the error with angles as numbers.

Shapes: n states, d state variables, D variables with derived ones, A actions.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Chance, Dynamics
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.programs import pytree, static
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.context import ContinuousContext
from wmlab.measure.continuous.model_error import errors_of, metric_of
from wmlab.measure.continuous.moves import Sampled, sample_errors, touches
from wmlab.registry.metrics import Measured

HALVINGS = 16  # of the way to the middle, until the nearest step that meets no bound is found
MARGIN = 1e-3  # of that way: so much further in, rounding does not lead to the bound
STRIDE = 0.05  # of that way, over which the slope is taken


@pytree
class SmoothContinuation(Dynamics):
    """A deterministic world whose walls go unnoticed until a state is at one.

    Where a step ends on a bound, it is what the nearest step that does not would be, taken on along its slope, and then
    held at the bound. Nearest is along the line to the middle of the ranges.
    """

    truth: Dynamics
    space: ContinuousSpace = static()

    @property
    def chances(self) -> tuple[Chance, ...]:
        return ()

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        true = self.truth.step(states, actions, noise)
        middle = jnp.array([(sum(one.scale) / 2) if one.edge == "clip" else jnp.nan for one in self.space.variables])
        away = jnp.where(jnp.isnan(middle), 0.0, middle - states)  # [n, d]

        def moved(states: Array) -> Array:
            return self.space.difference(self.truth.step(states, actions, noise), states, jnp)

        def halve(_: int, ends: tuple[Array, Array]) -> tuple[Array, Array]:
            low, high = ends
            half = (low + high) / 2
            blocked = self._blocked(states + half[:, None] * away, actions, noise)
            return jnp.where(blocked, half, low), jnp.where(blocked, high, half)

        count = states.shape[0]
        _, free = jax.lax.fori_loop(0, HALVINGS, halve, (jnp.zeros(count), jnp.ones(count)))
        near = (free + MARGIN)[:, None]
        here, further = moved(states + near * away), moved(states + (near + STRIDE) * away)
        # By two steps, not by a derivative: gymnax lets no gradient through.
        smooth = self.space.settle(states + here + (here - further) * near / STRIDE, jnp)
        known = self._blocked(states, actions, noise) & ~self._blocked(states + near * away, actions, noise)
        return jnp.where(known[:, None], smooth, true)

    def _blocked(self, states: Array, actions: Array, noise: Array) -> Array:
        """Whether a step ends on a bound, bool [n]."""
        return touches(self.space, self.truth.step(states, actions, noise), jnp)


def smooth_continuation(context: ContinuousContext) -> Measured:
    """wm.smooth_nmse: wm.nmse of a model that misses walls alone, at the same states."""
    if context.against_data:
        return {}
    world, sampled = context.truth, context.sampled
    if world.dynamics.noise or not any(variable.edge == "clip" for variable in world.space.variables):
        return {}
    model = SmoothContinuation(world.dynamics, world.space)
    key = jax_key(0, "draws of the model's error")
    beside = sample_errors(world.space, world.dynamics, model, sampled.states, key)
    return {"wm.smooth_nmse": errors_of(beside)["wm.nmse"]}


def unwrapped(context: ContinuousContext) -> Measured:
    """wm.mse_unwrapped: the mean squared error of next states as plain numbers."""
    if context.against_data or not any(variable.periodic for variable in context.truth.space.variables):
        return {}
    return {"wm.mse_unwrapped": unwrapped_error(context.sampled)}


def unwrapped_error(sampled: Sampled) -> dict[str, object]:
    """The mean squared error of next states, periodic variables compared as plain numbers within their ranges."""
    space, size = sampled.space, sampled.space.size
    predicted = space.settle((space.full(sampled.states) + sampled.truth + sampled.gap)[..., :size])
    gap = np.concatenate([predicted - sampled.after[..., :size], sampled.gap[..., size:]], axis=-1)
    return metric_of(sampled, (gap.astype(np.float64) ** 2).mean(axis=1))
