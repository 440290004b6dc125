"""What a view of a trained network says, and what it does not."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import world
from wmlab.agents.pqn import networks
from wmlab.agents.pqn.evaluate import q_values
from wmlab.agents.pqn.networks import agent_view, space_reader
from wmlab.agents.pqn.options import Network, Options
from wmlab.bench.loads import POSITIONS
from wmlab.core.continuous.goals import continuous_goals

CAR = world("MountainCar-v0").space


def make(goal: str, seed: int = 0):
    options = Options(network=Network(1, 8, goal=goal, encoding="normalised"))
    reader, goals = space_reader(CAR, options), continuous_goals(POSITIONS, CAR, "normalised")
    weights = networks.init(jax.random.key(seed), reader, goals, options.network)
    return weights, reader, goals, options


@pytest.mark.parametrize("goal", ["head", "input"])
def test_a_view_has_the_networks_values_for_all_goals_and_for_one(goal):
    weights, reader, goals, options = make(goal)
    view = agent_view(weights, CAR, goals, options)
    states = view.sample(jax.random.key(1), 5)
    expected = np.moveaxis(q_values(weights, reader, goals, options, states), 0, 1)  # [N, G, A]
    np.testing.assert_allclose(view.values(states), expected, rtol=1e-5)
    own = jnp.array([[3], [0], [1], [2], [2]])
    np.testing.assert_allclose(view.values_at(states, own)[:, 0], expected[np.arange(5), own[:, 0]], rtol=1e-5)
    reward, continues = view.arrive_at(jnp.array([[0.6, 0.0]]), jnp.array([[3]]))
    assert (float(reward[0, 0]), float(continues[0, 0])) == (1.0, 0.0)


def test_two_agents_share_one_program_and_no_step_can_be_taken():
    one, other = (agent_view(*make("head", seed)[:1], CAR, *make("head")[2:]) for seed in (0, 1))
    assert jax.tree.structure(one) == jax.tree.structure(other)
    assert not hasattr(one.reader, "step")


def test_states_are_drawn_where_the_spec_says():
    weights, _, goals, options = make("head")
    wide, narrow = (
        agent_view(weights, CAR, goals, options, states).sample(jax.random.key(0), 200)
        for states in ("uniform", "reset")
    )
    assert np.ptp(wide[:, 0]) > 1.6 and np.ptp(wide[:, 1]) > 0.12
    assert (narrow[:, 1] == 0).all() and narrow[:, 0].min() >= -0.6 and narrow[:, 0].max() <= -0.4


def test_a_one_hot_encoding_of_a_continuous_state_is_refused():
    options = make("head")[3]
    one_hot = dataclasses.replace(options, network=dataclasses.replace(options.network, encoding="one_hot"))
    with pytest.raises(ValueError, match="no one-hot encoding"):
        space_reader(CAR, one_hot)
