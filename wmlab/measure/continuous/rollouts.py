"""Acting by an agent's own values: in the world, or in a model of it.

Shapes: S starts, d variables, T steps, G goals, A actions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.view import ContinuousView

NEGLIGIBLE = 1e-6  # rewards that are discounted below this are not waited for
Carry = tuple[Array, Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Ways:
    """What happened from each start."""

    states: np.ndarray  # [T + 1, S, d]; the last one is repeated once an episode is over
    returns: np.ndarray  # [S] discounted
    steps: np.ndarray  # int [S] until the episode was over, or T


def follow_values(
    view: ContinuousView, dynamics: Dynamics, starts: np.ndarray, goal: int, horizon: int | None, key: Array
) -> Ways:
    """Follow an agent's policy for one goal from starts [S, d], until episodes end or are cut.

    Dynamics may be the world's or a model's: the same starts and policy show where the two part.
    """
    parts = _follow(view, dynamics, jnp.asarray(starts), jnp.int32(goal), key, _length(view, horizon))
    return Ways(*(np.asarray(part) for part in parts))


def random_returns(
    view: ContinuousView, dynamics: Dynamics, starts: np.ndarray, horizon: int | None, key: Array
) -> np.ndarray:
    """Mean discounted return [G] on each goal of one who takes every action as often, from starts [S, d].

    Such a one goes the same way whatever the goal, so that one way from each start serves for all of them.
    """
    gain = _wander(view, dynamics, jnp.asarray(starts), key, _length(view, horizon))  # [S, G]
    return np.asarray(gain, np.float64).mean(axis=0)


def _length(view: ContinuousView, horizon: int | None) -> int:
    """Steps until an episode is cut; where nothing cuts it, until what follows is negligible."""
    discount = float(view.discount)
    cut = math.ceil(math.log(NEGLIGIBLE) / math.log(discount)) if 0 < discount < 1 else 1
    return cut if horizon is None else int(horizon)


@partial(jax.jit, static_argnames="length")
def _wander(view: ContinuousView, dynamics: Dynamics, starts: Array, key: Array, length: int) -> Array:
    count = starts.shape[0]

    def step(carry: tuple[Array, Array, Array], step_key: Array) -> tuple[tuple[Array, Array, Array], None]:
        states, worth, gain = carry  # worth [S, G]: γ^t while the episode of a goal goes on, 0 after it
        act_key, move_key = jax.random.split(step_key)
        action = view.any_action(act_key, count)
        states = dynamics.draw(move_key, states, action)
        reward, continues = view.arrive(states)
        return (states, worth * continues * view.discount, gain + worth * reward), None

    first = (starts, jnp.ones((count, view.goals)), jnp.zeros((count, view.goals)))
    return jax.lax.scan(step, first, jax.random.split(key, length))[0][2]


@partial(jax.jit, static_argnames="length")
def _follow(
    view: ContinuousView, dynamics: Dynamics, starts: Array, goal: Array, key: Array, length: int
) -> tuple[Array, Array, Array]:
    count = starts.shape[0]
    wanted = jnp.full((count, 1), goal)

    def step(carry: Carry, step_key: Array) -> tuple[Carry, Array]:
        states, worth, gain, steps = carry  # worth: γ^t while the episode goes on, 0 after it
        act_key, move_key = jax.random.split(step_key)
        after = dynamics.draw(move_key, states, view.choose(act_key, states, wanted))
        reward, continues = (part[:, 0] for part in view.arrive_at(after, wanted))
        going = worth > 0
        states = jnp.where(going[:, None], after, states)
        return (states, worth * continues * view.discount, gain + worth * reward, steps + going), states

    first = (starts, jnp.ones(count), jnp.zeros(count), jnp.zeros(count, jnp.int32))
    (_, _, gain, steps), path = jax.lax.scan(step, first, jax.random.split(key, length))
    return jnp.concatenate([starts[None], path]), gain, steps
