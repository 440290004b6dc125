"""Values of an agent's own policy, from rollouts in the true world: no grid stands between them and the world.

A row is a state, an action taken in it and a goal that is pursued from then on. Rows have a slot each while they are
under way; a slot whose row has ended takes the next row, so that none waits for the longest.

Shapes: R rows, W slots, d variables, A actions.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import fitting_batch, pytree
from wmlab.measure.continuous.rollouts import NEGLIGIBLE

SLOTS = 1024


@pytree
class Rows:
    """Where values are asked for."""

    state: Array  # float32 [R, d]
    action: Array  # int32 [R]
    goal: Array  # int32 [R]


class Slots(NamedTuple):
    """Rows that are under way; a slot without one has the number R."""

    row: Array  # int32 [W]
    state: Array  # [W, d]
    action: Array  # int32 [W]: what comes next
    worth: Array  # [W]: γ^t while the episode goes on, 0 after it
    gain: Array  # [W]: discounted rewards so far


def rollout_values(
    view: ContinuousView, dynamics: Dynamics, state: np.ndarray, action: np.ndarray, goal: np.ndarray, key: Array
) -> np.ndarray:
    """Discounted return [R] of an action int [R] in each state [R, d], and of the agent's own policy from there on.

    A rollout ends where its episode ends, or where what may follow is negligible: no horizon cuts it, for values know
    of none. Where chance has a hand in the world or the policy, it is one draw of the return; else it is Q^π itself.
    """
    rows = Rows(jnp.asarray(state), jnp.asarray(action, jnp.int32), jnp.asarray(goal, jnp.int32))
    slots = fitting_batch(lambda size: jax.make_jaxpr(_chosen)(view, rows.state[:size], rows.goal[:size], key), SLOTS)
    return np.asarray(_values(view, dynamics, rows, key, min(slots, len(state))), np.float64)


def _chosen(view: ContinuousView, state: Array, goal: Array, key: Array) -> Array:
    """What the agent does, int32 [W], in states [W, d] for goals [W]; of equally good actions the first."""
    if view.policy == "uniform":
        return jax.random.randint(key, goal.shape, 0, view.actions)
    return view.values_at(state, goal[:, None])[:, 0].argmax(axis=-1).astype(jnp.int32)


@partial(jax.jit, static_argnames="slots")
def _values(view: ContinuousView, dynamics: Dynamics, rows: Rows, key: Array, slots: int) -> Array:
    count = rows.goal.shape[0]

    def going(carry: tuple[Slots, Array, Array, Array]) -> Array:
        return (carry[0].row < count).any()

    def step(carry: tuple[Slots, Array, Array, Array]) -> tuple[Slots, Array, Array, Array]:
        now, taken, returns, time = carry
        move_key, act_key = jax.random.split(jax.random.fold_in(key, time))
        goal = rows.goal[jnp.minimum(now.row, count - 1)]
        after = dynamics.draw(move_key, now.state, now.action)
        reward, continues = (part[:, 0] for part in view.arrive_at(after, goal[:, None]))
        gain, worth = now.gain + now.worth * reward, now.worth * continues * view.discount
        moved = Slots(now.row, after, _chosen(view, after, goal, act_key), worth, gain)
        over = worth < NEGLIGIBLE
        returns = returns.at[jnp.where(over, now.row, count)].set(gain, mode="drop")
        return _refilled(rows, moved, over, taken), jnp.minimum(taken + over.sum(), count), returns, time + 1

    first = jnp.arange(slots, dtype=jnp.int32)
    start = Slots(first, rows.state[:slots], rows.action[:slots], jnp.ones(slots), jnp.zeros(slots))
    carry = (start, jnp.int32(slots), jnp.zeros(count), jnp.int32(0))
    return jax.lax.while_loop(going, step, carry)[2]


def _refilled(rows: Rows, slots: Slots, over: Array, taken: Array) -> Slots:
    """Slots whose rows are over, bool [W], with the next rows in order; `taken` rows were given out before."""
    count = rows.goal.shape[0]
    row = jnp.where(over, jnp.minimum(taken + jnp.cumsum(over) - over, count), slots.row).astype(jnp.int32)
    at = jnp.minimum(row, count - 1)
    return Slots(
        row,
        jnp.where(over[:, None], rows.state[at], slots.state),
        jnp.where(over, rows.action[at], slots.action),
        jnp.where(over, (row < count).astype(jnp.float32), slots.worth),
        jnp.where(over, 0.0, slots.gain),
    )
