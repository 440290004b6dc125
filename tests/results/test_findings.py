"""What a run finds out about its own reading, by the command that a user types."""

from __future__ import annotations

import json
import re

import pytest

from wmlab.cli import main

WRONG_SUPPORT = """
wmlab: 1
name: wrong_support
mdp: {{kind: tabular, states: [a, b, c], actions: [go], transitions: {{a: {{go: b}}, b: {{go: c}}, c: {{go: a}}}}}}
goals: {{reward: {{kind: indicator}}, at: all, terminate: never}}
agent: {{kind: exact, discount: 0.9}}
extract: {{kind: lp, prior: {{support: {{kind: table, of: {{a: {support}}}}}}}}}
evaluate: {evaluate}
"""
CLOSED_ROOM = """
wmlab: 1
name: closed_room
mdp:
  kind: gridworld
  map: |
    ######
    #..#B#
    #..###
    ######
goals: {reward: {kind: generic, count: 1, seed: 0}, terminate: never}
agent: {kind: exact, discount: 0.9}
extract: {kind: column_matching}
evaluate:
  unseen: {goals: {closed: {reach: B}, open: {reach: [1, 1]}}, starts: reset}
"""
LITTLE = """
wmlab: 1
name: little
mdp:
  kind: gridworld
  map: |
    #######
    #.....#
    #.....#
    #######
goals: {reward: {kind: indicator}, at: {first: 2, of: states, shuffle: 0}}
agent: {kind: q_learning, discount: 0.9, steps: 2, envs: 1}
extract: {kind: tabular_p_learning, steps: 2}
evaluate: {return: {}, model_error: {}, identify: {}}
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def typed(text):
        """The findings in results.json by their ids, what the screen says, the results, and the page."""
        (tmp_path / "spec.yaml").write_text(text)
        with pytest.raises(SystemExit) as stop:
            main(["run", "spec.yaml", "--jobs", "0", "--output", "reports"])
        assert not stop.value.code
        (page,) = (tmp_path / "reports").rglob("index.html")
        results = json.loads(page.with_name("results.json").read_text())
        return {one["id"]: one for one in results["findings"]}, capsys.readouterr().out, results, page.read_text()

    return typed


@pytest.mark.parametrize("evaluate", ["{fit: {}}", "{}"])
def test_a_support_that_excludes_every_fitting_kernel_is_said_and_where(run, evaluate):
    found, screen, _, page = run(WRONG_SUPPORT.format(support="[a, c]", evaluate=evaluate))
    sentence = found["prior_rules_out"]["sentence"]
    assert sentence.startswith(
        "seed 0: extract.prior.support rules out every kernel that explains the values at 1 of 3"
    )
    assert "the worst is a, go (residual" in sentence
    assert f"failed: {sentence}" in screen and page.count("rules out every kernel") == 2  # its head, and its findings


def test_a_support_that_holds_the_truth_is_no_finding(run):
    found, screen, _, page = run(WRONG_SUPPORT.format(support="[a, b]", evaluate="{fit: {}}"))
    assert found == {}
    assert "findings: none" in screen and "Nothing that was measured speaks against this reading." in page


def test_a_goal_out_of_reach_has_no_ratio_and_no_nan(run):
    found, screen, results, page = run(CLOSED_ROOM)
    assert list(found) == ["out_of_reach"]
    assert "doubtful: The goal closed is out of reach: R* is 0 from every start, so there is no ratio." in screen
    ratio = results["metrics"]["unseen.closed.ratio"]
    assert ratio["values"] == [None] and "notes" not in ratio
    shown = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)  # programs know the word; data stays in
    assert "explorer-data" in shown and not re.search(r"\bnan\b", shown, re.IGNORECASE)
    assert "The reading is doubtful: The goal closed is out of reach" in page


def test_a_failed_reading_is_called_one_without_any_claim(run):
    found, screen, results, page = run(LITTLE)
    returns = results["metrics"]["agent.return"]["mean"]
    assert found["hardly_trained"]["severity"] == "failed"
    assert found["hardly_trained"]["sentence"].startswith(f"The agent is hardly trained: its return is {returns:.3g},")
    assert found["standing_still"]["sentence"].startswith("The model is ")
    assert found["fits_many"]["severity"] == "note"
    lines = [line for line in screen.splitlines() if line.startswith(("failed: ", "doubtful: ", "note: "))]
    assert [line.split(":")[0] for line in lines] == sorted(
        (line.split(":")[0] for line in lines), key=["failed", "doubtful", "note"].index
    )
    assert lines[0].startswith("failed: ") and 'class="summary bad"' in page and "The reading failed: " in page
