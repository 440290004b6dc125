"""Acting in many environments side by side.

Shapes: N environments, T steps of a rollout, G goals, A actions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.agents.learning import Course
from wmlab.agents.pqn.options import Explore, Options
from wmlab.core.goals import GoalSet
from wmlab.core.simulator import Simulator, State

Policy = Callable[[State, Array], Array]  # states [N], goals int32 [N] -> values [N, A] of each one's own goal


class Environments(NamedTuple):
    """Where each environment stands."""

    state: State  # [N]
    goal: Array  # int32 [N]: which goal of the set it pursues
    time: Array  # int32 [N]: steps since its episode began
    gain: Array  # [N]: discounted return of its episode so far


class Transitions(NamedTuple):
    """What happened in a rollout. `after` is the true successor, never the state after a reset."""

    state: State  # [T, N]
    action: Array  # int32 [T, N]
    after: State  # [T, N]
    goal: Array  # int32 [T, N]
    cut: Array  # bool [T, N]: the episode was over after this step, its goal reached or its time up
    gain: Array  # [T, N]: discounted return up to this step


class RolloutDraws(NamedTuple):
    """All that chance decides in a rollout, drawn at once: one call is far cheaper than many within a loop."""

    explore: Array  # [T, N] in [0, 1)
    action: Array  # [T, N] in [0, 1)
    goal: Array  # [T, N] in [0, 1)
    step: Array  # [T, N] keys
    start: Array  # [T, N] keys


def draws(key: Array, shape: tuple[int, ...]) -> RolloutDraws:
    """Draws of this shape. Random words are as good as keys as keys that are split."""
    words = jax.random.bits(key, (7 * math.prod(shape),), jnp.uint32)
    words = jax.lax.optimization_barrier(words).reshape(7, *shape)  # drawn once, not once per reader
    unit = (words[:3] >> 8) * jnp.float32(2**-24)  # a float holds 24 bits
    step, start = (
        jax.random.wrap_key_data(jnp.stack(pair, axis=-1), impl="threefry2x32") for pair in (words[3:5], words[5:])
    )
    return RolloutDraws(unit[0], unit[1], unit[2], step, start)


def begin(key: Array, simulator: Simulator, goals: GoalSet, options: Course) -> Environments:
    """Fresh episodes everywhere."""
    chance = draws(key, (options.envs,))
    state = jax.vmap(simulator.start)(chance.start)
    return Environments(state, any_goal(chance, goals), jnp.zeros(options.envs, jnp.int32), jnp.zeros(options.envs))


def rollout(
    key: Array,
    simulator: Simulator,
    goals: GoalSet,
    options: Course,
    policy: Policy,
    epsilon: Array,
    envs: Environments,
) -> tuple[Environments, Transitions]:
    """T steps of ε-greedy behaviour in each environment [N], with a chance `epsilon` [] of a random action."""

    def step(envs: Environments, chance: RolloutDraws) -> tuple[Environments, Transitions]:
        action = epsilon_greedy(chance, policy(envs.state, envs.goal), epsilon)
        return act(chance, simulator, goals, options, action, envs)

    return jax.lax.scan(step, envs, draws(key, (options.rollout, options.envs)))


def act(
    chance: RolloutDraws, simulator: Simulator, goals: GoalSet, options: Course, action: Array, envs: Environments
) -> tuple[Environments, Transitions]:
    """One step in each environment, and a new episode wherever the last is over; transitions are [N]."""
    after = jax.vmap(simulator.step)(chance.step, envs.state, action)
    reward, continues = (own(values, envs.goal) for values in jax.vmap(goals.arrive)(after))
    gain = envs.gain + options.discount**envs.time * reward
    cut = (continues == 0) | (envs.time + 1 >= simulator.horizon)
    moved = Environments(after, envs.goal, envs.time + 1, gain)
    seen = Transitions(envs.state, action, after, envs.goal, cut, gain)
    return restart(chance, simulator, goals, options, moved, cut, continues == 0), seen


def epsilon_greedy(chance: RolloutDraws, values: Array, epsilon: Array) -> Array:
    """The best action of values [N, A], or any action with chance ε."""
    anything = (chance.action * values.shape[1]).astype(jnp.int32)
    return jnp.where(chance.explore < epsilon, anything, jnp.argmax(values, axis=-1).astype(jnp.int32))


def restart(
    chance: RolloutDraws,
    simulator: Simulator,
    goals: GoalSet,
    options: Course,
    envs: Environments,
    cut: Array,
    arrived: Array,
) -> Environments:
    """A new episode with a new goal where the last was cut, bool [N]; those that end at once share starts in turn.

    Those that have arrived at their goals, bool [N], take starts of their own where the options say so.
    """
    ratio = options.resets.ratio if options.resets else 1
    own_starts = options.resets is not None and options.resets.on_arrival == "own"
    fresh = -(-options.envs // ratio)
    starts = jax.vmap(simulator.start)(chance.start if own_starts else chance.start[:fresh])
    turn = (jnp.cumsum(cut) - 1) % fresh if ratio > 1 else jnp.arange(options.envs)
    turn = jnp.where(arrived, jnp.arange(options.envs), turn) if own_starts else turn

    def renew(start: Array, current: Array) -> Array:
        return jnp.where(cut.reshape(-1, *[1] * (current.ndim - 1)), start[turn], current)

    return Environments(
        jax.tree.map(renew, starts, envs.state),
        jnp.where(cut, any_goal(chance, goals), envs.goal),
        jnp.where(cut, 0, envs.time),
        jnp.where(cut, 0.0, envs.gain),
    )


def any_goal(chance: RolloutDraws, goals: GoalSet) -> Array:
    """Goals of the set, each as likely."""
    return (chance.goal * goals.count).astype(jnp.int32)


def own(values: Array, goal: Array) -> Array:
    """From values [N, G, ...] of all goals, each row's own: [N, ...]."""
    return jax.vmap(lambda row, index: row[index])(values, goal)


def exploration(options: Options, update: Array) -> Array:
    """The chance [] of a random action in an update, int []; 1 where the policy is uniform."""
    if options.policy == "uniform":
        return jnp.float32(1.0)
    return falling(options.explore, update, options.updates)


def falling(explore: Explore, update: Array, updates: int) -> Array:
    """ε [] in an update, int [], of so many: linear from `from` to `to` over its part of them, then constant."""
    span = explore.over * updates
    progress = jnp.clip(update / span, 0.0, 1.0) if span > 0 else 1.0
    return jnp.float32(explore.from_ + (explore.to - explore.from_) * progress)
