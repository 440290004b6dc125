"""Interpolation, values and plans on grids of states."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from tests.environments import FunctionDynamics, certain, world
from tests.making import unseen_task
from wmlab.core.continuous.grid import Grid, grid_of, interpolate, locate, own_weight, pad, points, read, refine
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.planning import grid_value_iteration as solver
from wmlab.planning.continuous import plan as grid_plan
from wmlab.planning.continuous.solver import (
    action_values,
    mixed_values,
    optimal_values,
    policy_values,
    swept_values,
    tabulate,
)
from wmlab.planning.grid_value_iteration import planning_bytes
from wmlab.registry import Scope

LINE = ContinuousSpace((Variable("x", 0, 10, "clip"),), ("left", "right"), ("u",), ((-1.0,), (1.0,)), ((0, 10),))
WALK = FunctionDynamics((), lambda params, states, actions, noise: jnp.clip(states + (2 * actions[:, None] - 1), 0, 10))
GUSTY = FunctionDynamics((), lambda params, states, actions, noise: states + 2.0 * actions[:, None] - 1 + noise, 1)
CAR = world("MountainCar-v0")
MORE = {"space": CAR.space, "discount": 0.99, "key": jax.random.key(0)}
HILL = {"reach": {"position": 0.5}, "within": 0.1}
TIGHT = (1e-6, 10_000)
read_at, at_points = (jax.jit(function, static_argnums=0) for function in (interpolate, points))
values_of = jax.jit(action_values, static_argnums=0)


def solved(space, dynamics, goal, size, discount=0.9):
    grid = grid_of(space, size)
    table = tabulate(grid, dynamics, unseen_task(goal, space), discount, len(space.actions))
    return grid, table, optimal_values(grid, table, jnp.zeros(grid.count), *TIGHT)


def test_interpolation_is_exact_for_multilinear_functions_and_clamps_beyond_the_ends():
    grid = Grid((4, 5, 3), (0, 0, 0), (3, 8, 1), (False,) * 3)
    states = at_points(grid, jnp.arange(grid.count))
    values = states[:, 0] * states[:, 1] + 3 * states[:, 2]
    asked = jnp.array([[1.5, 3.3, 0.2], [9.0, 8.0, 1.0]])
    np.testing.assert_allclose(read_at(grid, values, asked), [1.5 * 3.3 + 0.6, 27], rtol=1e-5)


def test_a_periodic_axis_has_no_seam():
    grid = Grid((8,), (-math.pi,), (math.pi,), (True,))
    values = jnp.arange(8.0)
    between = read_at(grid, values, jnp.array([[math.pi - math.pi / 8], [math.pi], [-math.pi + 2 * math.pi]]))
    np.testing.assert_allclose(between, [3.5, 0, 0], atol=1e-5)


def test_a_point_knows_its_own_weight():
    grid = Grid((5,), (0.0,), (4.0,), (False,))
    first, fractions = locate(grid, jnp.array([[1.25], [0.9], [3.0]]))
    np.testing.assert_allclose(own_weight(grid, jnp.array([1, 1, 1]), first, fractions), [0.75, 0.9, 0], atol=1e-6)


def test_refining_keeps_linear_functions():
    coarse, fine = (Grid((size, 4), (0, 0), (1, 1), (False, True)) for size in (3, 9))
    made = refine(coarse, fine, at_points(coarse, jnp.arange(12))[:, 0])
    np.testing.assert_allclose(made, at_points(fine, jnp.arange(36))[:, 0], atol=1e-6)


def test_a_walk_along_a_line_is_worth_the_discount_to_the_power_of_its_steps():
    _, _, found = solved(LINE, WALK, {"reach": {"x": 10}, "within": 0.5}, 11)
    np.testing.assert_allclose(found.value, [0.9 ** max(9 - k, 0) for k in range(11)], atol=1e-5)


def test_what_is_avoided_cannot_be_crossed():
    goal = {"reach": {"x": 10}, "within": 0.5, "avoid": "abs(x - 5) < 0.1"}
    _, _, found = solved(LINE, WALK, goal, 11)
    np.testing.assert_allclose(found.value[:5], 0, atol=1e-6)
    assert found.value[5] > 0.6  # starting there is not entering


def test_the_planner_and_plain_sweeps_agree():
    grid, table, found = solved(CAR.space, CAR.dynamics, HILL, 44, 0.99)
    swept = swept_values(grid, table, *TIGHT)
    np.testing.assert_allclose(found.value, swept.value, atol=2e-4)
    assert int(found.sweeps) < int(swept.sweeps) / 4


def test_the_best_policy_is_worth_the_best_values():
    grid, table, found = solved(CAR.space, CAR.dynamics, HILL, 44, 0.99)
    q = values_of(grid, table, found.value)
    own = policy_values(grid, table, q.argmax(axis=0).astype(jnp.int32), *TIGHT)
    np.testing.assert_allclose(own.value, found.value, atol=2e-4)
    certain = (q.argmax(axis=0) == jnp.arange(3)[:, None]).astype(jnp.float32)
    np.testing.assert_allclose(mixed_values(grid, table, certain, *TIGHT).value, own.value, atol=2e-4)


@pytest.mark.slow
def test_rounding_does_not_keep_a_tight_tolerance_out_of_reach():
    arm = world("Reacher-misc")  # short steps: most of a point's value is its own, and what is solved for it is noisy
    grid = grid_of(arm.space, 8, {"omega1": (-2, 2), "omega2": (-2, 2)})
    task = unseen_task({"reach": {"theta1": 0, "theta2": math.pi}, "within": 0.4}, arm.space)
    table = tabulate(grid, arm.dynamics, task, 0.99, len(arm.space.actions))
    found = optimal_values(grid, table, jnp.zeros(grid.count), 1.5e-7, 50)
    assert float(found.residual) <= 1.5e-7
    policy = values_of(grid, table, found.value).argmax(axis=0).astype(jnp.int32)
    assert float(policy_values(grid, table, policy, 1.5e-7, 50).residual) <= 1.5e-7


def test_any_of_equally_good_actions_is_taken_and_never_a_worse_one():
    q = jnp.tile(jnp.array([[0.5], [1.0], [1.0], [0.999]]), (1, 4000))
    taken = np.bincount(np.asarray(grid_plan.argmax_random_ties(q, jax.random.key(0))), minlength=4)
    assert taken[0] == taken[3] == 0
    assert abs(taken[1] - 2000) < 4 * math.sqrt(1000)


def test_a_plan_may_act_by_interpolated_values_and_take_the_first_of_the_best():
    q = jnp.array([[0.5, 1.0], [1.0, 1.0]])
    assert np.asarray(grid_plan.Acting(ties="first").choose(q, jax.random.key(0))).tolist() == [1, 0]
    grid = grid_of(CAR.space, 21)
    task = unseen_task({"reach": {"position": 0.4}, "within": 0.1}, CAR.space)
    padded = pad(grid, jnp.linspace(0, 1, grid.count) ** 2)
    table = grid_plan.action_table(grid, padded, CAR.dynamics, task, 0.99, 3, 1)  # [P, A]
    some = jnp.array([0, 7, 300, 440])
    ahead = grid_plan.lookahead(grid, padded, CAR.dynamics, task, 0.99, at_points(grid, some), 3, 1)
    np.testing.assert_allclose(table[some].T, ahead, rtol=1e-6)
    states = np.array([[-0.5, 0.0], [0.1, 0.03]], np.float32)
    by_scipy = [RegularGridInterpolator(grid.axes(), np.asarray(one).reshape(21, 21))(states) for one in table.T]
    np.testing.assert_allclose(read(grid, table, *locate(grid, states)).T, by_scipy, atol=1e-5)


def test_a_plan_that_acts_by_interpolation_gets_there_too():
    starts = CAR.space.sample(np.random.default_rng(0), 32, "reset")
    task = unseen_task({"reach": {"position": 0.4}, "within": 0.1}, CAR.space)
    options = solver.Options(grid=44, acts_by="interpolation", ties="first")
    found = solver.grid_value_iteration(options, CAR.dynamics, CAR, task, starts, **MORE)
    assert found.attained == pytest.approx(found.believed, abs=0.1) and found.attained > 0.25
    assert found.peaks.shape == (32, 2) and (found.peaks[:, 0] >= 0.3).all()  # it went there
    way = np.abs(found.path).max(axis=0)
    np.testing.assert_allclose(found.peaks[0], way, rtol=1e-6)


def test_chance_is_averaged_over_quadrature_nodes():
    grid = grid_of(LINE, 201)
    task = unseen_task({"reach": {"x": 0}, "within": 0.01}, LINE)
    table = tabulate(grid, GUSTY, task, 1.0, 2, 5)
    squares = at_points(grid, jnp.arange(201))[:, 0] ** 2
    middle = values_of(grid, table, squares)[:, 100]  # x = 5: E (x ± 1 + z)² = (x ± 1)² + 1
    np.testing.assert_allclose(middle, [17, 37], atol=2e-3)


def test_a_plan_in_the_true_model_attains_what_it_promises_and_a_second_one_compiles_nothing():
    starts = CAR.space.sample(np.random.default_rng(0), 64, "reset")
    options = solver.Options(grid=44)

    def attempt(target):
        task = unseen_task({"reach": {"position": target}, "within": 0.1}, CAR.space)
        return solver.grid_value_iteration(options, CAR.dynamics, CAR, task, starts, **MORE)

    first = attempt(0.4)
    compiled = grid_plan._follow._cache_size(), tabulate._cache_size(), optimal_values._cache_size()
    second = attempt(0.5)
    assert compiled == (grid_plan._follow._cache_size(), tabulate._cache_size(), optimal_values._cache_size())
    for found in (first, second):
        assert found.residual <= 1e-6 and abs(found.attained - found.believed) < 0.1 and found.attained > 0.25
    assert abs(first.path[-1, 0] - 0.4) < 0.1 and len(first.path) > 40


def test_a_plan_in_a_model_in_which_nothing_moves_attains_nothing():
    still = certain(lambda states, actions: states)
    task = unseen_task({"reach": {"position": 0.5}, "within": 0.1}, CAR.space)
    starts = CAR.space.sample(np.random.default_rng(0), 8, "reset")
    found = solver.grid_value_iteration(solver.Options(grid=12), still, CAR, task, starts, **MORE)
    assert found.attained == 0 and found.believed == 0


ARM = world("Reacher-misc").space
OMEGAS = {"omega1": (-2.0, 2.0), "omega2": (-2.0, 2.0)}


@pytest.mark.parametrize(
    ("options", "path", "message"),
    [
        ({"grid": 9}, ("bounds",), "omega1 has no range of its own, and a grid needs one"),
        ({"grid": 9, "bounds": OMEGAS | {"omega3": (0, 1)}}, ("bounds", "omega3"), "'omega3' is not a state variable"),
        ({"grid": 9, "bounds": OMEGAS | {"omega1": (2, -2)}}, ("bounds", "omega1"), "2 is not below -2"),
        (
            {"grid": 9, "bounds": OMEGAS | {"theta1": (0, 1)}},
            ("bounds", "theta1"),
            "theta1 goes round in a circle; the grid covers all of it",
        ),
        (
            {"grid": {"theta1": 9, "theta2": 9, "omega1": 9}, "bounds": OMEGAS},
            ("grid",),
            "how many points along omega2?",
        ),
    ],
)
def test_a_wrong_grid_is_one_clear_finding(options, path, message):
    found = next(iter(solver.check(solver.Options(**options), Scope(ARM))))
    assert (found.path, found.message) == (path, message)


def test_a_grid_that_does_not_fit_into_memory_is_found_before_anything_runs():
    (found,) = solver.check(solver.Options(grid=400, bounds=OMEGAS), Scope(ARM))
    assert found.path == ("grid",) and "2.56e+10 points and 9 actions need" in found.message
    assert "would fit" in found.hint
    assert planning_bytes(50**4, 4, 9) < 12 * 2**30
