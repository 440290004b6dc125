"""Where the model is wrong is drawn where it is wrong, and rounding is not drawn as an error."""

from __future__ import annotations

import numpy as np
import pytest

from wmlab.cli import main
from wmlab.report.content.worst import without_rounding

SPEC = """
wmlab: 1
name: own_maze
mdp:
  kind: gridworld
  map: |
    #####
    #...#
    #...#
    #####
  slip: {straight: 0.8, left: 0.1, right: 0.1}
goals: {reward: {kind: generic, count: 8, seed: 0}, terminate: never}
agent: {kind: exact, discount: 0.9}
extract: {kind: lp}
evaluate: {model_error: {}}
sweep:
  goals: {goals.reward.count: [1, 8]}
profiles:
  smoke: {seeds: 2}
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def typed(text, *flags):
        """The page, its folder, and all that the screen says."""
        (tmp_path / "spec.yaml").write_text(text)
        with pytest.raises(SystemExit) as stop:
            main(["run", "spec.yaml", "--jobs", "0", "--output", "reports", *flags])
        assert not stop.value.code
        (page,) = (tmp_path / "reports").rglob("index.html")
        return page.read_text(), page.parent, "".join(capsys.readouterr())

    return typed


def test_errors_are_drawn_at_the_point_where_the_model_is_furthest_off(run):
    page, folder, screen = run(SPEC)
    assert "At goals = 1, where the model is furthest off." in page
    # It is a spec of one's own: nothing of it speaks of a paper.
    assert folder.name == "full" and "profile full" in screen
    assert "paper" not in page.replace("--paper", "") and "paper" not in screen


def test_a_point_that_the_spec_asks_for_is_drawn_and_its_rounding_is_no_error(run):
    page, folder, _ = run(f"{SPEC}report: {{maps: {{where: {{goals: 8}}}}}}\n", "--profile", "paper")
    assert "At goals = 8. Nowhere more than" in page and "furthest off" not in page
    assert folder.name == "full"  # the same under either name


def test_rounding_is_drawn_as_nothing_and_unknown_places_stay_unknown():
    values, note = without_rounding(np.array([1e-16, 0.0, np.nan]))
    assert (
        values[:2].tolist() == [0.0, 0.0]
        and np.isnan(values[2])
        and note == "Nowhere more than 1e-16, which is rounding."
    )
    real = np.array([1e-16, 1e-3])
    assert without_rounding(real)[0] is real
