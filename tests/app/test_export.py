"""What is exported can be read back: as an agent from elsewhere it gives the same model."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

import wmlab
from wmlab.app.export import model_weights
from wmlab.app.export_meaning import model_block, model_meaning
from wmlab.cli import guarded
from wmlab.core.continuous.view import Frame
from wmlab.errors import WmlabError
from wmlab.extraction.continuous.models import fresh
from wmlab.extraction.continuous.options import Model
from wmlab.registry import mdps
from wmlab.runtime.result import Result

SPECS = Path(__file__).parents[2] / "specs"
CAR = (
    "agent.envs=8",
    "agent.steps=1024",
    "agent.network.width=16",
    "agent.checkpoints=1",
    "extract.steps=5",
    "extract.model={depth: 1, width: 16}",
    "seeds=1",
    "claims=null",
    "evaluate={fit: null, unseen: null, model_error: null, value_error: null, return: null}",
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / ".wmlab"))
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", lambda data, draw: {"index.html": b""})
    return tmp_path


def test_the_exact_fourrooms_agent_read_back_gives_the_same_kernel(here):
    spec = SPECS / "quickstart.yaml"
    ours = wmlab.load(
        spec, sets=["evaluate={fit: null, model_error: null, identify: null, unseen: null}", "claims=null"]
    )
    found = ours.run(jobs=0, progress=False)
    (folder,) = ours.export(here / "out")
    (text,) = ours.export(here / "text", format="npz")
    q = safetensors.numpy.load_file(folder / "q.safetensors")
    assert np.array_equal(q["q"].transpose(2, 0, 1), found.arrays("train")["q"])
    with np.load(text / "q.npz") as archive:
        assert all(np.array_equal(archive[name], q[name]) for name in q)
    model = safetensors.numpy.load_file(folder / "model.safetensors")
    np.testing.assert_allclose(model["transitions"].sum(axis=-1), 1, atol=1e-9)
    meaning = json.loads((folder / "meaning.json").read_text())
    assert meaning["files"]["q.safetensors"]["q"] == ["state", "action", "goal"]
    assert len(meaning["states"]) == 68 and meaning["discount"] == 0.99 and len(meaning["actions"]) == 4

    back = read_back(folder, ours)
    theirs = back.run(jobs=0, progress=False)
    for name in ("successors", "probabilities"):
        assert np.array_equal(theirs.arrays("extract")[name], found.arrays("extract")[name])


def test_the_arrays_of_an_ensemble_say_which_axis_is_that_of_members():
    weights = {"weights/layer0.weight": np.zeros((5, 4, 8)), "weights/layer0.bias": np.zeros((5, 8))}
    form = {"form": "ensemble", "members": 5, "options": {"depth": 1}}
    stored = Result({**weights, "curve": np.zeros(3)}, {"model": form, "notes": {}})
    described = model_weights(stored).described
    assert described == {"layer0.weight": ["member", "input", "output"], "layer0.bias": ["member", "output"]}
    assert "mean of the members' moves" in model_meaning(stored)["reads"] and model_meaning(stored)["members"] == 5
    single = Result({"weights/layer0.weight": np.zeros((4, 8))}, {"model": {"form": "network"}})
    assert model_weights(single).described == {"layer0.weight": ["input", "output"]}


def read_back(folder: Path, ours: wmlab.Experiment) -> wmlab.Experiment:
    """The same experiment with its agent from the files of an export; nothing else of it is known."""
    (data,) = ours.data
    meaning = json.loads((folder / "meaning.json").read_text())
    mdp = data["mdp"]
    if "cells" in meaning:
        free = {tuple(cell) for cell in meaning["cells"]}
        rows, columns = (max(cell[axis] for cell in free) + 2 for axis in (0, 1))
        walls = [[r, c] for r in range(rows) for c in range(columns) if (r, c) not in free]
        mdp = {"kind": "unknown", "states": {"grid": [rows, columns], "walls": walls}, "actions": meaning["actions"]}
    sections = {"mdp": mdp, "goals": data["goals"], "agent": meaning["agent"], "extract": data["extract"]}
    body = {"wmlab": 1, "name": "back", **sections}
    path = folder / "back.yaml"
    path.write_text(json.dumps(without_nothing(body)))
    return wmlab.load(path)


def without_nothing(data):
    if isinstance(data, dict):
        return {key: without_nothing(value) for key, value in data.items() if value is not None}
    return data


@pytest.mark.slow
def test_weights_of_a_trained_network_read_back_give_the_same_extraction(here):
    ours = wmlab.load(SPECS / "mountaincar_position.yaml", profile="smoke", sets=CAR)
    found = ours.run(jobs=0, progress=False)
    (folder,) = ours.export(here / "out")
    assert "layer0.weight" in safetensors.numpy.load_file(folder / "network.safetensors")
    theirs = read_back(folder, ours).run(jobs=0, progress=False)
    for name, array in found.arrays("extract").items():
        np.testing.assert_allclose(theirs.arrays("extract")[name], array, rtol=0, atol=1e-6, err_msg=name)


def test_what_was_never_run_has_nothing_to_export(here, capsys):
    with pytest.raises(WmlabError, match=r"quickstart \(paper\) has not been run: there is nothing to export yet"):
        wmlab.load(SPECS / "quickstart.yaml").export(here / "out")
    from wmlab.cli import app

    assert guarded(lambda: app(args=["export", str(SPECS / "quickstart.yaml")], standalone_mode=False)) == 1
    assert "has not been run" in capsys.readouterr().err and not (here / "exports").exists()


ENCODINGS = ("raw", "normalised", "sincos")
SWING = {
    "state": {"angle": {"range": [-3, 3], "edge": "wrap"}, "speed": {"range": [-8, 8], "edge": "clip"}},
    "actions": ["left", "right"],
}


@pytest.mark.parametrize(
    ("family", "encoding", "scale"),
    [(family, encoding, "range") for family in ("residual", "affine", "additive") for encoding in ENCODINGS]
    + [("residual", "raw", "none")],
)
def test_what_is_said_of_an_exported_model_is_enough_to_compute_it_by_hand(family, encoding, scale):
    space = mdps["unknown"].traits.space(mdps["unknown"].build(SWING))
    sizes = {"depth": 2, "width": 5, "norm": "layer", "skip": family == "residual"}
    options = Model(family=family, encoding=encoding, scale=scale, **sizes)
    model = fresh(jax.random.key(0), Frame.of(space), 2, options)
    draw = np.random.RandomState(0)
    weights = {name: draw.normal(0, 0.2, each.shape) for name, each in model.weights.items()}
    model = dataclasses.replace(model, weights={name: jnp.float32(each) for name, each in weights.items()})
    told = model_block({"form": "network", "options": dataclasses.asdict(options)}, space)
    states = draw.uniform((-3, -8), (3, 8), (6, 2))
    scaled = (states - [-3, -8]) / [6, 16] * 2 - 1
    columns = (
        {"angle": scaled[:, 0], "speed": scaled[:, 1]}
        if encoding != "raw"
        else dict(zip(("angle", "speed"), states.T, strict=True))
    )
    columns |= {"sine of angle": np.sin(np.pi * scaled[:, 0]), "cosine of angle": np.cos(np.pi * scaled[:, 0])}
    columns |= {"action left": np.zeros(6), "action right": np.ones(6)}
    read = x = np.column_stack([columns[name] for name in told["inputs"]])
    for layer in range(0 if family == "affine" else 2):
        x = x @ weights[f"layer{layer}.weight"] + weights[f"layer{layer}.bias"]
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-6)
        x = np.tanh(x * weights[f"layer{layer}.scale"] + weights[f"layer{layer}.shift"])
    change = x @ weights["output.weight"] + weights["output.bias"]
    change += read @ weights["skip.weight"] if "skip.weight" in told["arithmetic"] else 0
    change += weights["action.weight"][1] if "action.weight" in told["action"] else 0
    assert told["outputs"] == ["change of angle", "change of speed"]
    after = states + (np.array([6, 16]) if "span * change" in told["meaning"] else 1) * change
    after[:, 0] = (after[:, 0] + 3) % 6 - 3
    found = np.asarray(model.predict(jnp.float32(states), jnp.ones(6, int)))
    np.testing.assert_allclose(found, after, atol=2e-4)


@pytest.mark.parametrize(("bounded", "held"), [(True, " and held at its bounds"), (False, "")])
def test_an_export_says_what_becomes_of_a_rate_before_it_drives(bounded, held):
    space = mdps["unknown"].traits.space(mdps["unknown"].build(SWING))
    options = Model(scale="none", bounded=bounded, rates={"angle": "speed"})
    told = model_block({"form": "network", "options": dataclasses.asdict(options)}, space)["rates"]
    assert told["pairs"] == {"angle": "speed"}
    moves = "next variable = variable + rate.weight[i] * next rate"
    assert told["meaning"] == f"{moves}, itself wrapped where it wraps{held}, the i-th pair"
