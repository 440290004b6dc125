"""Plans by sampling sequences of actions in a model: the cross-entropy method, from many starts at once.

Shapes: S starts, P sequences, H steps ahead, T steps taken, d variables, k components of an action.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.goals import Task
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ActionBox
from wmlab.core.programs import fitting_batch
from wmlab.planning.continuous.plan import NEGLIGIBLE, Rollout

NEARNESS = 1e-3  # of a reward, for each span of a variable that a sequence comes nearer: it decides between equals
LEAST = 0.05  # spread of a component that is kept in every round, as a fraction of half its range
STARTS = 512  # from which plans are made together, at most
Walk = tuple[Array, Array, Array, Array]  # states, γ^t or 0 after an end, rewards so far, least distance so far


@dataclass(frozen=True)
class Search:
    """How sequences of actions are looked for."""

    horizon: int  # H
    samples: int  # P, in every round
    elites: int  # of them that give the next mean and spread
    rounds: int
    spread: float  # at first, as a fraction of half of each range


class Carry(NamedTuple):
    """Where the ways from each start are, and what they plan."""

    state: Array  # [S, d]
    plan: Array  # [S, H, k] the mean of what is drawn next
    worth: Array  # [S]: γ^t while the episode goes on, 0 after it
    gain: Array  # [S]
    steps: Array  # int32 [S]


def follow_samples(
    search: Search,
    model: Dynamics,
    world: Dynamics,
    task: Task,
    discount: float,
    starts: np.ndarray,
    space: ContinuousSpace,
    horizon: int | None,
    key: Array,
) -> Rollout:
    """Act in a world by plans that are made in a model at every step, from starts [S, d], as `follow` does."""
    cut = math.ceil(math.log(NEGLIGIBLE) / math.log(discount)) if discount > 0 else 1
    length, box = cut if horizon is None else int(horizon), ActionBox.of(space)
    assert box is not None
    few = jnp.asarray(starts)

    def tried(size: int) -> object:
        plan = jnp.zeros((size, search.horizon, box.size))
        return jax.make_jaxpr(partial(improved, search))(model, task, discount, box, few[:size], plan, key)

    size = fitting_batch(tried, min(STARTS, len(starts)))
    parts = [
        _follow(search, model, world, task, discount, few[first : first + size], box, key, length)
        for first in range(0, len(starts), size)
    ]
    states = np.concatenate([np.asarray(part[1]) for part in parts], axis=1)
    gain, steps = (np.concatenate([np.asarray(part[place]) for part in parts]) for place in (0, 2))
    return Rollout(gain, states, steps)


@partial(jax.jit, static_argnames=("search", "length"))
def _follow(
    search: Search,
    model: Dynamics,
    world: Dynamics,
    task: Task,
    discount: Array,
    starts: Array,
    box: ActionBox,
    key: Array,
    length: int,
) -> tuple[Array, Array, Array]:
    def step(carry: Carry, step_key: Array) -> tuple[Carry, Array]:
        plan_key, move_key = jax.random.split(step_key)
        best = improved(search, model, task, discount, box, carry.state, carry.plan, plan_key)
        after = world.draw(move_key, carry.state, best[:, 0])
        reward, continues = task.arrive(after)
        going = carry.worth > 0
        state = jnp.where(going[:, None], after, carry.state)
        onward = jnp.concatenate([best[:, 1:], best[:, -1:]], axis=1)
        gain, worth = carry.gain + carry.worth * reward, carry.worth * continues * discount
        return Carry(state, onward, worth, gain, carry.steps + going), state

    count = starts.shape[0]
    still = jnp.broadcast_to((box.low + box.high) / 2, (count, search.horizon, box.size))
    first = Carry(starts, still, jnp.ones(count), jnp.zeros(count), jnp.zeros(count, jnp.int32))
    last, path = jax.lax.scan(step, first, jax.random.split(key, length))
    return last.gain, jnp.concatenate([starts[None], path]), last.steps


def improved(
    search: Search,
    model: Dynamics,
    task: Task,
    discount: Array,
    box: ActionBox,
    state: Array,
    plan: Array,
    key: Array,
) -> Array:
    """The best sequence [S, H, k] that was found from states [S, d], beginning around a plan [S, H, k]."""
    half = (box.high - box.low) / 2

    def one_round(carry: tuple[Array, Array, Array], round_key: Array) -> tuple[tuple[Array, Array, Array], None]:
        mean, spread, best = carry
        draw_key, walk_key = jax.random.split(round_key)
        noise = jax.random.normal(draw_key, (mean.shape[0], search.samples, *mean.shape[1:]))
        tried = jnp.clip(mean[:, None] + spread[:, None] * noise, box.low, box.high).at[:, 0].set(best)  # [S, P, H, k]
        score = scores(model, task, discount, state, tried, walk_key)
        _, index = jax.lax.top_k(score, search.elites)
        elites = jnp.take_along_axis(tried, index[:, :, None, None], axis=1)
        spread = jnp.maximum(elites.std(axis=1), LEAST * half)
        return (elites.mean(axis=1), spread, elites[:, 0]), None

    first = (plan, jnp.broadcast_to(search.spread * half, plan.shape), plan)
    return jax.lax.scan(one_round, first, jax.random.split(key, search.rounds))[0][2]


def scores(model: Dynamics, task: Task, discount: Array, state: Array, tried: Array, key: Array) -> Array:
    """What sequences [S, P, H, k] are worth from states [S, d] in the model: [S, P]; the nearer of equals is better."""
    count, samples = tried.shape[:2]
    flat = jnp.repeat(state, samples, axis=0)

    def step(carry: Walk, now: tuple[Array, Array]) -> tuple[Walk, None]:
        states, worth, gain, nearest = carry
        action, step_key = now
        after = model.draw(step_key, states, action)
        reward, continues = task.arrive(after)
        nearest = jnp.where(worth > 0, jnp.minimum(nearest, task.distance(after)), nearest)
        return (after, worth * continues * discount, gain + worth * reward, nearest), None

    ahead = jnp.moveaxis(tried.reshape(count * samples, *tried.shape[2:]), 1, 0)  # [H, S P, k]
    start = (flat, jnp.ones(len(flat)), jnp.zeros(len(flat)), jnp.full(len(flat), jnp.inf))
    keys = jax.random.split(key, tried.shape[2])
    (_, _, gain, nearest), _ = jax.lax.scan(step, start, (ahead, keys))
    return (gain - NEARNESS * nearest).reshape(count, samples)
