"""Agents of Stable-Baselines3, as it saves them: networks, spaces and orders, without its code."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from safetensors import safe_open

from tests.foreign.conftest import DATA
from tests.foreign.forward import values
from wmlab.errors import UsageError
from wmlab.foreign.agents import Asked
from wmlab.foreign.archives import Archive
from wmlab.foreign.sb3 import sb3_agent
from wmlab.foreign.spaces import Box, Discrete, Other, entries, printed, space_of
from wmlab.foreign.wiring import Names
from wmlab.spec.check.array_headers import Unreadable
from wmlab.spec.yaml.load import load


def agent_of(name):
    with open(DATA / f"{name}.zip", "rb") as stream:
        return sb3_agent(Archive(stream), Asked())


def section(path, *keys):
    return load(path).at(keys).plain()


@pytest.mark.parametrize(
    ("name", "order", "inputs", "activation"),
    [
        ("dqn", ("achieved_goal", "desired_goal", "observation"), ["achieved", "goal", "state"], "relu"),
        ("dqn_as_given", ("observation", "desired_goal", "achieved_goal"), ["state", "goal", "achieved"], "tanh"),
        ("qrdqn", ("achieved_goal", "desired_goal", "observation"), ["achieved", "goal", "state"], "tanh"),
    ],
)
def test_what_is_written_gives_the_librarys_own_values_in_the_order_that_the_file_has(
    told, into, name, order, inputs, activation
):
    brought = into(f"{name}.zip")
    read = np.hstack([told[f"{name}/{part}"] for part in order])
    found = values(brought.written[0], read, activation)
    assert np.abs(found - told[f"{name}/value"]).max() < 1e-6
    network = section(brought.spec, "agent", "q", "network")
    assert network["inputs"] == inputs and network.get("activation", "relu") == activation


def test_parts_of_a_state_that_stand_apart_are_put_side_by_side_with_the_same_values(told, into):
    brought = into("dqn_apart.zip")
    assert section(brought.spec, "agent", "q", "network", "inputs") == ["state", "goal", "achieved"]
    assert section(brought.spec, "mdp", "state", "speed0", "range") == [-2, 3]
    parts = ("position", "speed", "desired_goal", "achieved_goal")
    read = np.hstack([told[f"dqn_apart/{part}"] for part in parts])
    assert np.abs(values(brought.written[0], read) - told["dqn_apart/value"]).max() < 1e-6


def test_one_observation_is_a_state_with_its_ranges(told, into):
    brought = into("dqn_car.zip", names=Names(state=("position", "velocity"), actions=("left", "stay", "right")))
    assert np.abs(values(brought.written[0], told["dqn_car/observation"]) - told["dqn_car/value"]).max() < 1e-5
    assert section(brought.spec, "mdp", "state", "velocity") == {"range": [-0.07, 0.07], "edge": "clip"}
    assert section(brought.spec, "mdp", "actions") == ["left", "stay", "right"]


def test_a_counted_observation_is_a_finite_world(told, into):
    brought = into("dqn_lake.zip")
    read = np.eye(16)[told["dqn_lake/observation"]]
    assert np.abs(values(brought.written[0], read) - told["dqn_lake/value"]).max() < 1e-6
    assert section(brought.spec, "mdp", "states") == 16
    assert section(brought.spec, "agent", "q", "network", "encoding") == "one_hot"


@pytest.mark.parametrize("name", ["ddpg", "td3", "sac"])
def test_critics_and_their_actor_are_written_with_the_box_of_their_actions(told, into, name):
    brought = into(f"{name}.zip", names=Names(actions=("dx", "dy")))
    assert section(brought.spec, "mdp", "actions") == {"dx": {"range": [-1, 1]}, "dy": {"range": [-0.5, 2]}}
    assert section(brought.spec, "agent", "q", "network", "inputs") == ["achieved", "goal", "state", "action"]
    assert section(brought.spec, "agent", "q", "critics", "count") == told[f"{name}/critics"].shape[1]
    chance = {"td3": {"noise", "noise_clip"}, "sac": {"deviation", "entropy"}, "ddpg": set()}
    assert set(section(brought.spec, "agent", "actor")) == chance[name]
    with pytest.raises(UsageError, match="--actions: 1 names, and an action has 2 numbers"):
        into(f"{name}.zip", names=Names(actions=("dx",)), force=True)
    parts = ("achieved_goal", "desired_goal", "observation", "action")
    read = np.hstack([told[f"{name}/{part}"] for part in parts])
    for place in range(told[f"{name}/critics"].shape[1]):
        found = values(brought.written[0], read, prefix=f"critic{place}.")
        assert np.abs(found[:, 0] - told[f"{name}/critics"][:, place]).max() < 1e-6
    with safe_open(brought.written[0], "numpy") as file:
        assert {"actor.layer0.weight", "actor.output.bias", "critic0.output.weight"} <= set(file.keys())


def test_what_the_file_says_is_told_and_what_it_lacks_too(into):
    agent = agent_of("dqn")
    assert (agent.source, agent.discount, agent.hindsight) == ("Stable-Baselines3 2.9.2, DQN with HER", 0.9, True)
    brought = into("dqn.zip")
    assert any("VecNormalize" in remark for remark in brought.remarks)
    lines = ast.parse("\n".join(brought.probe)).body
    assert len([line for line in lines if not isinstance(line, (ast.Import, ast.ImportFrom))]) == 6
    assert ast.unparse(lines[-1]).startswith("np.savez('dqn.probe.npz', observation=read['observation'], ")


def test_averages_and_reward_scale_are_taken_in(told, into, tmp_path):
    wide = {f"{part}.var": np.full(told[f"dqn/{part}"].shape[1], 4.0) for part in ("observation", "desired_goal")}
    np.savez(tmp_path / "averages.npz", **wide, **{"observation.mean": np.arange(3.0)})
    brought = into("dqn.zip", normalise=str(tmp_path / "averages.npz"), reward_scale=0.5)
    raw = [told["dqn/achieved_goal"], 2 * told["dqn/desired_goal"], 2 * told["dqn/observation"] + np.arange(3.0)]
    assert np.abs(values(brought.written[0], np.hstack(raw)) - 2 * told["dqn/value"]).max() < 1e-6
    assert not any("VecNormalize" in remark for remark in brought.remarks)


def test_averages_may_be_said_in_place(told, into):
    brought = into("dqn_car.zip", normalise="mean=1,2 var=4,9")
    raw = told["dqn_car/observation"] * [2, 3] + [1, 2]
    assert np.abs(values(brought.written[0], raw) - told["dqn_car/value"]).max() < 1e-4


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"names": Names(state=("x",))}, "--state: 1 names, and an observation has 3 numbers"),
        ({"names": Names(goal=("s0",))}, "--goal: 1 names, and a goal has 2 numbers"),
        ({"names": Names(actions=("a", "b"))}, "--actions: 2 names, and the network has 5 outputs"),
        ({"names": Names(actions=("a", "a", "b", "c", "d"))}, "--actions: 'a' is listed twice"),
        ({"names": Names(state=("x", "1y", "z"))}, "--state: '1y' is no name; as in --state x,y"),
        ({"normalise": "mean=1,2"}, "--normalise: mean has 2 numbers, and 7 are read"),
        ({"normalise": "median=1"}, "--normalise: 'median' is neither mean nor var"),
        ({"normalise": "mean=1,"}, "--normalise: 'mean=1,' cannot be read"),
        ({"normalise": "nothing.npz"}, "--normalise: nothing.npz: No such file or directory"),
        ({"reward_scale": 0.0}, "--reward-scale: what rewards were multiplied by in training, above 0"),
        ({"name": "My Agent"}, "'My Agent' is no name"),
    ],
)
def test_words_that_do_not_fit_are_refused_before_anything_is_written(into, tmp_path, said, message):
    with pytest.raises(UsageError) as error:
        into("dqn.zip", **said)
    assert message in str(error.value) and not any(tmp_path.iterdir())


def test_nothing_is_overwritten_unasked(into, tmp_path):
    into("dqn.zip")
    (tmp_path / "dqn.yaml").write_text("mine")
    with pytest.raises(UsageError, match="exists; --force overwrites it"):
        into("dqn.zip")
    assert (tmp_path / "dqn.yaml").read_text() == "mine"
    into("dqn.zip", force=True)
    assert (tmp_path / "dqn.yaml").read_text().startswith("# Stable-Baselines3")


# --- spaces, as Gymnasium and Gym print them ------------------------------------------------------------------------


def test_printed_spaces_are_read_in_their_order():
    new = "{'b': Box(-1.0, 1.0, (2,), float32), 'a': Box([-1.  -0.5], [1. inf], (2,), float32), 'c': Discrete(3)}"
    assert dict(entries(new)) == {
        "b": Box((2,), (-1.0, -1.0), (1.0, 1.0)),
        "a": Box((2,), (-1.0, -0.5), (1.0, np.inf)),
        "c": Discrete(3),
    }
    old = "OrderedDict([('z', Box([[0 1]\n [2 3]], 9, (2, 2), uint8)), ('d', Discrete(4, start=1))])"
    assert dict(entries(old)) == {"z": Box((2, 2), (0, 1, 2, 3), (9,) * 4), "d": Discrete(4, 1)}
    assert list(dict(entries(new))) == ["b", "a", "c"]


def test_bounds_that_a_text_leaves_out_are_unknown_and_strange_spaces_are_named():
    assert printed("Box([0. 0. ... 0.], [1. 1. ... 1.], (2000,), float32)") == Box((2000,), None, None)
    assert printed("MultiBinary(4)") == Other("MultiBinary(4)")
    assert space_of({":type:": "<class 'gymnasium.spaces.text.Text'>"}) == Other("<class 'gymnasium.spaces.text.Text'>")
    with pytest.raises(Unreadable, match="brackets do not close"):
        dict(entries("{'a': Box(-1.0, 1.0, (2,"))
