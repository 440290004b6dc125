from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tests.agents.pqn.conftest import SIZE, make_goals, make_options, make_world
from wmlab.agents.pqn.rollout import Environments, begin, draws, epsilon_greedy, restart, rollout
from wmlab.core.finite.simulator import finite_goals, finite_simulator


def walk(world, goals, action: int, options):
    """A rollout of an agent that always takes the same action."""
    simulator, goal_set = finite_simulator(world), finite_goals(goals)
    envs = begin(jax.random.key(0), simulator, goal_set, options)
    values = jnp.zeros((options.envs, 2)).at[:, action].set(1.0)
    return rollout(jax.random.key(1), simulator, goal_set, options, lambda state, goal: values, jnp.float32(0), envs)


def test_an_episode_ends_where_its_goal_is_reached_and_the_next_one_starts_afresh():
    _, seen = walk(make_world(reset=2), make_goals(4), 1, make_options(envs=2, rollout=6))
    np.testing.assert_array_equal(seen.state[:, 0], [2, 3, 2, 3, 2, 3])
    np.testing.assert_array_equal(seen.after[:, 0], [3, 4, 3, 4, 3, 4])
    np.testing.assert_array_equal(seen.cut[:, 0], [False, True] * 3)
    np.testing.assert_allclose(seen.gain[:, 0], [0, 0.9] * 3)


def test_a_time_out_is_not_a_termination():
    goals = make_goals(4)
    envs, seen = walk(make_world(horizon=3, reset=2), goals, 0, make_options(envs=2, rollout=4))
    np.testing.assert_array_equal(seen.cut[:, 0], [False, False, True, False])
    np.testing.assert_array_equal(seen.after[:, 0], [1, 0, 0, 1])  # the true successor, not the reset to 2
    _, continues = jax.vmap(finite_goals(goals).arrive)(seen.after[:, 0])
    np.testing.assert_array_equal(continues[:, 0], np.ones(4))  # so the target still looks ahead
    np.testing.assert_array_equal(envs.time, [1, 1])


def test_a_world_without_a_horizon_never_times_out():
    _, seen = walk(make_world(horizon=None, reset=2), make_goals(4), 0, make_options(envs=1, rollout=100))
    assert not seen.cut.any()


def test_optimistic_resets_share_few_fresh_starts_in_turn():
    options = make_options(envs=8, resets={"kind": "optimistic", "ratio": 4})
    simulator, goals = finite_simulator(make_world()), finite_goals(make_goals(0, 4))
    envs = Environments(jnp.full(8, SIZE), jnp.zeros(8, jnp.int32), jnp.full(8, 7), jnp.ones(8))
    cut = jnp.array([True, False, True, True, False, True, False, False])
    after = restart(draws(jax.random.key(3), (8,)), simulator, goals, options, envs, cut, cut)
    ended = np.asarray(after.state)[np.asarray(cut)]
    assert ended.max() < SIZE
    np.testing.assert_array_equal(ended[:2], ended[2:])  # two fresh starts serve four
    np.testing.assert_array_equal(np.asarray(after.state)[~np.asarray(cut)], SIZE)
    np.testing.assert_array_equal(after.time, np.where(cut, 0, 7))
    np.testing.assert_array_equal(after.gain, np.where(cut, 0, 1))


def test_who_arrives_may_take_a_start_of_its_own():
    options = make_options(envs=8, resets={"kind": "optimistic", "ratio": 8, "on_arrival": "own"})
    simulator, goals = finite_simulator(make_world()), finite_goals(make_goals(0, 4))
    envs = Environments(jnp.full(8, SIZE), jnp.zeros(8, jnp.int32), jnp.full(8, 7), jnp.ones(8))
    arrived = jnp.arange(8) < 6
    chance = draws(jax.random.key(3), (8,))
    after = restart(chance, simulator, goals, options, envs, jnp.ones(8, bool), arrived)
    own = jax.vmap(simulator.start)(chance.start)
    assert len(set(np.asarray(own))) > 1
    np.testing.assert_array_equal(after.state[:6], own[:6])
    np.testing.assert_array_equal(after.state[6:], own[0])  # those whose time is up share the one fresh start


def test_epsilon_is_the_chance_of_any_action():
    values = jnp.tile(jnp.array([0.0, 1.0, 0.5]), (30_000, 1))
    actions = epsilon_greedy(draws(jax.random.key(0), (30_000,)), values, jnp.float32(0.3))
    shares = np.bincount(actions, minlength=3) / 30_000
    np.testing.assert_allclose(shares, [0.1, 0.8, 0.1], atol=0.01)
