"""Networks from elsewhere: the same numbers as an independent forward pass, whatever the layout and the names."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pytest
from scipy.special import erf, expit

from tests.making import continuous_goals
from wmlab.agents.external.expect import network_shapes
from wmlab.agents.external.network import network_view
from wmlab.agents.external.options import ExternalNetwork, ValuesFile
from wmlab.agents.external.table import read_weights
from wmlab.agents.pqn import networks
from wmlab.agents.pqn.networks import agent_view
from wmlab.agents.pqn.options import Network
from wmlab.agents.pqn.options import Options as OurOptions
from wmlab.core.continuous.encodings import SpaceReader
from wmlab.core.continuous.points import points_of
from wmlab.errors import StageError
from wmlab.registry import build, mdps
from wmlab.stages.continuous.train import read_agent
from wmlab.stages.params import TrainParams

ARM = {
    "state": {"angle": {"range": [-2, 2], "edge": "wrap"}, "speed": {"range": [-1, 3], "edge": "clip"}},
    "actions": ["pull", "let_go", "push"],
    "derived": {"height": "2 * cos(angle)"},
}
GOALS = {
    "reward": {"kind": "gaussian", "sigma": 1.0},
    "at": [{"angle": -1, "speed": 0}, {"angle": 0.5, "speed": 2}],
    "terminate": "never",
}
SPACE = mdps["unknown"].traits.space(mdps["unknown"].build(ARM))
POINTS = points_of(GOALS["at"], SPACE)
STATES = np.random.RandomState(0).uniform((-2, -1), (2, 3), (50, 2)).astype(np.float32)
AIMS = np.array([[-1, 0], [0.5, 2]])  # angle, speed
ACT = {
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * expit(x),
    "tanh": np.tanh,
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2,
}

ask = jax.jit(lambda view, states: view.values(states))


def drawn(network):
    """Weights as another library would hold them: under its names, in its layout."""
    draw = np.random.RandomState(1)
    shapes = network_shapes(network, SPACE, POINTS)
    return {network.name_of(name): draw.normal(0, 0.7, shape) for name, shape in shapes.items()}


def forward(network, theirs, rows):
    """Outputs [N, O] of inputs [N, …], in float64 and without any of our code."""
    get = lambda name: theirs[network.name_of(name)]  # noqa: E731
    turn = lambda weight: weight if network.layout == "in_out" else weight.T  # noqa: E731
    for layer in range(network.depth):
        rows = rows @ turn(get(f"layer{layer}.weight")) + get(f"layer{layer}.bias")
        if network.norm == "layer":
            rows = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + network.epsilon)
            rows = rows * get(f"layer{layer}.scale") + get(f"layer{layer}.shift")
        rows = ACT[network.activation](rows)
    return rows @ turn(get("output.weight")) + get("output.bias")


def values(network, theirs, order=(0, 1, 2)):
    """Q [N, G, A] through our own reading."""
    weights = read_weights(ValuesFile("q.npz"), network, theirs, network_shapes(network, SPACE, POINTS), order)
    goals = continuous_goals(GOALS, SPACE, network.encoding)
    return np.asarray(ask(network_view(weights, network, SPACE, goals, 0.9, "greedy"), STATES))


@pytest.mark.parametrize("activation", ACT)
def test_a_head_for_each_goal_gives_what_a_forward_pass_by_hand_gives(activation):
    said = {"depth": 2, "width": [7, 5], "activation": activation, "observation": ["speed", "height"]}
    network = build(ExternalNetwork, said)
    theirs = drawn(network)
    rows = np.stack([STATES[:, 1], 2 * np.cos(STATES[:, 0])], axis=1).astype(np.float64)
    expected = forward(network, theirs, rows).reshape(50, 2, 3)
    np.testing.assert_allclose(values(network, theirs), expected, atol=3e-5)
    np.testing.assert_allclose(values(network, theirs, (2, 0, 1)), expected[..., [2, 0, 1]], atol=3e-5)


def test_pytorch_layout_names_and_epsilon_and_a_goal_behind_what_is_achieved():
    said = {
        "depth": 1,
        "width": 6,
        "norm": "layer",
        "epsilon": 0.3,
        "activation": "tanh",
        "layout": "out_in",
        "goal": "input",
        "inputs": ["achieved", "goal", "state"],
        "wanted": ["speed", "angle"],
        "observation": ["angle", "speed"],
        "output": {"low": -2, "high": 5},
        "tensors": {"layer0.weight": "net.0.weight", "layer0.scale": "net.1.weight", "output.bias": "net.3.bias"},
    }
    network = build(ExternalNetwork, said)
    theirs = drawn(network)
    assert theirs["net.0.weight"].shape == (6, 6) and theirs["output.weight"].shape == (3, 6)
    for goal, aim in enumerate(AIMS):
        rows = np.concatenate([STATES[:, ::-1], np.tile(aim[::-1], (50, 1)), STATES], axis=1).astype(np.float64)
        expected = -2 + 7 * expit(forward(network, theirs, rows))
        np.testing.assert_allclose(values(network, theirs)[:, goal], expected, atol=3e-5)


@pytest.mark.parametrize(("goal", "encoding"), [("head", "sincos"), ("input", "raw")])
def test_our_own_weights_read_as_those_of_others_give_the_same_values(goal, encoding):
    ours = OurOptions(
        discount=0.9, network=Network(2, 16, "layer", "silu", output="bounded", goal=goal, encoding=encoding)
    )
    goals = continuous_goals(GOALS, SPACE, encoding)
    weights = networks.init(jax.random.key(0), SpaceReader(SPACE, encoding), goals, ours.network)
    said = {name: getattr(ours.network, name) for name in ("depth", "width", "norm", "activation", "output", "goal")}
    theirs = ExternalNetwork(**said, encoding=encoding, observation=("angle", "speed"), wanted=("angle", "speed"))
    if goal == "head":
        theirs = dataclasses.replace(theirs, wanted=None)
    read = {name: np.asarray(weight) for name, weight in weights.items()}
    one = ask(agent_view(weights, SPACE, goals, ours), STATES)
    other = ask(network_view(read, theirs, SPACE, goals, 0.9, "greedy"), STATES)
    np.testing.assert_allclose(one, other, rtol=1e-6)


def grid_agent(table, **said):
    """What is read of a table over angle, action, speed and goal."""
    np.savez("q.npz", table)
    q = {"file": "q.npz", "axes": ["speed", "action", "angle", "goal"], "grid": {}} | said
    agent = {"kind": "external", "q": q, "policy": "greedy", "discount": 0.9, "actions": ["push", "pull", "let_go"]}
    params = {"mdp": {"kind": "unknown", **ARM}, "agent": agent, "goals": GOALS}
    return read_agent(build(TrainParams, params), SPACE)


def test_a_table_over_variables_is_put_in_order_and_read_at_its_points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = np.random.RandomState(2).normal(size=(5, 3, 4, 2)).astype(np.float32)
    read = grid_agent(table, grid={"speed": [0, 2]})
    assert read.data["grid"] == {"shape": [4, 5], "low": [-2, 0], "high": [2, 2], "periodic": [True, False]}
    # ours: goal, action (pull, let_go, push), angle, speed
    assert np.array_equal(read.arrays["q"].reshape(2, 3, 4, 5), table.transpose(3, 1, 2, 0)[:, [1, 2, 0]])
    broken = table.copy()
    broken[1, 0, 2, 1] = np.inf
    with pytest.raises(StageError, match=r"q.npz: the value at angle=0.5, speed=2, push, point \[2, 1\] is inf"):
        grid_agent(broken)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"axes": ["speed", "action", "goal"]}, "which axis is angle"),
        ({"axes": ["speed", "action", "goal", "angle"]}, "4 goals, and there are 2"),
        ({"grid": {"angle": [0, 1]}}, "angle goes round in a circle"),
        ({"grid": {"sped": [0, 1]}}, "'sped' is not a state variable; did you mean 'speed'"),
    ],
)
def test_a_table_over_variables_that_does_not_fit_is_told(said, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StageError, match=says):
        grid_agent(np.zeros((5, 3, 4, 2)), **said)
