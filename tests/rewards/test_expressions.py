"""Rewards, ends and regions as expressions of named variables."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import world
from tests.making import continuous_goals, goals_section, make_goals
from wmlab.core.finite.check_goals import check_goals
from wmlab.registry import AgentChoice, Scope, mdps

CAR, PENDULUM = (world(name).space for name in ("MountainCar-v0", "Pendulum-v1"))
NEAR = {
    "reward": {
        "kind": "expression",
        "pays": "exp(-abs(theta - goal(theta))) * height - 0.1 * speed",
        "limits": [-2, 2],
    },
    "at": {"theta": [0, 1]},
    "terminate": {"when": "abs(speed) > 6 and theta > goal(theta)"},
}
GRID = mdps["gridworld"].traits.space(mdps["gridworld"].build({"map": "...\n..."}))


def findings(goals, space=PENDULUM, agent=None, let=()):
    section, chosen = goals_section(goals), None if agent is None else AgentChoice(agent)
    found = check_goals(section, Scope(space, goals=section, agent=chosen, let=let))
    return [(finding.path, finding.message) for finding in found]


def test_a_reward_is_what_its_expression_gives():
    goals = continuous_goals(NEAR, PENDULUM)
    theta, speed = 0.5, 7.0
    reward, continues = goals.arrive(jnp.array([theta, speed]))
    np.testing.assert_allclose(reward, np.exp(-np.abs(theta - np.array([0, 1]))) * np.cos(theta) - 0.7, rtol=1e-5)
    assert continues.tolist() == [0, 1]
    assert goals.value_range(0.5).tolist() == [-4, 4] and goals.count == 2
    one = goals.reward_of(jnp.array([theta, speed]), jnp.array([0.0]))
    np.testing.assert_allclose(one, [reward[0], 0], rtol=1e-6)
    assert findings(NEAR) == []


def test_goals_may_be_expressions_of_their_own():
    goals = {
        "reward": {"kind": "expression", "pays": {"fast": "speed", "up": "height", "still": 0}},
        "terminate": "never",
    }
    made = continuous_goals(goals, PENDULUM)
    assert made.arrive(jnp.array([0.0, 3.0]))[0].tolist() == [3, 0, 1] and made.count == 3
    assert findings(goals) == []
    alone = continuous_goals(goals | {"reward": {"kind": "expression", "pays": "-speed**2"}}, PENDULUM)
    assert alone.count == 1 and alone.arrive(jnp.array([0.0, 3.0]))[0].tolist() == [-9]


def test_an_episode_may_end_near_the_goal_or_by_a_condition():
    goals = {
        "reward": {"kind": "indicator", "radius": 0.1},
        "at": [{"position": 0.5}],
        "terminate": {"within": 0.1, "when": "velocity < -0.05"},
    }
    arrive = continuous_goals(goals, CAR).arrive
    assert [arrive(jnp.array(state))[1].tolist() for state in ([0.5, 0.0], [0.0, -0.06], [0.0, 0.0])] == [[0], [0], [1]]


def test_the_same_words_hold_on_a_map():
    goals = {
        "reward": {"kind": "expression", "pays": "-abs(row - goal(row)) - column"},
        "terminate": {"when": "column == 2 and row == goal(row)"},
    }
    made = make_goals(goals["reward"], GRID, [0, 5], goals["terminate"], 0)
    rows, columns = np.indices((2, 3)).reshape(2, -1)
    np.testing.assert_array_equal(made.reward, -np.abs(rows - np.array([[0], [1]])) - columns)
    np.testing.assert_array_equal(made.continues, 1 - ((columns == 2) & (rows == np.array([[0], [1]]))))
    assert findings(goals | {"at": [[0, 0], [1, 2]]}, GRID) == []


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"reward": {"kind": "expression", "pays": "sped"}}, ("reward", "pays"), "unknown name 'sped'"),
        (
            {"reward": {"kind": "expression", "pays": "goal(speed)"}},
            ("reward", "pays"),
            "goal(speed) is not known here",
        ),
        (
            {"reward": {"kind": "expression", "pays": "speed > 1"}},
            ("reward", "pays"),
            "expected a number, but 'speed > 1' is a condition",
        ),
        (
            {"reward": {"kind": "expression", "pays": "speed", "limits": [-1, 1]}},
            ("reward", "pays"),
            "pays -8 somewhere, outside the limits [-1, 1]",
        ),
        (
            {"reward": {"kind": "expression", "pays": "1 / speed"}},
            ("reward", "pays"),
            "has no value for the goal theta=0 at theta=0, speed=0",
        ),
        (
            {"reward": {"kind": "expression", "pays": "1 / (theta - goal(theta))"}},
            ("reward", "pays"),
            "has no value for the goal theta=0 at theta=0, speed=0",
        ),
        (
            {"reward": {"kind": "expression", "pays": "log(goal(theta)) + 1"}, "at": [{"theta": 2}, {"theta": -1}]},
            ("reward", "pays"),
            "has no value for the goal theta=-1 at theta=0, speed=0",
        ),
        (
            {"reward": {"kind": "expression", "pays": "exp(12 * speed)"}},  # in single precision, as agents are paid
            ("reward", "pays"),
            "has no value for the goal theta=0 at theta=0, speed=8",
        ),
        ({"terminate": {"when": "speed"}}, ("terminate", "when"), "expected a condition, but 'speed' is a number"),
        ({"terminate": "on_arrival"}, ("terminate",), "a reward of kind expression has no point of arrival"),
        ({"terminate": {"when": "speed > 1", "table": {}}}, ("terminate",), "say within, when or both, or a table"),
    ],
)
def test_a_wrong_expression_is_a_clear_finding(changes, path, message):
    assert (path, message) in findings(NEAR | changes)


def test_what_a_condition_leaves_out_needs_no_value():
    assert findings(NEAR | {"reward": {"kind": "expression", "pays": "where(speed > 0, log(speed), 0)"}}) == []


def test_what_a_network_needs_is_asked_for():
    bare = NEAR | {"reward": {"kind": "expression", "pays": "speed"}}
    asked = (("reward", "limits"), "a bounded network has to know the least and the greatest reward")
    assert findings(bare, agent={"kind": "pqn", "network": {"output": "bounded", "goal": "head"}}) == [asked]
    apart = {"reward": {"kind": "expression", "pays": {"a": "speed"}}, "terminate": "never"}
    unread = (("reward", "pays"), "these goals have no values that a network could read")
    assert findings(apart, agent={"kind": "pqn", "network": {"goal": "input", "output": "linear"}}) == [unread]


def test_a_name_with_two_meanings_is_refused():
    clash = (("reward", "pays"), "'speed' is a variable of the world and a name under let")
    assert clash in findings(NEAR, let=("speed",))
