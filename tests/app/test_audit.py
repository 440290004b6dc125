"""Audits: what can be said of an agent from elsewhere whose world nobody knows."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import safetensors.numpy

import wmlab
from wmlab.results.point_facts import PointFacts
from wmlab.results.signs import without_truth
from wmlab.spec.check.metrics import made_at

EXAMPLES = Path(__file__).parents[2] / "specs" / "examples"
DATA = EXAMPLES / "data"


def facts_of(study):
    return PointFacts({}, study.plans[0].resolved.points[0].experiment, [], {}, [], {})


def test_an_audit_makes_what_needs_no_truth_and_says_so():
    study = wmlab.load(EXAMPLES / "audit_q_table.yaml").study
    (point,) = study.plans[0].resolved.points
    made = made_at(point, {}, sound=True)
    assert {name.split(".")[0] for name in made} == {"fit", "ident", "unseen"}
    assert {name for name in made if name.startswith("unseen")} == {
        f"unseen.{goal}.{name}" for goal in ("dock_dry", "mean") for name in ("r_believed", "r_certain", "r_possible")
    }
    assert {stage.kind for stage in study.stages.values()} == {
        "train",
        "extract",
        "explore",
        "measure",
        "identify",
        "plan",
        "guarantee",
    }
    (sign,) = without_truth(facts_of(study))
    said = sign.sentence
    assert said.startswith("mdp.kind is unknown: nothing here is held against a true world")
    known = wmlab.load(EXAMPLES / "network_from_elsewhere.yaml").study
    assert list(without_truth(facts_of(known))) == []


def test_the_recipe_of_the_audited_table_gives_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / ".wmlab"))
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", lambda data, draw: {"index.html": b""})
    robot = wmlab.load(DATA / "robot.yaml")
    robot.run(jobs=0, progress=False)
    (folder,) = robot.export(tmp_path / "exports", dtype="float32")
    assert (folder / "q.safetensors").read_bytes() == (DATA / "robot_q.safetensors").read_bytes()


def test_the_recipe_of_the_drone_gives_the_same_values(tmp_path):
    recipe = runpy.run_path(str(DATA / "drone_q.py"))
    states, q = recipe["values"]()
    recipe["write"](tmp_path / "drone.safetensors", recipe["network"](states, q))
    made, kept = (
        safetensors.numpy.load_file(file) for file in (tmp_path / "drone.safetensors", DATA / "drone_q.safetensors")
    )
    assert np.array_equal(made["net.0.weight"], kept["net.0.weight"])
    found = [values(weights, states) for weights in (made, kept)]
    np.testing.assert_allclose(*found, atol=2e-3)  # weights hang on the last bits of a linear solver, values do not
    np.testing.assert_allclose(found[1].reshape(q.shape), q, atol=0.15)


def values(weights, states):
    hidden = np.tanh(states @ weights["net.0.weight"].T + weights["net.0.bias"])
    return hidden @ weights["net.2.weight"].T + weights["net.2.bias"]


def test_a_network_is_audited_where_nobody_knows_its_world(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / ".wmlab"))
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", lambda data, draw: {"index.html": b""})
    sets = [
        "mdp={kind: unknown, state: {x: {range: [-1, 1], edge: clip}, y: {range: [-1, 1], edge: clip}}, "
        "actions: [north, east, south, west, hover]}",
        "evaluate={return: null, model_error: null, value_error: null}",
        "claims=null",
    ]
    found = wmlab.load(EXAMPLES / "network_from_elsewhere.yaml", profile="smoke", sets=sets).run(jobs=0, progress=False)
    assert not found.results["failures"]
    assert {name.split(".")[0] for name in found.metrics} == {"fit", "unseen"}
    assert 0 < found.metrics["unseen.upwind.r_believed"]["mean"] < 1
    assert found.results["findings"][-1]["sentence"].startswith("mdp.kind is unknown")
