"""wmlab diff: what is different, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from wmlab.app.diff import compare_two
from wmlab.cli.diff import show_difference
from wmlab.errors import UsageError, WmlabError

SPECS = Path(__file__).parents[1] / "specs" / "valid"
MAZE = str(SPECS / "maze.yaml")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path))


def test_a_spec_does_not_differ_from_itself():
    found = compare_two(MAZE, MAZE)
    assert found.empty and show_difference(found).endswith("\nno difference")
    assert all(row.same and not row.differ for row in found.stages)


def test_a_changed_value_is_shown_with_both_places_and_with_the_stages_that_it_changes():
    found = compare_two(MAZE, None, sets=["agent.discount=0.5"])
    (value,) = found.values
    assert (value.path, value.other, value.other_source) == ("agent.discount", 0.5, "--set agent.discount=0.5")
    assert "maze.yaml:" in value.one_source
    why = {row.role: row.why for row in found.stages if row.differ}
    assert why["train"] == ("agent.discount",) and why["extract"] == ("input 'agent'",)
    assert json.loads(show_difference(found, "json"))["values"][0]["path"] == "agent.discount"


def test_two_profiles_of_one_spec():
    found = compare_two(str(SPECS / "profiles.yaml"), None, profiles=["laptop", "smoke"])
    assert [value.path for value in found.values] == ["seeds", "sweep.goals"]
    (train,) = (row for row in found.stages if row.role == "train")
    assert train.differ == 0 and train.only_one > 0  # the same question, asked at fewer points
    alone = sum(row.only_one for row in found.stages)
    assert f"stages the same, 0 not, {alone} only in A" in show_difference(found)


def test_a_stage_that_points_share_is_counted_once(tmp_path):
    spec = tmp_path / "ties.yaml"
    maze = Path(MAZE).read_text().partition("claims:")[0]
    spec.write_text(maze + "sweep: {ties: {extract.tie_break: [vertex, least_norm]}}\n")
    for change, train, extract in (("agent.discount=0.5", (0, 1), (0, 2)), ("extract.norm=l1", (1, 0), (2, 0))):
        found = compare_two(str(spec), None, sets=[change])
        counts = {row.role: (row.same, row.differ) for row in found.stages}
        assert counts["train"] == train and counts["extract"] == extract


def test_another_kind_is_shown_without_the_defaults_of_either():
    found = compare_two(MAZE, None, sets=["extract={kind: tabular_p_learning, steps: 50}"])
    assert [value.path for value in found.values] == ["extract.kind", "extract.steps"]


def test_two_results_are_compared_by_their_metrics(tmp_path):
    for name, value in (("a", 0.5), ("b", 0.25)):
        metrics = {"wm.tv": {"mean": value}, "fit.residual": {"mean": 0.0}}
        text = json.dumps({"spec": "x", "profile": name, "metrics": metrics})
        (tmp_path / f"{name}.json").write_text(text)
    found = compare_two(str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    assert [(row.name, row.one, row.other) for row in found.metrics] == [("wm.tv", 0.5, 0.25)]
    assert found.same_metrics == 1 and [value.path for value in found.values] == ["profile"]
    assert "wm.tv  0.5 → 0.25" in show_difference(found)


def test_what_cannot_be_compared_says_why(tmp_path):
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(UsageError, match="compare with what"):
        compare_two(MAZE, None)
    with pytest.raises(UsageError, match="a spec and a results.json"):
        compare_two(MAZE, str(tmp_path / "a.json"))
    with pytest.raises(WmlabError, match="is no results.json"):
        compare_two(str(tmp_path / "a.json"), str(tmp_path / "a.json"))
    with pytest.raises(UsageError, match="once for both sides, or twice"):
        compare_two(MAZE, None, profiles=["a", "b", "c"])


def test_a_difference_is_found_without_jax():
    code = (
        f"import sys; from wmlab.app.diff import compare_two as c; c({MAZE!r}, {MAZE!r}); print('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
