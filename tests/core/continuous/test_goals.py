"""Goals, regions and their mistakes on named variables."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import world
from tests.making import continuous_goals, evaluate_section, goals_section, unseen_task
from wmlab.core.continuous.check_goals import check_continuous_goals
from wmlab.core.continuous.goals import trained_task
from wmlab.core.continuous.points import points_of
from wmlab.measure.continuous.check import check_continuous_evaluate
from wmlab.registry import Scope

CAR, ARM, PENDULUM = (world(name).space for name in ("MountainCar-v0", "Reacher-misc", "Pendulum-v1"))
POSITIONS = {"reward": {"kind": "indicator", "radius": 0.1}, "at": {"position": {"linspace": [-1.2, 0.6, 4]}}}
BELLS = {
    "reward": {"kind": "gaussian", "sigma": {"theta": 0.5, "speed": 1.5}},
    "at": {"theta": [-np.pi, 0], "speed": [-6, 0, 6]},
    "terminate": "never",
}


def test_a_mapping_is_a_product_and_a_list_is_these_points():
    product = points_of({"theta": [0, 1], "speed": {"linspace": [-6, 6, 3]}}, PENDULUM)
    assert product.values.tolist() == [[0, -6], [0, 0], [0, 6], [1, -6], [1, 0], [1, 6]] and product.alike
    mixed = points_of([{"position": 0.5}, {"velocity": 0.01}], CAR)
    assert mixed.asked.tolist() == [[True, False], [False, True]] and not mixed.alike


def test_arriving_within_the_radius_pays_and_ends():
    goals = continuous_goals(POSITIONS, CAR)
    reward, continues = goals.arrive(jnp.array([-0.55, 0.03]))
    assert reward.tolist() == [0, 1, 0, 0] and continues.tolist() == [1, 0, 1, 1]
    assert goals.value_range(0.99).tolist() == [0, 1]
    assert [float(x) for x in goals.reward_of(jnp.array([-0.5, 0.0]), jnp.array([-0.45]))] == [1, 0]
    assert goals.achieved(jnp.array([0.25, 0.01])).tolist() == [0.25]


def test_bells_know_the_circle_and_never_end():
    goals = continuous_goals(BELLS, PENDULUM)
    reward, continues = goals.arrive(jnp.array([np.pi - 0.5, 0.0]))
    np.testing.assert_allclose(reward[1], np.exp(-0.5), rtol=1e-5)
    assert continues.tolist() == [1] * 6 and goals.value_range(0.5).tolist() == [0, 2]


def test_goals_are_read_the_way_states_are():
    goals = continuous_goals(BELLS, PENDULUM, "sincos")
    assert goals.width == 3
    np.testing.assert_allclose(goals.encode(jnp.array([np.pi / 2, 4.0])), [1, 0, 0.5], atol=1e-6)


@pytest.mark.parametrize("width", [0.2, {"theta": 0.2, "speed": 0.5}])
def test_an_indicator_of_0_and_minus_1_counts_steps_and_its_values_are_bounded_by_it(width):
    reward = {"kind": "indicator", "radius": width, "there": 0, "elsewhere": -1}
    goals = continuous_goals({"reward": reward, "at": [{"theta": 0, "speed": 0}]}, PENDULUM)
    near, far = goals.arrive(jnp.array([0.1, 0.1])), goals.arrive(jnp.array([1.0, 0.0]))
    assert [part.tolist() for part in (*near, *far)] == [[0], [0], [-1], [1]]
    assert goals.value_range(0.5).tolist() == [-2, 0]
    assert goals.ending.tolist() == [0, 0] and goals.lasting.tolist() == [-1, -1]


def test_derived_variables_are_goals_like_any_other():
    goals = continuous_goals({"reward": {"kind": "indicator", "radius": 0.2}, "at": [{"x": 1, "y": 1}]}, ARM)
    assert goals.arrive(jnp.array([0.0, np.pi / 2, 5.0, 5.0]))[0].tolist() == [1]


def test_reaching_pays_once_and_an_avoided_region_pays_nothing():
    goal = {"reach": {"position": 0.6}, "within": 0.1, "avoid": "abs(velocity) > 0.05"}
    reward, continues = unseen_task(goal, CAR).arrive(jnp.array([[0.55, 0.01], [0.55, 0.06], [0.0, -0.06], [0, 0]]))
    assert reward.tolist() == [1, 0, 0, 0] and continues.tolist() == [0, 0, 0, 1]


def test_a_target_on_a_circle_reaches_beyond_the_end_of_its_range_unless_it_is_told_not_to():
    target = {"reach": {"theta": math.pi}, "within": 0.2}
    states = jnp.array([[math.pi - 0.1, 0.0], [-math.pi + 0.1, 0.0], [0.0, 0.0]])
    assert unseen_task(target, PENDULUM).arrive(states)[0].tolist() == [1, 1, 0]
    assert unseen_task({**target, "wraps": False}, PENDULUM).arrive(states)[0].tolist() == [1, 0, 0]


def test_a_distance_for_each_variable_is_a_box_and_one_number_is_a_ball():
    at = {"theta": 0, "speed": 0}
    states = jnp.array([[0.19, 0.9], [0.21, 0.0], [0.15, 0.15]])
    box = unseen_task({"reach": at, "within": {"theta": 0.2, "speed": 1.0}}, PENDULUM)
    ball = unseen_task({"reach": at, "within": 0.2}, PENDULUM)
    assert box.arrive(states)[0].tolist() == [1, 0, 1] and ball.arrive(states)[0].tolist() == [0, 0, 0]


def test_any_of_several_points_will_do():
    task = unseen_task({"reach_any": [{"position": -1.0}, {"position": 0.4}], "within": 0.1}, CAR)
    assert task.arrive(jnp.array([[-0.95, 0], [0.45, 0], [0.0, 0]]))[0].tolist() == [1, 1, 0]


def test_two_tasks_of_a_kind_share_one_program():
    compiled = jax.jit(lambda task, states: task.arrive(states))
    for target in (-1.0, 0.4):
        compiled(unseen_task({"reach": {"position": target}, "within": 0.1}, CAR), jnp.zeros((3, 2)))
        compiled(trained_task(continuous_goals(POSITIONS, CAR), int(target > 0)), jnp.zeros((3, 2)))
    assert compiled._cache_size() == 2


def goals_with(**changes):
    return POSITIONS | changes


@pytest.mark.parametrize(
    ("goals", "path", "message"),
    [
        (
            goals_with(at=[{"position": 0.9}]),
            ("at", 0, "position"),
            "0.9 is outside the range of position, [-1.2, 0.6]",
        ),
        (goals_with(at=[{"positon": 0}]), ("at", 0, "positon"), "no variable 'positon'; did you mean 'position'?"),
        (goals_with(at="all"), ("at",), "a continuous world has no list of states to take goals from"),
        (goals_with(reward={"kind": "generic"}), ("reward", "kind"), "a reward of kind generic needs a finite world"),
        (
            goals_with(reward={"kind": "gaussian", "sigma": 0.1}),
            ("terminate",),
            "a reward of kind gaussian has no point of arrival",
        ),
        (
            goals_with(reward={"kind": "gaussian", "sigma": {"velocity": 1}}, terminate="never"),
            ("reward", "sigma", "velocity"),
            "no goal names velocity; they name position",
        ),
        (
            goals_with(terminate={"table": {"0": ["s1"]}}),
            ("terminate", "table"),
            "a table of states needs a finite world",
        ),
        (goals_with(terminate={}), ("terminate",), "say within, when or both, or a table"),
    ],
)
def test_a_wrong_goal_is_one_clear_finding(goals, path, message):
    assert (path, message) in [
        (found.path, found.message) for found in check_continuous_goals(goals_section(goals), Scope(CAR))
    ]


def unseen(goal, **solver):
    return {
        "unseen": {"goals": {"g": goal}, "starts": 8, "solver": {"kind": "grid_value_iteration", "grid": 9, **solver}}
    }


GOAL = {"reach": {"position": 0.4}, "within": 0.1}
PATH = ("unseen", "goals", "g")


@pytest.mark.parametrize(
    ("evaluate", "path", "message"),
    [
        (
            unseen(GOAL | {"reach": {"pos": 0}}),
            (*PATH, "reach", "pos"),
            "no variable 'pos'; there are position, velocity",
        ),
        (unseen(GOAL | {"avoid": "abs(speed) > 1"}), (*PATH, "avoid"), "unknown name 'speed'"),
        (
            unseen(GOAL | {"avoid": "position < 0"}),
            (*PATH, "avoid"),
            "every episode starts inside this region, so that each would end at once",
        ),
        (
            unseen(GOAL | {"avoid": "1 > 0"}),
            (*PATH, "avoid"),
            "every episode starts inside this region, so that each would end at once",
        ),
        (
            unseen({"reach": {"position": 0}}),
            (*PATH, "within"),
            "how near counts? a continuous state is never met exactly",
        ),
        (
            unseen(GOAL, bounds={"position": [-1, 0]}),
            (*PATH, "reach", "position"),
            "0.4 is outside the solver's bounds of position, [-1, 0]",
        ),
        ({"model_error": {"states": "all"}}, ("model_error", "states"), "a continuous world has no end of states"),
    ],
)
def test_a_wrong_unseen_goal_is_one_clear_finding(evaluate, path, message):
    found = list(check_continuous_evaluate(evaluate_section(evaluate), Scope(CAR, extracts=True)))
    assert [(one.path, one.message) for one in found] == [(path, message)]


def test_uniform_states_need_a_range_for_every_variable():
    found = list(check_continuous_evaluate(evaluate_section({"model_error": {"states": "uniform"}}), Scope(ARM)))
    assert [one.message for one in found] == [f"uniform over omega{i}, which has no range" for i in (1, 2)]
