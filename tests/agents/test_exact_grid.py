"""Exact values of a continuous world: against plain value iteration on SciPy's interpolation, and consistent."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from tests.making import continuous_goals
from wmlab.agents.exact.values import make_values
from wmlab.core.continuous.grid import grid_view
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.rollouts import follow_values
from wmlab.registry import Scope, agents, mdps

DISCOUNT = 0.9
GOALS = {
    "reward": {"kind": "indicator", "radius": {"position": 0.2, "velocity": 0.02}},
    "at": [{"position": 0.5}, {"velocity": -0.04}],
}
CAR = mdps["gymnax"].run(mdps["gymnax"].build({"env": "MountainCar-v0"}), 0)


@pytest.fixture(scope="module")
def aims():
    return continuous_goals(GOALS, CAR.space)


def build(**options):
    return agents["exact"].build({"discount": DISCOUNT, "grid": {"position": 31, "velocity": 21}, **options})


@pytest.fixture(scope="module")
def best(aims):
    return make_values(build(), CAR, aims)


def swept(aims, policy):
    """Q [G, A, N] by 200 sweeps in NumPy, with SciPy between the points."""
    axes = (np.linspace(-1.2, 0.6, 31), np.linspace(-0.07, 0.07, 21))
    states = np.array(list(itertools.product(*axes)), np.float32)
    after = [np.asarray(CAR.dynamics.draw(jax_key(0, ""), states, jnp.full(len(states), a))) for a in range(3)]
    found = []
    for goal in range(2):
        paid = [np.stack(jax.vmap(aims.arrive)(row), axis=-1)[:, goal] for row in after]  # reward, continues
        value = np.zeros(len(states))
        for _ in range(200):
            read = RegularGridInterpolator(axes, value.reshape(31, 21))
            places = [np.clip(row, [-1.2, -0.07], [0.6, 0.07]) for row in after]
            q = np.stack([p[:, 0] + DISCOUNT * p[:, 1] * read(at) for p, at in zip(paid, places, strict=True)])
            value = q.max(axis=0) if policy == "optimal" else q.mean(axis=0)
        found.append(q)
    return np.stack(found)


@pytest.mark.parametrize("policy", ["optimal", "uniform"])
def test_exact_values_are_those_of_plain_value_iteration(aims, best, policy):
    grid, q = best if policy == "optimal" else make_values(build(policy=policy), CAR, aims)
    assert grid.shape == (31, 21) and q.shape == (2, 3, 651)
    np.testing.assert_allclose(q, swept(aims, policy), atol=2e-5)


def test_at_the_points_of_the_grid_the_truth_leaves_no_residual(aims, best):
    view = grid_view(q := best[1], grid := best[0], CAR.space, aims, DISCOUNT, "greedy")
    states = np.array(list(itertools.product(*grid.axes())), np.float32)
    np.testing.assert_allclose(view.values(states), np.moveaxis(q, -1, 0), atol=1e-5)
    for action in range(3):
        after = CAR.dynamics.draw(jax_key(0, ""), states, jnp.full(len(states), action))
        backup = view.backup(after, view.all_goals(len(states)))
        np.testing.assert_allclose(backup, q[:, action].T, atol=2e-5)


def test_a_policy_followed_in_the_world_earns_what_its_values_promise(aims, best):
    view = grid_view(best[1], best[0], CAR.space, aims, DISCOUNT, "greedy")
    starts = np.array([[0.2, 0.03], [0.4, -0.01]], np.float32)
    ways = follow_values(view, CAR.dynamics, starts, 1, 40, jax_key(0, ""))
    assert ways.states.shape == (41, 2, 2)
    np.testing.assert_allclose(ways.returns, DISCOUNT ** (ways.steps - 1), rtol=1e-5)
    np.testing.assert_allclose(ways.returns, view.values(starts)[:, 1].max(axis=-1), atol=0.15)
    assert (np.abs(ways.states[-1, :, 1] + 0.04) <= 0.02 + 1e-6).all()


def test_what_only_a_finite_world_can_mean_is_refused_in_a_continuous_one():
    scope = Scope(CAR.space)
    options = agents["exact"].build({"discounts": (0.9,), "temperature": 0.1, "policy": {"kind": "random"}})
    found = {finding.path[0]: finding.message for finding in agents["exact"].check(options, scope)}
    assert found["discounts"] == found["temperature"] == "needs a finite world"
    assert found["grid"] == "in a continuous world, exact values stand on a grid of states"
    assert set(found) == {"discounts", "temperature", "policy", "discount", "grid"}
    assert not list(agents["exact"].check(build(), scope))
