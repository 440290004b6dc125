"""Files of PyTorch, Flax, safetensors and NumPy: the same numbers as their own libraries have."""

from __future__ import annotations

import ast
import dataclasses
import re

import flax.serialization
import jax
import numpy as np
import pytest
from flax import linen
from flax.traverse_util import flatten_dict
from safetensors.numpy import save_file

from tests.foreign.conftest import DATA
from tests.foreign.forward import values
from wmlab.errors import UsageError
from wmlab.foreign.agents import Asked
from wmlab.foreign.cleanrl import actor_critic_agent
from wmlab.foreign.torch_file import torch_tensors
from wmlab.foreign.wiring import Names
from wmlab.spec.check.array_headers import Unreadable
from wmlab.spec.yaml.load import load


class Pqn(linen.Module):
    """The network of purejaxql's pqn_gymnax.py: it makes a BatchNorm whether it uses it or not."""

    norm_input: bool = False

    @linen.compact
    def __call__(self, read, train: bool = False):
        normed = linen.BatchNorm(use_running_average=not train)(read)
        hidden = normed if self.norm_input else read
        for _ in range(2):
            hidden = linen.relu(linen.LayerNorm()(linen.Dense(12)(hidden)))
        return linen.Dense(3)(hidden)


@pytest.fixture(scope="module")
def pqn():
    """A network with its parameters, some rows, and its own values of these: unused BatchNorm, and a used one."""
    rows = np.random.RandomState(0).normal(size=(20, 4)).astype(np.float32)

    def made(norm_input):
        network = Pqn(norm_input)
        variables = jax.tree.map(np.asarray, network.init(jax.random.key(0), rows))
        draw = np.random.RandomState(1)
        shaken = jax.tree.map(lambda each: (each + 0.1 * draw.normal(size=each.shape)).astype(np.float32), variables)
        if not norm_input:
            shaken["params"]["BatchNorm_0"] = variables["params"]["BatchNorm_0"]
        shaken["batch_stats"] = {"BatchNorm_0": {"mean": np.arange(4.0), "var": np.arange(1.0, 5.0)}}
        return shaken, rows, np.asarray(network.apply(shaken, rows))

    return made


def test_torch_tensors_are_those_that_torch_says_half_precision_strides_and_all(told):
    with open(DATA / "checkpoint.pt", "rb") as stream:
        state = torch_tensors(stream)
        for name in ("0.weight", "0.bias", "2.weight", "2.bias"):
            assert (state.tensors[f"model.{name}"].numbers() == told[f"plain/{name}"]).all()
        assert state.tensors["odd"].numbers().tolist() == [[1.0, 1.0, 1.0]]
    assert state.beside["epoch"] == 3 and state.beside["rate"] == 1e-3
    with open(DATA / "protocol4.pth", "rb") as stream:
        assert (torch_tensors(stream).tensors["0.bias"].numbers() == told["plain/0.bias"]).all()


@pytest.mark.parametrize(
    ("name", "asked", "forward"),
    [
        ("cleanrl", Asked(), {}),
        ("norm_after", Asked(activation="gelu_tanh"), {"activation": "gelu_tanh", "after": True}),
        ("duelling", Asked(), {}),
        ("sketch", Asked(), {}),
    ],
)
def test_networks_of_torch_give_the_values_that_torch_gives(told, into, name, asked, forward):
    brought = into(f"{name}.pth", asked=asked)
    assert np.abs(values(brought.written[0], told["torch/read"], **forward) - told[f"{name}/value"]).max() < 1e-5


@pytest.mark.parametrize(("name", "count"), [("cleanrl_ddpg", 1), ("cleanrl_td3", 2)])
def test_cleanrls_critics_read_actions_of_their_box_and_the_box_is_told(told, into, name, count):
    brought = into(f"{name}.cleanrl_model", names=Names(state=("x", "y", "z"), actions=("dx", "dy")), discount=0.9)
    assert "its actions are from [-1, 1] × [-0.5, 2]" in brought.remarks
    agent = load(brought.spec).at(["agent"]).plain()
    assert agent["q"]["network"]["inputs"] == ["state", "action"] and agent["discount"] == 0.9
    assert agent["q"]["critics"] == ({"count": 1, "combine": "first"} if count == 1 else {"count": 2})
    assert agent["actor"] == ({} if count == 1 else {"noise": 0.2, "noise_clip": 0.5})
    assert any("noise on TD3's targets" in remark for remark in brought.remarks) == (count == 2)
    read, scaled = told["cleanrl_td3/read"], (told["cleanrl_td3/action"] - [0, 0.75]) / [1, 1.25]
    for place in range(count):
        found = values(brought.written[0], np.hstack([read, scaled]), prefix=f"critic{place}.")
        assert np.abs(found[:, 0] - told["cleanrl_td3/critics"][:, place]).max() < 1e-6
    acted = [0, 0.75] + np.array([1, 1.25]) * np.tanh(values(brought.written[0], read, prefix="actor."))
    assert np.abs(acted - told["cleanrl_td3/policy"]).max() < 1e-6


