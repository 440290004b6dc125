from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.pqn.conftest import make_options
from wmlab.agents.pqn.rollout import exploration
from wmlab.agents.pqn.samples import lambda_returns, one_step, state_value
from wmlab.core.training import rate_schedule

NEVER = np.zeros((3, 1), bool)


def returns(trace: float, reward, continues, after, cut=NEVER, pursued=True) -> np.ndarray:
    """λ-returns of one environment and one goal over three steps, at γ = 1/2."""
    column = [jnp.asarray(values, jnp.float32).reshape(3, 1, 1) for values in (reward, continues, after)]
    options = make_options(discount=0.5, trace=trace)
    return np.asarray(lambda_returns(options, *column, jnp.asarray(cut), jnp.full((3, 1, 1), pursued)))[:, 0, 0]


def test_a_target_looks_ahead_unless_its_goal_is_reached():
    target = one_step(0.5, jnp.array([1.0, 1.0]), jnp.array([0.0, 1.0]), jnp.array([8.0, 8.0]))
    np.testing.assert_allclose(target, [1, 5])


def test_a_greedy_agent_expects_its_best_action_and_a_uniform_one_any():
    values = jnp.array([[0.0, 4.0]])
    assert state_value(make_options(policy="greedy"), values) == 4
    assert state_value(make_options(policy="uniform"), values) == 2


def test_a_trace_of_nought_is_one_step():
    np.testing.assert_allclose(returns(0.0, [1, 2, 3], [1, 1, 1], [4, 6, 8]), [3, 5, 7])


def test_a_full_trace_is_the_sum_of_rewards_with_the_last_successors_value():
    # 3 + 8/2 = 7;  2 + 7/2 = 5.5;  1 + 5.5/2 = 3.75
    np.testing.assert_allclose(returns(1.0, [1, 2, 3], [1, 1, 1], [4, 6, 8]), [3.75, 5.5, 7])


def test_half_a_trace_mixes_both():
    # 7;  2 + (7 + 6)/4 = 5.25;  1 + (5.25 + 4)/4 = 3.3125
    np.testing.assert_allclose(returns(0.5, [1, 2, 3], [1, 1, 1], [4, 6, 8]), [3.3125, 5.25, 7])


def test_a_goal_reached_stops_the_sum():
    cut = np.array([[False], [True], [False]])
    np.testing.assert_allclose(returns(1.0, [1, 2, 3], [1, 0, 1], [4, 6, 8], cut), [2, 2, 7])


def test_a_time_out_looks_ahead_from_the_true_successor_and_not_into_the_next_episode():
    cut = np.array([[False], [True], [False]])
    # 2 + 6/2 = 5, whatever the next episode brings;  1 + 5/2 = 3.5
    np.testing.assert_allclose(returns(1.0, [1, 2, 3], [1, 1, 1], [4, 6, 8], cut), [3.5, 5, 7])


def test_goals_that_are_not_pursued_are_taught_one_step():
    np.testing.assert_allclose(returns(1.0, [1, 2, 3], [1, 1, 1], [4, 6, 8], pursued=False), [3, 5, 7])


@pytest.mark.parametrize(("update", "expected"), [(0, 1.0), (10, 0.55), (20, 0.1), (39, 0.1)])
def test_epsilon_falls_linearly_over_its_part_of_the_training(update: int, expected: float):
    options = make_options(steps=40 * 256, explore={"from": 1.0, "to": 0.1, "over": 0.5})
    assert exploration(options, jnp.int32(update)) == pytest.approx(expected)


def test_epsilon_over_no_time_is_its_end():
    assert exploration(make_options(explore={"to": 0.2, "over": 0}), jnp.int32(0)) == pytest.approx(0.2)


@pytest.mark.parametrize(("decay", "halfway"), [("linear", 5e-4), ("cosine", 5e-4), ("constant", 1e-3)])
def test_the_learning_rate_decays_over_all_gradient_steps(decay: str, halfway: float):
    options = make_options(optimiser={"rate": 1e-3, "decay": decay})
    rate = rate_schedule(options.optimiser.rate, options.optimiser.decay, 100)
    assert rate(0) == pytest.approx(1e-3)
    assert rate(50) == pytest.approx(halfway)
    assert rate(100) == pytest.approx(1e-3 if decay == "constant" else 0.0)
