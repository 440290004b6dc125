"""What a trained network is worth, and all that it says of a finite world.

Shapes: G goals, S states, A actions, N starts.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.learning import Course
from wmlab.agents.pqn.networks import NetworkValues, StateReader
from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.rollout import Policy, RolloutDraws, draws, epsilon_greedy, own
from wmlab.core.goals import GoalSet
from wmlab.core.perceptron import Weights
from wmlab.core.simulator import Simulator

NEGLIGIBLE = 1e-6  # rewards that are discounted below this are not waited for


def returns(params: Weights, key: Array, simulator: Simulator, goals: GoalSet, options: Options, starts: int) -> Array:
    """Mean discounted return [G] of the learnt policy on each goal, over episodes from `starts` resets."""
    return returns_of(NetworkValues(simulator, goals, options).policy(params), key, simulator, goals, options, starts)


def returns_of(policy: Policy, key: Array, simulator: Simulator, goals: GoalSet, options: Course, starts: int) -> Array:
    """The same for any values to act on."""
    reset_key, chance_key = jax.random.split(key)
    count = starts * goals.count
    chances = draws(chance_key, (episode_length(simulator, options), count))
    state = jax.vmap(simulator.reset)(jax.random.split(reset_key, starts))
    state = jax.tree.map(lambda leaf: jnp.tile(leaf, (goals.count, *[1] * (leaf.ndim - 1))), state)  # [G N]
    goal = jnp.repeat(jnp.arange(goals.count), starts)
    epsilon = jnp.float32(options.policy == "uniform")

    def step(carry: tuple, chance: RolloutDraws) -> tuple[tuple, None]:
        state, worth, gain = carry  # worth: γ^t while the episode goes on, 0 after it
        action = epsilon_greedy(chance, policy(state, goal), epsilon)
        state = jax.vmap(simulator.step)(chance.step, state, action)
        reward, continues = (own(values, goal) for values in jax.vmap(goals.arrive)(state))
        return (state, worth * continues * options.discount, gain + worth * reward), None

    (_, _, gain), _ = jax.lax.scan(step, (state, jnp.ones(count), jnp.zeros(count)), chances)
    return gain.reshape(goals.count, starts).mean(axis=1)


def episode_length(simulator: Simulator, options: Course) -> int:
    """Steps until an episode is cut, or until what follows is negligible."""
    if options.discount == 0:
        return 1
    return min(simulator.horizon, math.ceil(math.log(NEGLIGIBLE) / math.log(options.discount)))


def q_values(
    params: dict[str, np.ndarray],
    reader: StateReader,
    goals: GoalSet,
    options: Options,
    states: np.ndarray | None = None,
) -> np.ndarray:
    """Q [G, S, A] of a finite world, or of the states [S] given (a pytree of them in a continuous world)."""
    chosen = jnp.arange(reader.states) if states is None else jax.tree.map(jnp.asarray, states)
    return np.asarray(_q_values(params, chosen, reader, goals, options))


@partial(jax.jit, static_argnames="options")
def _q_values(params: Weights, states: Array, reader: StateReader, goals: GoalSet, options: Options) -> Array:
    values = NetworkValues(reader, goals, options)
    if values.heads:
        return jnp.moveaxis(values.network(params, states, None), 1, 0)
    count = jax.tree.leaves(states)[0].shape[0]

    def of_goal(goal: Array) -> Array:
        return values.network(params, states, values.features(jnp.full(count, goal)))[:, 0]

    return jax.lax.map(of_goal, jnp.arange(goals.count))
