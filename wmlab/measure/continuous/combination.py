"""Acting on a linear combination of trained values, as successor features would.

Values of one policy are linear in the reward: were Q(s, a, g) of the same policy for every goal, the combination whose
rewards add up to those of an unseen goal would be its value. Each goal has its own policy here, and few rewards of
unseen goals lie in the span of the trained ones, which is why this falls short.

Shapes: S starts, d variables, G goals, A actions, n states, T steps.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import ContinuousWorld, Dynamics
from wmlab.core.continuous.goals import Task
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.randomness import jax_key
from wmlab.measure.baselines import Combined, nearest
from wmlab.measure.continuous.states import states_of
from wmlab.planning.continuous.plan import NEGLIGIBLE, argmax_random_ties

STATES = 50_000  # at which rewards are compared


def combined(view: ContinuousView, world: ContinuousWorld, task: Task, discount: float, starts: np.ndarray) -> Combined:
    """What acting on the combination attains in the true world, from starts [S, d]."""
    where = "reset" if world.space.endless else "uniform"
    states = states_of(where, world.space, STATES, "states at which rewards are compared")
    trained, wanted = (np.asarray(part, np.float64) for part in _rewards(view, task, states))
    weights, misfit = nearest(trained.T, wanted)
    cut = math.ceil(math.log(NEGLIGIBLE) / math.log(discount)) if discount > 0 else 1
    length = cut if world.horizon is None else int(world.horizon)
    key = jax_key(0, "chance on the way to unseen goals")
    mix = jnp.asarray(weights, jnp.float32)
    gain = _follow(view, world.dynamics, task, mix, jnp.asarray(starts), jnp.float32(discount), key, length)
    return Combined(weights, misfit, float(np.asarray(gain).mean(dtype=np.float64)))


@jax.jit
def _rewards(view: ContinuousView, task: Task, states: Array) -> tuple[Array, Array]:
    """What arriving in states [n, d] pays for the trained goals [n, G] and for the unseen one [n]."""
    return view.arrive(states)[0], task.arrive(states)[0]


@partial(jax.jit, static_argnames="length")
def _follow(
    view: ContinuousView,
    dynamics: Dynamics,
    task: Task,
    weights: Array,
    starts: Array,
    discount: Array,
    key: Array,
    length: int,
) -> Array:
    """Returns [S] of acting greedily on values combined with weights [G]; of equal actions any is taken."""

    def step(carry: tuple[Array, Array, Array], step_key: Array) -> tuple[tuple[Array, Array, Array], None]:
        states, worth, gain = carry  # worth: γ^t while the episode goes on, 0 after it
        q = jnp.einsum("nga,g->an", view.values(states), weights)
        after = dynamics.draw(step_key, states, argmax_random_ties(q, jax.random.fold_in(step_key, 1)))
        reward, continues = task.arrive(after)
        states = jnp.where(worth[:, None] > 0, after, states)
        return (states, worth * continues * discount, gain + worth * reward), None

    count = starts.shape[0]
    first = (starts, jnp.ones(count), jnp.zeros(count))
    return jax.lax.scan(step, first, jax.random.split(key, length))[0][2]
