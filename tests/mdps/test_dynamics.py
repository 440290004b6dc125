"""Worlds written as expressions: steps as elsewhere, chance by closed forms, and one clear finding for each mistake."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wmlab
from tests.mdps.test_gymnax import COUNT, THEIRS
from wmlab.core.continuous.dynamics import every_outcome
from wmlab.registry import Scope, mdps

KIND = mdps["dynamics"]
EXAMPLES = Path(__file__).parents[2] / "specs" / "examples"
LINE = {
    "state": {"x": {"range": [0, 1], "edge": "clip"}, "y": {"range": [0, 1], "edge": "wrap"}},
    "actions": {"push": [-1, 1]},
    "next": {"x": "x + 0.1 * push", "y": "y + 0.25"},
}


def world(**changes):
    options = KIND.build(LINE | changes)
    assert list(KIND.check(options, Scope())) == []
    return KIND.run(options, 0)


def step(made, states, actions, noise=None):
    count, m = len(states), made.dynamics.noise
    drawn = jnp.zeros((count, m)) if noise is None else jnp.asarray(noise)
    return np.asarray(made.dynamics.step(jnp.asarray(states, jnp.float32), jnp.asarray(actions), drawn))


def test_a_step_that_an_edge_holds_has_a_value_and_one_without_is_told():
    world(next=LINE["next"] | {"x": "1 / x"})  # what is too far is held at the end of the range
    (found,) = KIND.check(KIND.build(LINE | {"next": LINE["next"] | {"x": "push * (x / x)"}}), Scope())
    assert (found.path, found.message) == (("next", "x"), "x has no value after push=-1 at x=0, y=0.5")


# --- steps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "name", "order"),
    [
        ("mountaincar_expressions", "MountainCar-v0", ["position", "velocity"]),
        ("pendulum_expressions", "Pendulum-v1", ["theta", "speed"]),
        ("cartpole_expressions", "CartPole-v1", ["x", "x_dot", "theta", "theta_dot"]),
    ],
)
def test_ten_thousand_steps_of_a_written_world_are_those_of_gymnax(spec, name, order):
    data = wmlab.load(EXAMPLES / f"{spec}.yaml").data[0]["mdp"]
    ours = KIND.run(KIND.build(data), 0)
    environment, pack, unpack, act = THEIRS[name]
    columns = jnp.array([ours.space.names.index(variable) for variable in order])  # ours, in gymnax's order
    draw = np.random.default_rng(1)
    scale = np.array([variable.scale for variable in ours.space.variables])
    states = draw.uniform(scale[:, 0], scale[:, 1], (COUNT, len(scale))).astype(np.float32)
    actions = draw.integers(0, len(ours.space.actions), COUNT)
    table = jnp.array([act(*map(int, values)) for values in ours.space.control_values])

    def one(state, action):
        packed = pack(state[columns])
        return unpack(environment.step_env(jax.random.key(1), packed, action, environment.default_params)[1])

    theirs = np.asarray(jax.jit(jax.vmap(one))(states, table[actions]))
    found = np.asarray(jax.jit(ours.dynamics.step)(states, jnp.asarray(actions), jnp.zeros((COUNT, 0))))
    np.testing.assert_allclose(ours.space.difference(found, theirs[:, np.argsort(columns)]), 0, atol=1e-5)


def test_the_car_of_any_force_steps_as_that_of_gymnax_where_its_force_is_one_of_three():
    ours = KIND.run(KIND.build(wmlab.load(EXAMPLES / "mountaincar_any_force.yaml").data[0]["mdp"]), 0)
    environment, pack, unpack, _ = THEIRS["MountainCar-v0"]
    units, draw = np.array([1, 0.07], np.float32), np.random.default_rng(1)
    states = draw.uniform([-1.2, -1], [0.6, 1], (COUNT, 2)).astype(np.float32)
    pushes = draw.integers(0, 3, COUNT)

    def one(state, push):
        after = environment.step_env(jax.random.key(1), pack(state * units), push, environment.default_params)[1]
        return unpack(after) / units

    theirs = np.asarray(jax.jit(jax.vmap(one))(states, pushes))
    np.testing.assert_allclose(step(ours, states, (pushes - 1.0)[:, None].astype(np.float32)), theirs, atol=1e-5)


def test_names_are_the_old_state_and_next_is_the_new_one_behind_its_edge():
    made = world(next={"x": "x + next(y)", "y": "y + 0.75 + 0 * x"})
    np.testing.assert_allclose(step(made, [[0.0, 0.5]], [0]), [[0.25, 0.25]])
    swapped = world(next={"x": "y", "y": "x"})
    np.testing.assert_allclose(step(swapped, [[0.2, 0.7]], [0]), [[0.7, 0.2]], rtol=1e-6)


def test_helpers_may_be_numbers_and_conditions_of_others():
    let = {"moved": "x + 0.1 * push", "out": "moved > 0.5 or moved < 0", "half": 0.5}
    made = world(let=let, next={"x": "where(out, half, moved)", "y": "y"})
    np.testing.assert_allclose(
        step(made, [[0.45, 0], [0.3, 0], [0.05, 0]], [1, 1, 0])[:, 0], [0.5, 0.4, 0.5], rtol=1e-6
    )


def test_edges_hold_a_variable_or_take_it_round():
    np.testing.assert_allclose(step(world(), [[0.95, 0.9]], [1]), [[1.0, 0.15]], rtol=1e-5)


def test_actions_are_a_product_or_have_names():
    product = world(actions={"lift": [0, 2], "push": [-1, 1]}, next={"x": "x + 0.1 * push", "y": "y + lift"}).space
    assert product.actions == ("lift=0, push=-1", "lift=0, push=1", "lift=2, push=-1", "lift=2, push=1")
    named = world(actions={"go": {"push": 1}, "lift": {"up": 2}}, next={"x": "x + 0.1 * push", "y": "y + up"}).space
    assert named.actions == ("go", "lift") and named.control_values == ((1, 0), (0, 2))


def test_derived_variables_know_each_other_and_where_they_mostly_lie():
    space = world(derived={"double": "2 * x", "more": "double + 1", "three": 3}).space
    np.testing.assert_allclose(space.full(np.array([[0.25, 0]])), [[0.25, 0, 0.5, 1.5, 3]])
    assert [variable.name for variable in space.derived] == ["double", "more", "three"]
    np.testing.assert_allclose(space.derived[1].scale, (1, 3), atol=0.02)


def test_a_world_written_twice_is_one_program():
    first, second = world(), world(horizon=7)
    one, other = (jax.tree.structure(each.dynamics) for each in (first, second))
    assert one == other and hash(one) == hash(other) and first.space == second.space


def test_starts_are_values_or_stretches_of_them():
    space = world(reset={"x": 0.5, "y": {"uniform": [0, 0.25]}}).space
    assert space.starts == ((0.5, 0.5), (0.0, 0.25))
    assert world().space.starts == ((0, 1), (0, 1))


# --- chance ----------------------------------------------------------------------------------------------------

NOISE = {
    "bell": {"kind": "normal", "mean": 0.5, "sd": 0.1},
    "flat": {"kind": "uniform", "low": -1, "high": 3},
    "coin": {"kind": "categorical", "values": [-1, 0, 2], "probabilities": [0.5, 0.2, 0.3]},
}
ENDLESS = {name: {"usual": [-1, 1]} for name in ("a", "b", "c")}
MOMENTS = {  # mean and variance, in closed form
    "bell": (0.5, 0.01),
    "flat": (1.0, 16 / 12),
    "coin": (0.1, 0.5 + 0.3 * 4 - 0.01),
}


@pytest.fixture(scope="module")
def chancy():
    return world(
        state=ENDLESS,
        noise=NOISE,
        next={"a": "a + bell", "b": "b + flat", "c": "c + coin + 0 * push"},
        reset=dict.fromkeys(ENDLESS, 0),
    )


def test_draws_have_the_moments_of_their_distributions(chancy):
    count = 200_000
    drawn = chancy.dynamics.draw(jax.random.key(3), jnp.zeros((count, 3)), jnp.zeros(count, jnp.int32))
    drawn = np.asarray(drawn, np.float64)
    for column, (mean, variance) in enumerate(MOMENTS.values()):
        assert abs(drawn[:, column].mean() - mean) < 5 * np.sqrt(variance / count)
        assert drawn[:, column].var() == pytest.approx(variance, rel=0.02)
    assert drawn[:, 1].min() >= -1 and drawn[:, 1].max() <= 3
    values, counts = np.unique(drawn[:, 2], return_counts=True)
    assert values.tolist() == [-1, 0, 2]
    np.testing.assert_allclose(counts / count, [0.5, 0.2, 0.3], atol=0.006)
    np.testing.assert_allclose(np.corrcoef(drawn.T), np.eye(3), atol=0.012)


def test_quadrature_has_these_moments_exactly(chancy):
    nodes, weights = chancy.dynamics.quadrature(4)
    assert nodes.shape == (4 * 4 * 3, 3)  # branches are looked at once each
    after = np.asarray(every_outcome(chancy.dynamics, jnp.zeros((1, 3)), jnp.zeros(1, jnp.int32), jnp.asarray(nodes)))
    mean = (weights[:, None] * after[:, 0]).sum(axis=0)
    variance = (weights[:, None] * (after[:, 0] - mean) ** 2).sum(axis=0)
    np.testing.assert_allclose(mean, [m for m, _ in MOMENTS.values()], atol=1e-5)
    np.testing.assert_allclose(variance, [v for _, v in MOMENTS.values()], rtol=1e-4)


# --- mistakes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"next": {"x": "x"}}, ("next",), "nothing said about 'y'"),
        ({"next": LINE["next"] | {"z": "x"}}, ("next", "z"), "not a state variable"),
        ({"next": {"x": "next(x)", "y": 0}}, ("next", "x"), "next(x) is made of itself"),
        (
            {"next": {"x": "next(y)", "y": "next(x)"}},
            ("next", "x"),
            "a circle: x waits for next(y), y waits for next(x)",
        ),
        ({"next": {"x": "x > 0", "y": 0}}, ("next", "x"), "expected a number, but 'x > 0' is a condition"),
        ({"next": {"x": "log(0)", "y": 0}}, ("next", "x"), "log(0) has no value"),
        ({"let": {"a": "c", "b": 1}}, ("let", "a"), "unknown name 'c'"),
        ({"derived": {"d": "push"}}, ("derived", "d"), "unknown name 'push'"),
        ({"derived": {"x": "y"}}, ("derived", "x"), "'x' is a name under mdp.state already"),
        ({"noise": {"g": {"kind": "normal", "sd": 1}}}, ("noise", "g"), "'g' is a name under let already"),
        ({"noise": {"w": {"kind": "normal"}}}, ("noise", "w"), "normal noise needs sd"),
        (
            {"noise": {"w": {"kind": "normal", "sd": -1}}},
            ("noise", "w", "sd"),
            "-1 is no standard deviation; it is at least 0",
        ),
        ({"noise": {"w": {"kind": "uniform", "low": 1, "high": 0}}}, ("noise", "w", "low"), "1 is above 0"),
        (
            {"noise": {"w": {"kind": "uniform", "low": 0, "high": 1, "sd": 1}}},
            ("noise", "w", "sd"),
            "uniform noise has no sd",
        ),
        (
            {"noise": {"w": {"kind": "categorical", "values": [0, 1], "probabilities": [0.5, 0.4]}}},
            ("noise", "w", "probabilities"),
            "sums to 0.9, not 1",
        ),
        ({"actions": {"push": [1, 1]}}, ("actions", "push", 1), "1 is listed twice"),
        (
            {"actions": {"push": [1], "go": {"push": 1}}},
            ("actions", "push"),
            "go is an action and push is a component of actions",
        ),
        (
            {"state": LINE["state"] | {"x": {"range": [0, 1]}}},
            ("state", "x", "edge"),
            "what happens at the ends of the range?",
        ),
        (
            {"state": LINE["state"] | {"x": {"range": [1, 0], "edge": "clip"}}},
            ("state", "x", "range"),
            "1 is not below 0",
        ),
        ({"state": LINE["state"] | {"x": {}}}, ("state", "x"), "say one of range, integers and usual"),
        (
            {"state": LINE["state"] | {"x": {"integers": [0, 3]}}},
            ("state", "y"),
            "y is continuous and x is of whole numbers; a world has one sort of variables",
        ),
        ({"reset": {"x": 2, "y": 0}}, ("reset", "x"), "2 is outside [0, 1]"),
        ({"reset": {"x": 0}}, ("reset",), "nothing said about 'y'"),
        ({"state": LINE["state"] | {"x": {"usual": [0, 1]}}}, ("reset",), "uniform over x, which has no range"),
    ],
)
def test_a_mistake_is_one_clear_finding(changes, path, message):
    found = list(KIND.check(KIND.build(LINE | changes), Scope(let=("g",))))
    assert (path, message) in [(finding.path, finding.message) for finding in found]
    assert len(found) == 1 or "integers" in str(changes) or "go" in str(changes)
