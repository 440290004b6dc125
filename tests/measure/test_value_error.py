"""Errors of values in continuous worlds, against closed forms and a plain loop in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import FunctionDynamics, certain, function_view, world
from tests.making import continuous_goals, evaluate_section
from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.core.continuous.grid import grid_of
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.continuous.view import Frame
from wmlab.measure.continuous.context import ContinuousContext
from wmlab.measure.continuous.policy_values import rollout_values
from wmlab.measure.continuous.value_error import Probes, errors, grid_states, read_grid
from wmlab.measure.continuous.values import value_error, values_at

# A line on which one may stay or take a small step. Its goals are narrower than the grid's spacing, wider than a step.
STEP, RADIUS, GAMMA, TARGETS = 1 / 128, 0.75 / 128, 0.95, np.array([0.4, 0.955])
LINE = ContinuousSpace((Variable("x", 0, 1, "clip"),), ("stay", "go"), ("u",), ((0.0,), (1.0,)), ((0.0, 0.3),))
GOALS = continuous_goals(
    {"reward": {"kind": "indicator", "radius": RADIUS}, "at": {"x": TARGETS.tolist()}, "terminate": "on_arrival"}, LINE
)
KEY = jax.random.key(0)


def line(states, actions):
    return jnp.clip(states + STEP * actions[:, None], 0, 1)


WALK = certain(line)
STILL = FunctionDynamics((), lambda _, states, actions, noise: line(states, actions) + 0 * noise, 1)


def arriving(goals):
    return lambda _, states: jax.vmap(goals.arrive)(states)


ARRIVING = arriving(GOALS)  # one function each: programs are told apart by them


def closed_form(params, states):
    """Q [N, G, A] of going on until the goal: γ to the number of steps less one, and nothing once it is passed."""
    after = jnp.clip(states + STEP * jnp.arange(2), 0, 1)[:, None]  # [N, 1, A]
    ahead = jnp.asarray(TARGETS, jnp.float32)[:, None] - after  # [N, G, A]
    steps = jnp.maximum(jnp.floor((ahead - RADIUS) / STEP) + 1, 0)
    return jnp.where(ahead > -RADIUS, GAMMA**steps, 0.0) + params


def agent_view(values=closed_form, params=0.0, policy="greedy", space=LINE, arrive=ARRIVING, discount=GAMMA):
    frame, actions = Frame.of(space), len(space.actions)
    return function_view(jnp.asarray(params), jnp.float32(discount), frame, values, arrive, None, actions, 2, policy)


@dataclass(frozen=True)
class Agent:
    """An agent as it is measured, from a view."""

    own: object
    goals: object = GOALS
    labels: tuple[str, ...] = ("near", "far")
    discount: float = GAMMA
    policy: str = "greedy"

    def view(self, states="reset", checkpoint=-1):
        return self.own


def measured(view, dynamics=WALK, space=LINE, bounds=None, agent=None, **asked):
    place = ContinuousWorld(space, dynamics)
    evaluate = evaluate_section({"value_error": {"states": "uniform", "samples": 400, "grid": 10, **asked}})
    agent = agent or Agent(view, policy=view.policy)
    return value_error(ContinuousContext(agent, None, place, evaluate, bounds or {}))


def test_exact_values_have_no_error_whatever_the_grid_gets_wrong():
    found = measured(agent_view())
    assert found["q.nmse"]["value"] < 1e-9 and found["q.l1_max"]["value"] < 1e-5
    assert found["q.grid_nmse"]["value"] > 0.5  # what q.nmse was, when it was taken on the grid
    assert set(found["q.nmse"]["by"]["goal"]) == {"near", "far"}


def test_values_that_are_wrong_by_a_tenth_are_said_to_be():
    found = measured(agent_view(params=0.1))
    exact = np.asarray(closed_form(0.0, jnp.asarray(LINE.sample(np.random.default_rng(0), 50_000, "uniform"))))
    assert found["q.nmse"]["value"] == pytest.approx(0.01 / exact.var(), rel=0.2)
    assert found["q.l1_max"]["value"] == pytest.approx(0.2, abs=1e-5)  # two goals


def test_where_values_are_compared_is_the_specs_to_say():
    resets = measured(agent_view(params=0.1), states="reset")["q.nmse"]["by"]["goal"]
    starts = np.asarray(closed_form(0.0, jnp.asarray(LINE.sample(np.random.default_rng(0), 50_000, "reset"))))
    assert resets["near"] == pytest.approx(0.01 / starts[:, 0].var(), rel=0.2)
    within = measured(agent_view(params=0.1), bounds={"x": (0.0, 0.3)})["q.nmse"]["by"]["goal"]
    assert within["near"] == pytest.approx(resets["near"], rel=0.2)  # uniform is over the box that the grid covers


ARM = world("Reacher-misc")
ARM_GOALS = continuous_goals(
    {"reward": {"kind": "indicator", "radius": 0.4}, "at": [{"x": 1, "y": 0}, {"x": 0, "y": 1}]}, ARM.space
)


def arm_values(weights, states):
    return jnp.tanh(states @ weights).reshape(-1, 2, 9)


def loop_in_numpy(weights, state, action, goal, discount):
    """The return of one row, step by step: gymnax's arm, and the policy of a linear layer."""
    torques = np.array([(one, other) for one in (-1, 0, 1) for other in (-1, 0, 1)])
    target = np.array([[1, 0], [0, 1]])[goal]
    state, gain, worth = state.astype(np.float64), 0.0, 1.0
    while worth >= 1e-6:
        speed = state[2:] + 0.05 * torques[action]
        angle = (state[:2] + 0.05 * speed + np.pi) % (2 * np.pi) - np.pi
        state = np.concatenate([angle, speed])
        tip = np.array([np.cos(angle).sum(), np.sin(angle).sum()])
        if ((tip - target) ** 2).sum() < 0.4**2:
            return gain + worth
        worth *= discount
        action = int(np.tanh(state @ weights).reshape(2, 9)[goal].argmax())
    return gain


