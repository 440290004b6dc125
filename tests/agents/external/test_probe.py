"""`agent.check`: values from an agent's own library find whatever is wired wrongly, and say what fits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.foreign.conftest import DATA
from wmlab.agents.external.in_numpy import ACTIVATIONS, outputs
from wmlab.agents.external.network import apply
from wmlab.agents.external.options import ExternalNetwork
from wmlab.errors import StageError
from wmlab.foreign.bring import Request, bring
from wmlab.foreign.wiring import Names
from wmlab.graph.study import open_study
from wmlab.registry import build
from wmlab.spec.check.validate import validate_all
from wmlab.stages.continuous.train import run as train
from wmlab.stages.finite.train import run as train_finite

ACTIONS = ("stay", "right", "left", "up", "down")
STATE = ("x", "y", "speed")


@pytest.fixture(scope="session")
def told():
    with np.load(DATA / "values.npz") as archive:
        return dict(archive)


@pytest.fixture
def agent(told, tmp_path, monkeypatch):
    """A folder with an imported agent, its spec and a probe; and a way to write the spec and the probe anew."""
    monkeypatch.chdir(tmp_path)
    names = Names(state=STATE, goal=("x", "y"), actions=ACTIONS)
    spec = bring(Request(DATA / "dqn.zip", tmp_path, names=names, within=0.15)).spec
    text = spec.read_text()
    taken = np.arange(20) % 5
    rows = {
        "observation": told["dqn/observation"],
        "variables": np.array(STATE),
        "goal": told["dqn/desired_goal"],
        "wanted": np.array(["x", "y"]),
        "achieved": told["dqn/achieved_goal"],
        "action": np.array(ACTIONS)[taken],
        "value": told["dqn/value"][np.arange(20), taken],
    }

    def write(change=None, left_out=(), **arrays):
        spec.write_text(text if change is None else text.replace(*change))
        assert change is None or spec.read_text() != text
        kept = {name: array for name, array in (rows | arrays).items() if name not in left_out}
        np.savez("dqn.probe.npz", **kept)
        return [(error.path, error.message, error.hint) for error in validate_all(["dqn.yaml"])]

    return write


def test_an_agent_as_it_was_imported_agrees_with_its_library(agent):
    assert agent() == []


@pytest.mark.parametrize("order", list(itertools.permutations(("achieved", "goal", "state")))[1:])
def test_every_other_order_of_inputs_is_refused_and_the_right_one_told(agent, order):
    ((path, message, hint),) = agent(("[achieved, goal, state]", f"[{', '.join(order)}]"))
    assert path == "agent.check.file" and "values are not those of the agent's own library" in message
    assert hint == "they agree with inputs: [achieved, goal, state]"


@pytest.mark.parametrize("order", list(itertools.permutations(STATE))[1:])
def test_every_other_order_of_what_is_observed_is_refused(agent, order):
    ((_, _, hint),) = agent(("observation: [x, y, speed]", f"observation: [{', '.join(order)}]"))
    assert hint == "they agree with observation: [x, y, speed]"


def test_another_order_of_the_goals_variables_is_refused(agent):
    ((_, _, hint),) = agent(("wanted: [x, y]", "wanted: [y, x]"))
    assert hint == "they agree with wanted: [x, y]"


@pytest.mark.parametrize("order", list(itertools.permutations(ACTIONS))[1::17])
def test_other_orders_of_actions_are_refused_wherever_they_are_said(agent, order):
    listed = ", ".join(order)
    ((_, _, hint),) = agent(("  discount:", f"  actions: [{listed}]\n  discount:"))
    assert hint == f"they agree with actions: [{', '.join(ACTIONS)}]"
    ((_, _, hint),) = agent((f"actions: [{', '.join(ACTIONS)}]", f"actions: [{listed}]"))
    assert hint == f"they agree with actions: [{', '.join(ACTIONS)}]"


def test_several_mistakes_at_once_are_told_together(agent):
    both = "network: {depth: 2, width: [10, 8], goal: input, inputs: [achieved, goal, state]"
    ((_, _, hint),) = agent(
        (
            both,
            both.replace("[achieved, goal, state]", "[state, achieved, goal]").replace(
                "{depth", "{activation: tanh, depth"
            ),
        )
    )
    assert hint.startswith("no order of inputs or actions gives them")  # two unrelated mistakes are more than is tried
    swapped = both.replace("[achieved, goal, state]", "[state, achieved, goal]")
    ((_, _, hint),) = agent((both, swapped), action=np.array(ACTIONS)[(np.arange(20) + 1) % 5])
    assert hint == "they agree with inputs: [achieved, goal, state] and actions: [right, left, up, down, stay]"


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        (("width: [10, 8],", "width: [10, 8], activation: tanh,"), "they agree with activation: relu"),
        (("width: [10, 8],", "width: [10, 8], activation: gelu,"), "they agree with activation: relu"),
    ],
)
def test_another_activation_is_told(agent, change, hint):
    assert [found[2] for found in agent(change)] == [hint]


def test_rewards_that_were_scaled_are_told(agent, told):
    value = told["dqn/value"][np.arange(20), np.arange(20) % 5] / 4
    ((_, _, hint),) = agent(value=value)
    assert hint == "they agree when divided by 4: wmlab import --reward-scale 4"


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"left_out": ["value"]}, "no array 'value'", None),
        ({"left_out": ["goal"]}, "no array 'goal', and the network reads one", None),
        ({"action": np.arange(20) % 5}, "actions by number do not say which is which", "save their names, of stay"),
        ({"action": np.array(["stay"] * 20)}, "no row has the action 'right'", None),
        ({"action": np.array(["stat"] * 20)}, "no action 'stat'", "did you mean 'stay'?"),
        ({"value": np.full(20, np.nan)}, "value holds nan", None),
        ({"value": np.zeros(7)}, "7 values, and observation has shape [20, 3]", None),
        ({"valeu": np.zeros(20)}, "what is 'valeu'?", "did you mean 'value'?"),
        ({"variables": np.array(["x", "y"])}, "observation has 3 columns, and their names are x, y", None),
        ({"variables": np.array(["x", "y", "sped"])}, "the network reads speed", "did you mean 'sped'?"),
        ({"achieved": np.zeros((20, 2))}, "the achieved goal's x is not the observation's x", None),
        (
            {"wanted": np.array(["y", "x"])},
            "the achieved goal's y is not the observation's y",
            "it is x: name the goal's",
        ),
        ({"value": np.array([object()] * 20)}, "'value' holds Python objects, which run code", None),
    ],
)
def test_a_probe_that_is_none_is_refused_in_words(agent, change, message, hint):
    found = agent(**change)
    assert len(found) == 1 and found[0][0] == "agent.check.file" and message in found[0][1], found
    assert hint is None or hint in found[0][2]


def test_a_probe_that_is_missing_is_told_at_its_line(agent, tmp_path):
    agent()
    (tmp_path / "dqn.probe.npz").unlink()
    assert [error.message for error in validate_all(["dqn.yaml"])] == ["there is no file dqn.probe.npz"]


def test_without_names_of_columns_they_are_taken_as_the_network_reads_them_and_still_what_is_achieved_tells(agent):
    assert agent(left_out=["variables", "wanted"]) == []
    swapped = ("observation: [x, y, speed]", "observation: [y, x, speed]")
    ((_, message, hint),) = agent(swapped, left_out=["variables"])
    assert "the achieved goal's x is not the observation's x" in message and hint.startswith("it is y")
    assert len(agent(swapped, left_out=["variables", "achieved"])) == 1


def test_the_check_is_made_again_when_the_agent_is_read(agent):
    agent()
    stage = next(stage for stage in open_study("dqn.yaml").stages.values() if stage.kind.endswith("train"))
    train(stage.params, {}, None)
    params = {**stage.params, "agent": {**stage.params["agent"], "actions": list(ACTIONS[::-1])}}
    with pytest.raises(StageError, match="dqn.probe.npz: .* they agree with actions: .stay, right, left, up, down."):
        train(params, {}, None)


def test_values_of_a_finite_world_are_checked_when_they_are_read(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = bring(Request(DATA / "dqn_lake.zip", tmp_path, names=Names(actions=("w", "s", "e", "n")))).spec
    spec.write_text(spec.read_text().replace("which_state_pays", "s15"))
    taken = np.arange(20) % 4
    states, value = told["dqn_lake/observation"], told["dqn_lake/value"][np.arange(20), taken]
    np.savez("dqn_lake.probe.npz", observation=states, action=np.array(["w", "s", "e", "n"])[taken], value=value)
    stage = next(stage for stage in open_study("dqn_lake.yaml").stages.values() if stage.kind.endswith("train"))
    train_finite(stage.params, {}, None)
    np.savez("dqn_lake.probe.npz", observation=states, action=np.array(["n", "s", "e", "w"])[taken], value=value)
    params = {**stage.params, "files": {}}
    with pytest.raises(StageError, match="they agree with actions: .n, s, e, w."):
        train_finite(params, {}, None)


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_numpy_and_jax_give_the_same_values(activation, place):
    said = {"depth": 2, "width": 6, "norm": "layer", "norm_place": place, "activation": activation, "epsilon": 1e-5}
    network = build(ExternalNetwork, said)
    draw = np.random.RandomState(0)
    weights = {}
    for name, inputs, width in (("layer0", 3, 6), ("layer1", 6, 6), ("output", 6, 2)):
        weights |= {f"{name}.weight": draw.normal(size=(inputs, width)), f"{name}.bias": draw.normal(size=width)}
        weights |= {f"{name}.scale": draw.normal(size=width), f"{name}.shift": draw.normal(size=width)}
    rows = draw.normal(size=(9, 3)).astype(np.float32)
    ours = apply({name: np.float32(array) for name, array in weights.items()}, network, [rows], np.zeros(2))
    assert np.abs(np.asarray(ours) - outputs(weights, network, rows)).max() < 1e-4
