from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tests.agents.pqn.conftest import SIZE, make_goals, make_world
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.simulator import cumulative, draw, finite_goals, finite_simulator
from wmlab.core.finite.world import FiniteWorld


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
