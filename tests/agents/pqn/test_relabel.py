from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tests.agents.pqn.conftest import make_options
from wmlab.agents.pqn import to_act_in
from wmlab.agents.pqn.learner import gather_samples
from wmlab.agents.pqn.networks import NetworkValues
from wmlab.agents.pqn.options import Hindsight
from wmlab.agents.pqn.rollout import Transitions
from wmlab.agents.pqn.samples import future_moments, goals_to_learn, one_step
from wmlab.core.finite import goals as finite
from wmlab.registry import RewardChoice

# Two environments walk for four steps; the first is cut after its second step.
STATE = jnp.array([[1, 3], [2, 3], [1, 2], [2, 1]])
AFTER = jnp.array([[2, 3], [3, 2], [2, 1], [3, 0]])
CUT = jnp.array([[False, False], [True, False], [False, False], [False, False]])
SEEN = Transitions(STATE, jnp.ones((4, 2), jnp.int32), AFTER, jnp.array([[0, 1]] * 4), CUT, jnp.zeros((4, 2)))


def test_future_moments_stay_within_the_episode():
    moments = np.asarray(future_moments(jax.random.key(0), CUT, 200))
    assert [set(moments[step, 0]) for step in range(4)] == [{0, 1}, {1}, {2, 3}, {3}]
    assert [set(moments[step, 1]) for step in range(4)] == [{0, 1, 2, 3}, {1, 2, 3}, {2, 3}, {3}]


def test_the_goal_pursued_comes_first_and_then_states_reached_later(chain):
    learnt = np.asarray(goals_to_learn(jax.random.key(0), chain.goal_set, SEEN, Hindsight("future", 50)))
    assert learnt.shape == (4, 2, 51)
    np.testing.assert_array_equal(learnt[:, :, 0], [[0, 4]] * 4)
    assert set(learnt[0, 0, 1:]) == {2, 3}  # its own successor, and the one at the cut
    assert set(learnt[1, 0, 1:]) == {3}  # nothing from the next episode
    assert set(learnt[2, 1, 1:]) == {1, 0}


def test_hindsight_within_a_rollout_crosses_new_starts(chain):
    hindsight = Hindsight("future", 50, within="rollout")
    learnt = np.asarray(goals_to_learn(jax.random.key(0), chain.goal_set, SEEN, hindsight))
    assert set(learnt[1, 0, 1:]) == {3, 2}  # states after the cut among them
    assert set(learnt[3, 0, 1:]) == {3}


def test_random_hindsight_draws_from_the_set(chain):
    learnt = np.asarray(goals_to_learn(jax.random.key(0), chain.goal_set, SEEN, Hindsight("random", 50)))
    assert set(learnt[..., 1:].ravel()) == {0, 4}


def test_without_hindsight_only_the_goal_pursued_is_taught(chain):
    assert goals_to_learn(jax.random.key(0), chain.goal_set, SEEN, None).shape == (4, 2, 1)


def test_a_relabelled_goal_reached_ends_that_relabelled_episode(chain):
    options = make_options(network={"goal": "input"}, envs=2, rollout=4, hindsight={"strategy": "future", "k": 3})
    values = NetworkValues(chain.simulator, chain.goal_set, options)
    samples = gather_samples(jax.random.key(1), values, {}, SEEN)
    assert samples.goal.shape == samples.state.shape == (4 * 2 * 4,)
    reward, continues = values.outcome(samples.after, samples.goal)
    reached = np.asarray(samples.after == samples.goal)
    assert 0 < reached.sum() < len(reached)
    target = one_step(0.9, reward, continues, jnp.full_like(reward, 100.0))[:, 0]
    np.testing.assert_allclose(target, np.where(reached, 1.0, 90.0))


def test_goals_outside_the_set_pay_alike_where_the_agent_says_so(chain):
    reward = RewardChoice({"kind": "indicator", "noise": {"kind": "uniform", "low": -1, "high": 0, "seed": 0}})
    goals = finite.make_goals(reward, chain.world.space, [0, 4], "on_arrival", 0)
    hindsight = {"strategy": "future", "k": 3, "outside": "alike"}
    options = make_options(network={"goal": "input"}, envs=2, rollout=4, hindsight=hindsight)
    simulator, aims = to_act_in(options, chain.world, goals, np.array([0, 4]))
    values = NetworkValues(simulator, aims, options)
    samples = gather_samples(jax.random.key(1), values, {}, SEEN)
    assert set(np.asarray(samples.goal)) > {0, 4}
    reward, continues = values.outcome(samples.after, samples.goal)
    np.testing.assert_allclose(reward[:, 0], goals.everywhere().reward[samples.goal, samples.after], rtol=1e-6)
    np.testing.assert_array_equal(continues[:, 0], samples.after != samples.goal)
