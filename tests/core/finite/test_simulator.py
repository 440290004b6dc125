from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tests.agents.pqn.conftest import SIZE, make_goals, make_world
from wmlab.core.finite import goals as finite
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.simulator import cumulative, draw, finite_goals, finite_simulator
from wmlab.core.finite.world import FiniteWorld
from wmlab.core.randomness import generator
from wmlab.registry import RewardChoice


def keys(count: int) -> jax.Array:
    return jax.random.split(jax.random.key(0), count)


def test_successors_come_as_often_as_the_kernel_says():
    world = make_world()
    table = np.random.RandomState(0).dirichlet(np.ones(SIZE), (SIZE, 2)) * (np.arange(SIZE) != 2)
    table /= table.sum(-1, keepdims=True)
    simulator = finite_simulator(FiniteWorld(world.space, Kernel.dense(table), world.reset, 20))
    after = jax.vmap(lambda key: simulator.step(key, jnp.int32(3), jnp.int32(1)))(keys(20_000))
    frequency = np.bincount(after, minlength=SIZE) / 20_000
    np.testing.assert_allclose(frequency, table[3, 1], atol=0.015)
    assert frequency[2] == 0


def test_a_draw_never_passes_the_last_possible_outcome():
    chances = cumulative(np.array([0.1] * 10 + [0.0]))  # sums to a little less than 1 in floats
    assert chances[9] == 2.0
    assert jax.vmap(lambda key: draw(key, chances))(keys(1000)).max() == 9


def test_training_may_start_anywhere_while_resets_stay_what_they_are():
    simulator = finite_simulator(make_world(reset=2), starts="uniform")
    assert set(np.asarray(jax.vmap(simulator.reset)(keys(100)))) == {2}
    assert set(np.asarray(jax.vmap(simulator.start)(keys(100)))) == set(range(SIZE))


def test_values_of_arrivals_that_end_lie_between_nought_and_one():
    np.testing.assert_allclose(finite_goals(make_goals(4)).value_range(0.99), [0, 1])


def test_values_of_rewards_at_every_step_add_up():
    noise = np.full((1, SIZE), -1.0)
    noise[0, 4] = 0.5
    goals = Goals(noise, make_goals(4).continues, ("s4",))
    np.testing.assert_allclose(finite_goals(goals).value_range(0.99), [-100, 0.5], rtol=1e-5)


def test_hindsight_pays_a_goal_of_the_set_as_the_set_does_and_any_other_on_arrival():
    own = make_goals(4)
    perturbed = Goals(own.reward - 0.25, own.continues, own.labels)
    goals = finite_goals(perturbed, np.array([4]))
    states, at = jnp.array([4, 3, 3, 2]), jnp.array([4, 4, 3, 3])
    reward, continues = jax.vmap(goals.reward_of)(states, at)
    np.testing.assert_allclose(reward, [0.75, -0.25, 1, 0])
    np.testing.assert_allclose(continues, [0, 1, 0, 1])


def goals_on_the_chain(at: list[int], seed: int = 0, terminate: str = "on_arrival", **reward: object) -> Goals:
    return finite.make_goals(RewardChoice({"kind": "indicator", **reward}), make_world().space, at, terminate, seed)


def test_alike_in_hindsight_a_goal_outside_the_set_pays_what_the_set_pays():
    goals = finite_goals(goals_on_the_chain([4], there=2, elsewhere=-1, radius=1.5), np.array([4]), alike=True)
    after, at = jnp.array([4, 3, 2, 0]), jnp.array([4, 4, 2, 2])  # states of the chain lie sqrt(2) apart, one-hot
    reward, continues = jax.vmap(goals.reward_of)(after, at)
    np.testing.assert_array_equal(reward, [2, 2, 2, 2])
    np.testing.assert_array_equal(continues, 0)
    goals = finite_goals(goals_on_the_chain([4], there=2, elsewhere=-1), np.array([4]), alike=True)
    reward, continues = jax.vmap(goals.reward_of)(after, at)
    np.testing.assert_array_equal(reward, [2, -1, 2, -1])
    np.testing.assert_array_equal(continues, [0, 1, 0, 1])


def test_noise_in_hindsight_is_drawn_once_for_each_goal_and_state_after_that_of_the_set():
    noise = {"kind": "uniform", "low": -1, "high": 0, "seed": 7}
    drawn = generator(7, "goal noise").uniform(-1, 0, (SIZE, SIZE))
    row = [2, 1, 3, 4, 0]  # goal 4 is listed first, then goal 1; the others follow in the order of states
    expected = np.eye(SIZE) + drawn[row]  # [goal, state]
    goals = finite_goals(goals_on_the_chain([4, 1], noise=noise), np.array([4, 1]), alike=True)
    for _ in range(2):
        told = jax.vmap(lambda goal: jax.vmap(lambda state: goals.reward_of(state, goal)[0])(jnp.arange(SIZE)))
        np.testing.assert_allclose(told(jnp.arange(SIZE)), expected, rtol=1e-6)
    np.testing.assert_allclose(goals.arrive(jnp.int32(2))[0], expected[[4, 1], 2], rtol=1e-6)
    lasting, ending = expected[~np.eye(SIZE, dtype=bool)], np.diag(expected)
    bounds = min(ending.min(), lasting.min() / 0.1), max(ending.max(), lasting.max() / 0.1)
    np.testing.assert_allclose(goals.value_range(0.9), bounds, rtol=1e-5)


def test_other_noise_in_hindsight_is_no_other_program():
    @jax.jit
    def paid(goals, state, goal):
        return goals.reward_of(state, goal)

    found = set()
    for seed in (0, 1):
        goals = goals_on_the_chain([4], seed, noise={"kind": "normal", "sd": 1})
        reward, _ = paid(finite_goals(goals, np.array([4]), alike=True), jnp.int32(2), jnp.int32(3))
        found.add(float(reward))
    assert len(found) == 2
    assert paid._cache_size() == 1


def test_where_two_goals_share_a_state_hindsight_means_the_first():
    noise = {"kind": "uniform", "low": -1, "high": 0, "seed": 7}
    goals = goals_on_the_chain([2, 2], noise=noise)
    assert goals.everywhere is not None
    np.testing.assert_array_equal(goals.everywhere().reward[2], goals.reward[0])