def test_the_lines_that_ask_cleanrls_networks_make_the_probe_that_a_check_reads(into):
    lines = "\n".join(into("cleanrl_td3.cleanrl_model", names=Names(actions=("dx", "dy"))).probe)
    assert "value = torch.cat([qf(given, torch.as_tensor(action)) for qf in [qf1, qf2]], 1).mean(1)" in lines
    assert 'components=["dx", "dy"]' in lines and "policy=actor(given).detach().numpy()" in lines
    assert len([line for line in ast.parse(lines).body if not isinstance(line, ast.Import)]) == 6


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("12", "it holds an actor and no critic"),
        ("0.fc_mu", "action_scale and action_bias are no box of the 8 numbers that its actor gives"),
        ("1.fc3", "'1' does not read what its actor reads and an action, or gives no value"),
    ],
)
def test_actors_and_critics_that_do_not_fit_each_other_are_refused(left_out, message):
    with open(DATA / "cleanrl_td3.cleanrl_model", "rb") as stream:
        state = torch_tensors(stream)
        starts = tuple(f"{place}." for place in left_out) if left_out.isdigit() else (left_out,)
        kept = {name: tensor for name, tensor in state.tensors.items() if not name.startswith(starts)}
        with pytest.raises(Unreadable, match=re.escape(message)):
            actor_critic_agent(dataclasses.replace(state, tensors=kept), Asked())


def test_the_number_of_a_norm_in_a_sequential_tells_its_place(into):
    network = load(into("norm_after.pth").spec).at(["agent", "q", "network"]).plain()
    assert (network["norm"], network["norm_place"], network["epsilon"]) == ("layer", "after", 1e-5)


def test_streams_may_be_named_and_a_network_among_others_too(told, into):
    asked = Asked(value="value_stream", advantage="advantage_stream")
    brought = into("duelling.pth", asked=asked)
    assert np.abs(values(brought.written[0], told["torch/read"]) - told["duelling/value"]).max() < 1e-5
    assert into("checkpoint.pt", asked=Asked(network="model")).written[0].exists()


@pytest.mark.parametrize(
    ("file", "asked", "message"),
    [
        ("checkpoint.pt", Asked(), "'odd' belongs to no layer of a perceptron; --network PREFIX says which"),
        ("checkpoint.pt", Asked(network="q"), "no tensor's name begins with 'q.'; there are model.0, model.2"),
        ("duelling.pth", Asked(value="value_stream"), "say both --value and --advantage"),
        ("cleanrl.pth", Asked(quantiles=2), "3 outputs are not 2 quantiles of each action"),
        ("before_1_6.pth", Asked(), "it is in the format of PyTorch before 1.6; write it anew where you trust it"),
        ("whole_module.pth", Asked(), "its pickle holds 'torch.nn.modules.container.Sequential', which is no tensor"),
        ("namespace.pth", Asked(), "its pickle holds 'argparse.Namespace', which is no tensor and would be run"),
        ("make.py", Asked(), "it is no file of Flax"),
        ("values.npz", Asked(), "--network PREFIX says which"),
        ("nothing.pth", Asked(), "No such file or directory"),
    ],
)
def test_what_is_no_network_is_refused_in_words(into, tmp_path, file, asked, message):
    with pytest.raises(UsageError) as error:
        into(file, asked=asked)
    assert message in str(error.value) and str(error.value).startswith(str(DATA / file)) and not any(tmp_path.iterdir())


@pytest.mark.parametrize("norm_input", [False, True])
@pytest.mark.parametrize("form", ["msgpack", "safetensors", "npz"])
def test_purejaxqls_network_is_read_from_each_format_and_its_input_norm_is_folded_where_it_was_used(
    pqn, into, tmp_path, norm_input, form
):
    variables, rows, told = pqn(norm_input)
    file, folder = tmp_path / f"pqn.{form}", tmp_path
    if form == "msgpack":
        file.write_bytes(flax.serialization.to_bytes(variables))
    elif form == "safetensors":
        save_file({name: np.asarray(each, np.float32) for name, each in flatten_dict(variables, sep=",").items()}, file)
    else:
        np.savez(file, **flatten_dict(variables, sep="/"))
    brought = into(file, name="found", force=True)
    assert brought.spec == folder / "found.agent.yaml"
    assert np.abs(values(brought.written[0], rows, epsilon=1e-6) - told).max() < 2e-5
    said = " ".join(brought.remarks)
    assert ("taken into the first layer" if norm_input else "left out: its scale is 1") in said


def test_an_input_norm_without_its_averages_is_refused(pqn, into, tmp_path):
    variables, _, _ = pqn(True)
    (tmp_path / "x.msgpack").write_bytes(flax.serialization.to_bytes(variables["params"]))
    with pytest.raises(UsageError, match="normalises the inputs, and the file lacks its averages"):
        into(tmp_path / "x.msgpack")


def test_goals_that_are_read_and_heads_are_told_by_names(into):
    names = Names(state=("x", "y"), goal=("x", "y"), actions=("l", "s", "r"))
    network = load(into("cleanrl.pth", names=names).spec).at(["agent", "q", "network"]).plain()
    assert (network["goal"], network["inputs"], network["wanted"]) == ("input", ["state", "goal"], ["x", "y"])
    with pytest.raises(UsageError, match="--state: 1 names, and the network reads 4 numbers of the state"):
        into("cleanrl.pth", names=Names(state=("x",)), force=True)
