"""What a rollout teaches: transitions, told again for other goals, and what their values are drawn towards.

A goal that is reached ends its episode, and nothing follows; an episode cut by its time limit goes on in the
mind: its last target looks ahead from the true successor. The continue flag is the goal's, never the clock's.

Shapes: T steps, N environments, B samples of a minibatch, k retold samples per transition, G goals, A actions.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.agents.learning import Course
from wmlab.agents.pqn.networks import NetworkValues
from wmlab.agents.pqn.options import Hindsight, Options
from wmlab.agents.pqn.rollout import Transitions
from wmlab.core.goals import Features, GoalSet
from wmlab.core.perceptron import Weights
from wmlab.core.simulator import State


class Sample(NamedTuple):
    """What a minibatch is made of."""

    state: State
    action: Array
    after: State
    goal: Features | None  # features, with `goal: input`; else None
    target: Array | None  # known beforehand with λ > 0: [B, G], or [B, 1] with `goal: input`


def gather_samples(key: Array, values: NetworkValues, params: Weights, seen: Transitions) -> Sample:
    """Everything to learn from a rollout: [T N], or [T N (1 + k)] with `goal: input`."""
    options = values.options
    count = options.envs * options.rollout

    def flat(leaf: Array) -> Array:
        return leaf.reshape(count, *leaf.shape[2:])

    state, action, after = jax.tree.map(flat, (seen.state, seen.action, seen.after))
    target = trace_targets(values, params, seen) if options.trace > 0 else None
    if values.heads:
        return Sample(state, action, after, None, target)
    goal = goals_to_learn(key, values.goals, seen, options.hindsight)  # [T, N, 1 + k, ...]
    goal = jax.tree.map(lambda leaf: leaf.reshape(options.samples, *leaf.shape[3:]), goal)
    repeat = partial(jnp.repeat, repeats=options.samples // count, axis=0)
    state, action, after = jax.tree.map(repeat, (state, action, after))
    return Sample(state, action, after, goal, target)


def trace_targets(values: NetworkValues, params: Weights, seen: Transitions) -> Array:
    """λ-returns of a whole rollout, from the values before it is learnt from: [T N, G] or [T N, 1]."""
    read = values.read_by(params)

    def look(step: tuple[State, Array]) -> tuple[Array, Array, Array]:
        after, goal = step[0], None if values.heads else values.features(step[1])
        return *values.outcome(after, goal), state_value(values.options, read(after, goal))

    reward, continues, after = jax.lax.map(look, (seen.after, seen.goal))  # [T, N, G]
    everyone = jnp.arange(values.goals.count)
    pursued = seen.goal[..., None] == everyone if values.heads else jnp.ones_like(reward, bool)
    targets = lambda_returns(values.options, reward, continues, after, seen.cut, pursued)
    return targets.reshape(-1, targets.shape[-1])


# --- hindsight: each transition told again for other goals -------------------------------------------------------


def goals_to_learn(key: Array, goals: GoalSet, seen: Transitions, hindsight: Hindsight | None) -> Features:
    """Features of the goals that each transition is to teach: its own first, then the retold ones [T, N, 1 + k]."""
    pursued = jax.tree.map(lambda features: features[seen.goal][:, :, None], goals.features)
    if hindsight is None:
        return pursued
    if hindsight.strategy == "random":
        index = jax.random.randint(key, (*seen.goal.shape, hindsight.k), 0, goals.count)
        retold = jax.tree.map(lambda features: features[index], goals.features)
    else:
        ends = seen.cut if hindsight.within == "episode" else jnp.zeros_like(seen.cut)
        moment = future_moments(key, ends, hindsight.k)  # [T, N, k]
        column = jnp.arange(seen.cut.shape[1])[None, :, None]
        achieved = jax.vmap(jax.vmap(goals.achieved))(seen.after)  # [T, N, ...]
        retold = jax.tree.map(lambda features: features[moment, column], achieved)
    return jax.tree.map(lambda first, others: jnp.concatenate([first, others], axis=2), pursued, retold)


def future_moments(key: Array, cut: Array, count: int) -> Array:
    """For each step [T, N], `count` moments from itself to the end of its episode (`cut` [T, N]) or of the rollout."""
    steps = cut.shape[0]
    now = jnp.arange(steps)[:, None]  # [T, 1]
    last = jax.lax.cummin(jnp.where(cut, now, steps - 1), axis=0, reverse=True)  # [T, N]
    chance = jax.random.uniform(key, (cut.size * count,)).reshape(*cut.shape, count)
    ahead = (chance * (last - now + 1)[:, :, None]).astype(jnp.int32)
    return jnp.minimum(now[:, :, None] + ahead, last[:, :, None])  # a product may round up to the very end


# --- targets -----------------------------------------------------------------------------------------------------


def state_value(options: Course, values: Array) -> Array:
    """The value of a state under the learnt policy, from those of its actions [..., A]."""
    return values.max(axis=-1) if options.policy == "greedy" else values.mean(axis=-1)


def one_step(discount: float, reward: Array, continues: Array, after: Array) -> Array:
    """r + γ D V(s') of rewards, continue flags and values of successors, each [..., G]."""
    return reward + discount * continues * after


def lambda_returns(
    options: Options, reward: Array, continues: Array, after: Array, cut: Array, pursued: Array
) -> Array:
    """λ-returns [T, N, G] of rewards, continue flags and values of true successors, each [T, N, G].

    A return runs on only within its episode (`cut` [T, N]), and only for the goal pursued there (`pursued`
    [T, N, G]): for any other goal the behaviour says nothing of what its own policy would have done.
    """
    trace = options.trace * pursued * ~cut[..., None]

    def back(later: Array, step: tuple[Array, ...]) -> tuple[Array, Array]:
        reward, continues, after, trace = step
        target = one_step(options.discount, reward, continues, trace * later + (1 - trace) * after)
        return target, target

    trace = trace.at[-1].set(0.0)  # nothing is known beyond the rollout
    _, targets = jax.lax.scan(back, jnp.zeros_like(after[0]), (reward, continues, after, trace), reverse=True)
    return targets
