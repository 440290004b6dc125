"""A figure that a spec asks for is on the page, by the command that a user types."""

from __future__ import annotations

import pytest

from wmlab.cli import main

SPEC = """
wmlab: 1
name: three_axes
mdp: {kind: random, states: 4, actions: 2, seed: 0}
goals: {reward: {kind: generic, count: 4, seed: 0}, terminate: never}
agent: {kind: exact, discount: 0.9}
extract: {kind: pseudo_inverse}
evaluate: {model_error: {}, fit: {}}
sweep:
  goals: {goals.reward.count: [2, 4]}
  discount: {agent.discount: [0.9]}
  states: {mdp.states: [3, 4]}
report:
  heatmaps: {metrics: [wm.tv], rows: goals, columns: discount}
"""


def test_a_heatmap_beside_a_third_axis_is_drawn_for_each_of_its_labels(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(SPEC)
    with pytest.raises(SystemExit) as stop:
        main(["run", "spec.yaml", "--jobs", "0", "--output", "reports"])
    assert not stop.value.code
    (page,) = (tmp_path / "reports").rglob("index.html")
    assert {file.name for file in (page.parent / "figures").glob("heat-*.svg")} == {
        "heat-wm.tv-states-3.svg",
        "heat-wm.tv-states-4.svg",
    }
    assert "wm.tv at states = 3." in page.read_text() and "Not drawn" not in page.read_text()
