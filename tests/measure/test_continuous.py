"""Errors of models of continuous worlds, and of values in them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import FunctionDynamics, certain, world
from tests.making import continuous_goals
from wmlab.core.continuous.grid import grid_of
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.measure.continuous.model_error import error_map, errors_of, model_distance
from wmlab.measure.continuous.moves import sample_errors
from wmlab.measure.continuous.value_error import Probes, exact_values, grid_states, read_grid
from wmlab.measure.continuous.yardstick_errors import SmoothContinuation, unwrapped_error

CAR, ARM = world("MountainCar-v0"), world("Reacher-misc")
STILL = certain(lambda states, actions: states)
KEY = jax.random.key(0)


def no_wall(states, actions):
    """MountainCar whose wall does not stop the car."""
    position, velocity = states[:, 0], states[:, 1]
    velocity = jnp.clip(velocity + (actions - 1) * 0.001 - jnp.cos(3 * position) * 0.0025, -0.07, 0.07)
    return jnp.stack([jnp.clip(position + velocity, -1.2, 0.6), velocity], axis=1)


NO_WALL = certain(no_wall)


@pytest.fixture(scope="module")
def car_states():
    return CAR.space.sample(np.random.default_rng(3), 250_000, "uniform")


def test_a_car_that_never_moves_already_has_a_small_nmse(car_states):
    found = errors_of(sample_errors(CAR.space, CAR.dynamics, STILL, car_states, KEY))
    assert found["wm.nmse"]["value"] == pytest.approx(1.13e-2, rel=0.06)
    assert found["wm.identity_nmse"] == found["wm.nmse"]
    assert found["wm.delta_nmse"]["value"] == pytest.approx(1, rel=0.02)


def test_a_model_that_misses_the_wall_alone_is_perfect_in_the_interior(car_states):
    sampled = sample_errors(CAR.space, CAR.dynamics, NO_WALL, car_states, KEY)
    found = errors_of(sampled)
    assert found["wm.nmse"]["value"] == pytest.approx(6.5e-3, rel=0.06)
    assert found["wm.delta_nmse"]["by"]["dimension"]["velocity"] > 0.5
    assert found["wm.delta_nmse_interior"]["value"] < 1e-9
    seen = error_map(sampled, ("position", "velocity"), 20)
    assert np.nansum(seen["error"][2:]) < 1e-9 < np.nansum(seen["error"][0])


def test_the_error_of_missing_walls_alone_is_that_of_a_car_without_its_wall(car_states):
    smooth = SmoothContinuation(CAR.dynamics, CAR.space)
    missing, without = (
        errors_of(sample_errors(CAR.space, CAR.dynamics, model, car_states, KEY)) for model in (smooth, NO_WALL)
    )
    assert missing["wm.nmse"]["value"] == pytest.approx(without["wm.nmse"]["value"], rel=0.02)
    assert missing["wm.delta_nmse_interior"]["value"] == 0
    apart = model_distance(sample_errors(CAR.space, NO_WALL, smooth, car_states, KEY))["nmse"]["value"]
    assert apart < 0.01 * without["wm.nmse"]["value"]


def test_angles_that_are_compared_as_numbers_are_wrong_by_whole_turns():
    states = ARM.space.sample(np.random.default_rng(0), 100_000, "reset")
    true = ARM.dynamics.step(states, jnp.zeros(len(states), int), jnp.zeros((len(states), 0)))
    off = 0.01 * np.random.default_rng(1).normal(size=(len(states), 2)) @ np.eye(2, 4)
    sampled = sample_errors(ARM.space, certain(lambda s, a: true), certain(lambda s, a: true + off), states, KEY)
    raw = np.asarray(ARM.space.settle(np.asarray(true) + off)) - np.asarray(ARM.space.settle(np.asarray(true)))
    found = unwrapped_error(sampled)
    assert errors_of(sampled)["wm.mse"]["value"] == pytest.approx(6.7e-5, rel=0.03)
    assert found["value"] == pytest.approx(1.6e-2, rel=0.1)
    assert found["by"]["dimension"]["theta1"] == pytest.approx((raw[:, 0] ** 2).mean(), rel=0.02)
    assert found["by"]["dimension"]["x"] == pytest.approx(1e-4, rel=0.03)  # two joints, each by half of it


def test_an_arm_that_never_moves_has_an_error_over_six_dimensions():
    states = ARM.space.sample(np.random.default_rng(0), 100_000, "reset")
    found = errors_of(sample_errors(ARM.space, ARM.dynamics, STILL, states, KEY))
    assert found["wm.nmse"]["value"] == pytest.approx(2.0e-3, rel=0.02)
    assert list(found["wm.nmse"]["by"]["dimension"]) == ["theta1", "theta2", "omega1", "omega2", "x", "y"]
    assert len(found["wm.nmse"]["by"]["action"]) == 9


def test_the_true_dynamics_have_no_error_and_angles_are_compared_on_the_circle():
    states = ARM.space.sample(np.random.default_rng(0), 5_000, "reset")
    turned = certain(lambda s, a: ARM.dynamics.step(s, a, jnp.zeros((len(s), 0))) + 2 * jnp.pi * jnp.eye(4)[0])
    assert errors_of(sample_errors(ARM.space, ARM.dynamics, ARM.dynamics, states, KEY))["wm.nmse"]["value"] == 0
    assert errors_of(sample_errors(ARM.space, ARM.dynamics, turned, states, KEY))["wm.nmse"]["value"] < 1e-10


def test_two_models_that_miss_the_same_wall_are_close_to_each_other(car_states):
    apart = model_distance(sample_errors(CAR.space, NO_WALL, NO_WALL, car_states, KEY))
    assert apart["nmse"]["value"] == 0
    assert model_distance(sample_errors(CAR.space, NO_WALL, STILL, car_states, KEY))["nmse"]["value"] > 1e-3


LINE = ContinuousSpace((Variable("x", -9, 9),), ("go",), ("u",), ((0.0,),), ((-1, 1),))


def noisy(sd, drift=0.5):
    return FunctionDynamics(jnp.array([sd, drift]), _gust, 1)


def _gust(params, states, actions, noise):
    return states + params[1] + params[0] * noise


def test_spread_and_energy_tell_a_model_that_is_too_sure():
    states = LINE.sample(np.random.default_rng(0), 2_000, "uniform")
    same, narrow, shifted = (
        errors_of(sample_errors(LINE, noisy(1.0), model, states, KEY, draws=200))
        for model in (noisy(1.0), noisy(0.5), noisy(1.0, drift=2.5))
    )
    assert same["wm.sd_ratio"]["value"] == pytest.approx(1, abs=0.01)
    assert narrow["wm.sd_ratio"]["value"] == pytest.approx(0.5, abs=0.01)
    assert abs(same["wm.energy"]["value"]) < 0.002 < narrow["wm.energy"]["value"] < shifted["wm.energy"]["value"]
    assert shifted["wm.nmse"]["value"] == pytest.approx(4 / (18**2 / 12), rel=0.05)


def test_what_was_never_seen_has_no_error_to_report():
    at_the_wall = np.full((9, 2), [-1.2, -0.07], np.float32)
    found = errors_of(sample_errors(CAR.space, CAR.dynamics, STILL, at_the_wall, KEY))
    assert found["wm.delta_nmse_interior"]["value"] is None and "wm.sd_ratio" not in found


GOALS = {"reward": {"kind": "indicator", "radius": 0.1}, "at": {"position": [-1.0, 0.5]}}


def test_values_of_a_grid_are_the_grids_own_and_worse_ones_are_further_from_the_best():
    goals, grid = continuous_goals(GOALS, CAR.space), grid_of(CAR.space, 30)
    best = [np.asarray(exact_values(grid, CAR.dynamics, goals, goal, None, 0.99, 3)).T for goal in range(2)]
    states = grid_states(grid)
    probes = Probes.of(states, 3)
    own, worse = (
        read_grid(grid, CAR.dynamics, goals, lambda goal, gap=gap: best[goal] + gap, 0.99, "greedy", probes)
        for gap in (0.0, 0.1)
    )
    expected = np.stack([probes.chosen(values) for values in best])
    np.testing.assert_allclose(own.own, expected, atol=2e-4)
    np.testing.assert_allclose(worse.own, own.own)  # the same policy
    assert own.off.max() < 2e-4 and worse.off == pytest.approx([0.1, 0.1], abs=1e-3)
    assert states.shape == (900, 2)


def test_the_values_of_a_uniform_policy_are_below_the_best():
    goals, grid = continuous_goals(GOALS, CAR.space), grid_of(CAR.space, 30)
    anything = jnp.full((3, grid.count), 1 / 3)
    loose, best = (exact_values(grid, CAR.dynamics, goals, 1, policy, 0.99, 3) for policy in (anything, None))
    assert float((best - loose).min()) > -1e-4 and float((best - loose).max()) > 0.2