def test_rollouts_of_a_policy_agree_with_a_plain_loop():
    draw = np.random.default_rng(1)
    weights, rows = draw.normal(size=(4, 18)), 60
    states = ARM.space.sample(draw, rows, "reset")
    action, goal = draw.integers(9, size=rows), draw.integers(2, size=rows)
    view = agent_view(
        arm_values, jnp.asarray(weights, jnp.float32), space=ARM.space, arrive=arriving(ARM_GOALS), discount=0.9
    )
    found = rollout_values(view, ARM.dynamics, states, action, goal, KEY)
    expected = [loop_in_numpy(weights, *row, 0.9) for row in zip(states, action, goal, strict=True)]
    apart = np.abs(found - expected)
    assert 0 < np.count_nonzero(expected) < rows  # some arrive, some never do
    assert np.median(apart) < 1e-6 and (apart > 1e-4).sum() <= 2  # float32 may take another way at a tie


def test_slots_that_are_fewer_than_rows_change_nothing(monkeypatch):
    view, states = agent_view(), LINE.sample(np.random.default_rng(2), 101, "uniform")
    rows = (states, np.arange(101) % 2, np.arange(101) % 2, KEY)
    whole = rollout_values(view, WALK, *rows)
    monkeypatch.setattr("wmlab.measure.continuous.policy_values.SLOTS", 8)
    np.testing.assert_array_equal(rollout_values(view, WALK, *rows), whole)


SMOOTH = continuous_goals(
    {"reward": {"kind": "gaussian", "sigma": 0.3}, "at": {"x": [0.2, 0.7]}, "terminate": "never"}, LINE
)
FINE = 128 * 32  # points of a table, of which a step is 32


def recursion():
    """Q [N, G, A] of taking either action as often, which on the line is a recursion over x."""
    x = np.linspace(0, 1, FINE + 1)
    reward = np.exp(-0.5 * ((x[:, None] - [0.2, 0.7]) / 0.3) ** 2)  # [N, G]
    ahead, value = np.minimum(np.arange(FINE + 1) + 32, FINE), np.zeros((FINE + 1, 2))
    for _ in range(400):
        arrived = reward + GAMMA * value
        value = (arrived + arrived[ahead]) / 2
    return np.stack([arrived, arrived[ahead]], axis=-1)


def tabled(params, states):
    return params[jnp.round(states[:, 0] * FINE).astype(int)]


@pytest.mark.parametrize("size", [101, 3])
def test_where_actions_are_drawn_values_are_held_against_a_grid_whose_own_error_is_measured(size):
    view = agent_view(tabled, jnp.asarray(recursion(), jnp.float32), "uniform", arrive=arriving(SMOOTH))
    grid, probes = grid_of(LINE, size), Probes.of(LINE.sample(np.random.default_rng(0), 2_000, "uniform"), 2)
    q = values_at(view, grid_states(grid))
    reading = read_grid(grid, WALK, SMOOTH, q, GAMMA, "uniform", probes)
    exact = np.stack([probes.chosen(values_at(view, probes.states)(goal)) for goal in range(2)])
    found = errors(view, WALK, probes, exact, reading, ("near", "far"))
    truth = ((reading.own - exact) ** 2).mean() / exact.var()
    assert (truth < 1e-5) == (size == 101)
    assert found["q.grid_nmse"]["value"] == pytest.approx(truth, rel=0.2, abs=0.01)
    assert found["q.nmse"]["value"] == pytest.approx(truth * exact.var() / reading.own.var())  # exact: it is the grid's


def test_a_world_whose_chance_has_no_effect_checks_its_grid_to_the_same_number():
    drawn, sure = measured(agent_view(), STILL), measured(agent_view())
    assert drawn["q.grid_nmse"]["value"] == pytest.approx(sure["q.grid_nmse"]["value"], rel=1e-3)
    assert drawn["q.nmse"]["value"] > 0.5 and sure["q.nmse"]["value"] < 1e-9  # exact values, held against a grid or not
