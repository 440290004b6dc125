"""How well successors explain an agent's values: the Bellman residual at held-out states.

With a model's own predictions this is its fit, for which no truth is needed; with the true successors it is the
agent's TD error, the floor below which a residual says nothing about the model.

Shapes: N states, d variables, A actions, G goals, D draws.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.view import ContinuousView
from wmlab.core.randomness import jax_key
from wmlab.extraction.continuous.models import WorldModel

STATES = 4096  # held out
DRAWS = 32  # of a stochastic model's next state
ROWS = 4096  # states that are looked at together


def held_out(view: ContinuousView, seed: int, count: int | None = None) -> Array:
    """States [count, d] that no update has seen."""
    return sample(view, jax_key(seed, "held-out states"), count or STATES)


@partial(jax.jit, static_argnames="count")
def sample(view: ContinuousView, key: Array, count: int) -> Array:
    """States [count, d] of the view's choice."""
    return view.sample(key, count)


@jax.jit
def residuals(view: ContinuousView, state: Array, after: Array) -> Array:
    """E[M(s', g)] - Q(s, a, g), [N, A, G], for successors [D, N, A, d], each as likely."""

    def one(at: tuple[Array, Array]) -> Array:
        state, after = at  # [d], [D, A, d]
        backup = view.backup(after.reshape(-1, after.shape[-1]), view.all_goals(after.shape[0] * after.shape[1]))
        values = view.values(state[None])[0]  # [G, A]
        return backup.reshape(*after.shape[:2], -1).mean(axis=0) - values.T

    return jax.lax.map(one, (state, jnp.moveaxis(after, 1, 0)), batch_size=max(1, ROWS // after.shape[0]))


@partial(jax.jit, static_argnames="draws")
def successors(model: WorldModel, state: Array, key: Array, draws: int) -> Array:
    """Next states [D, N, A, d] under every action."""
    count = state.shape[0]
    states = jnp.tile(state, (draws * model.actions, 1))
    action = jnp.tile(jnp.repeat(jnp.arange(model.actions), count), draws)
    after = model.sample(key, states, action)
    return jnp.swapaxes(after.reshape(draws, model.actions, count, -1), 1, 2)


def explained(view: ContinuousView, model: WorldModel, state: Array, seed: int) -> np.ndarray:
    """The residuals [N, A, G] of a model at given states."""
    draws = DRAWS if model.stochastic else 1
    after = successors(model, state, jax_key(seed, "draws at held-out states"), draws)
    return np.asarray(residuals(view, state, after))
