"""Guarantees and goal design as a user meets them: from a spec to metrics, findings, the page, explain and design."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wmlab.app.certainty import of_chance
from wmlab.cli import main
from wmlab.graph.study import open_study

WINDY = """
wmlab: 1
name: hall
mdp:
  kind: gridworld
  map: |
    #######
    #..#..#
    #.....#
    #..#..#
    #######
  slip: {straight: 0.5, left: 0.25, right: 0.25}
goals: {reward: {kind: indicator}, at: [[1, 1]]}
agent: {kind: exact, discount: 0.9}
extract: {kind: lp, prior: {support: {kind: neighbours}}}
evaluate:
  unseen:
    guarantee: {slack: 1e-9}
    goals: {corner: {reach: [3, 5], avoid: [[1, 5]]}}
  design: {candidates: [[1, 1], [1, 2], [3, 5], [2, 2]]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which hall.yaml was run."""
    folder = tmp_path_factory.mktemp("certain")
    (folder / "hall.yaml").write_text(WINDY)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        patch.chdir(folder)
        patch.setenv("WMLAB_HOME", str(folder / "cache"))
        main(["run", "hall.yaml", "--jobs", "0", "--output", "reports"])
    assert not stop.value.code
    return folder


@pytest.fixture
def typed(folder, monkeypatch, capsys):
    """What a command prints in that folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("WMLAB_HOME", str(folder / "cache"))
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", lambda data, draw: {"index.html": b"page"})

    def run(*words, code=0):
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        said = capsys.readouterr()
        assert (stop.value.code or 0) == code, said
        return said.out + (said.err if code else "")

    return run


@pytest.fixture(scope="module")
def results(folder):
    return json.loads((folder / "reports/hall/full/results.json").read_text())


def test_what_is_certain_lies_below_what_is_attained_and_that_below_what_is_possible(results):
    metrics = {name: entry["mean"] for name, entry in results["metrics"].items()}
    for goal in ("corner", "mean"):
        certain, cautious, best, possible = (
            metrics[f"unseen.{goal}.{name}"] for name in ("r_certain", "r_cautious", "r_star", "r_possible")
        )
        assert 0 <= certain < cautious <= best + 1e-12 and best < possible
        assert metrics[f"unseen.{goal}.certain_ratio"] == pytest.approx(certain / best)
        assert 0 <= metrics[f"unseen.{goal}.slack_needed"] <= 1e-9  # values are exact


def test_a_design_says_what_exact_values_make_certain_now_and_with_the_best_candidate(results):
    metrics = results["metrics"]
    now, then = (metrics[f"design.{name}"] for name in ("r_certain", "r_certain_next"))
    assert now["mean"] == pytest.approx(metrics["unseen.mean.r_certain"]["mean"], abs=1e-6)
    assert now["mean"] < then["mean"] <= metrics["unseen.mean.r_star"]["mean"]
    assert set(then["by"]["goal"]) == {"(1, 2)", "(2, 2)", "(3, 5)"}  # (1, 1) is a goal already


def test_the_sentence_stands_on_the_page_among_findings_and_in_explain(results, folder, typed):
    (first,) = results["certainty"]
    share = results["metrics"]["unseen.mean.certain_ratio"]["mean"]
    said = float(first["sentence"].split("guarantee ")[1].split(" of")[0])
    assert first["sentence"].startswith("With 1 goal the agent's values guarantee 0.") and 0 <= share - said < 1e-3
    assert "; the next goal that would help most is (" in first["sentence"]
    (note,) = [finding for finding in results["findings"] if finding["id"] == "certain"]
    assert note["severity"] == "note" and first["sentence"][:-1] in note["sentence"]
    page = (folder / "reports/hall/full/index.html").read_text()
    assert "What is certain" in page and page.count("help most is") >= 2  # among findings, too
    figures = {file.name for file in (folder / "reports/hall/full/figures").iterdir()}
    assert {"certain-goals.svg", "map-corner-where-the-guarantee-is-lost.svg"} <= figures
    assert first["sentence"][:40] in " ".join(typed("explain", "hall.yaml").split())


def test_policies_and_their_bounds_are_exported(folder, typed):
    typed("export", "hall.yaml", "--output", "exports", "--format", "npz")
    (file,) = (folder / "exports").rglob("plans.npz")
    with np.load(file) as archive:
        plans = dict(archive)
    assert (plans["corner.certain"] <= plans["corner.possible"]).all()
    for policy in ("cautious", "hopeful"):
        assert plans[f"corner.{policy}"].shape == (13,) and set(plans[f"corner.{policy}"]) <= {0, 1, 2, 3}


def test_explain_says_that_nothing_was_measured_yet(typed, monkeypatch, tmp_path):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path))
    assert "not measured yet: how much of the return is certain" in typed("explain", "hall.yaml")
    (row,) = json.loads(typed("explain", "hall.yaml", "--format", "json"))
    assert "measured" not in row


def test_goals_are_ranked_by_a_command_before_anything_is_trained(typed, monkeypatch, tmp_path):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path))
    asked = ("--jobs", "0", "--set", "evaluate.design.by=width")
    said = typed("design", "hall.yaml", *asked)
    assert said.startswith("hall: mean width 0.") and "by exact values in the true world" in said
    assert said.splitlines()[1].split() == ["with", "mean", "width", "change"]
    stored = [json.loads(file.read_text()) for file in tmp_path.rglob("manifest.json")]
    assert len(stored) <= 1  # the design, and no training
    (row,) = json.loads(typed("design", "hall.yaml", *asked, "--format", "json"))
    assert row["by"] == "width" and row["using"] == "truth" and len(row["ranking"]) == 3
    assert all(worth <= row["now"] + 1e-9 for _, worth in row["ranking"])
    assert row["ranking"] == sorted(row["ranking"], key=lambda pair: round(pair[1], 9))


def test_a_spec_that_asks_for_no_design_is_asked_for_all_states(typed):
    said = typed("design", "hall.yaml", "--jobs", "0", "--set", "evaluate.design=null")
    assert said.count("\n") >= 11 and "… and" in said


def test_the_extracted_model_stands_in_for_a_world_that_is_not_known(typed):
    sets = ("--set", "evaluate.design.using=model")
    (row,) = json.loads(typed("design", "hall.yaml", "--jobs", "0", *sets, "--format", "json"))
    assert row["using"] == "model" and np.isfinite([worth for _, worth in row["ranking"]]).all()


@pytest.mark.parametrize(
    ("using", "says"),
    [
        ("truth", "in the true world"),
        ("model", "in the extracted model"),
        ("prior", "on average over worlds that the prior allows"),
    ],
)
def test_a_ranking_says_whose_exact_values_it_is_by(typed, using, says):
    said = typed("design", "hall.yaml", "--jobs", "0", "--set", f"evaluate.design.using={using}")
    assert said.startswith("hall: certain return 0.") and said.splitlines()[0].endswith(f" by exact values {says}")


LEFT, RIGHT = [[row, column] for row in (1, 2, 3) for column in (1, 2)], [[2, 3], [1, 4], [2, 4], [2, 5], [3, 4]]


@pytest.mark.parametrize("using", ["truth", "model", "prior"])
def test_returns_start_where_the_spec_says_whichever_world_gives_the_values(typed, using):
    def certain(*sets):
        asked = [word for change in (f"evaluate.design.using={using}", *sets) for word in ("--set", change)]
        (row,) = json.loads(typed("design", "hall.yaml", "--jobs", "0", *asked, "--format", "json"))
        return np.array([row["now"], dict(row["ranking"])["(2, 2)"]])

    left, right = (certain("evaluate.unseen.starts=1", f"mdp.reset={cells}") for cells in (LEFT, RIGHT))
    assert abs(left - right).min() > 0.01
    everywhere = (len(LEFT) * left + len(RIGHT) * right) / (
        len(LEFT) + len(RIGHT)
    )  # but on the goal and what is unsafe
    np.testing.assert_allclose(certain("evaluate.unseen.starts=all"), everywhere, atol=1e-6)


def test_each_seed_draws_worlds_of_its_own_that_a_prior_allows_and_always_the_same(typed, monkeypatch, tmp_path):
    def ranked(home):
        monkeypatch.setenv("WMLAB_HOME", str(tmp_path / home))
        sets = ("--set", "evaluate.design.using=prior", "--set", "seeds=[0, 1]")
        return json.loads(typed("design", "hall.yaml", "--jobs", "0", *sets, "--format", "json"))

    first, second = ranked("once")
    assert (first["seed"], second["seed"]) == (0, 1)
    assert abs(first["now"] - second["now"]) > 1e-3
    assert ranked("again") == [first, second]


def test_a_study_that_plans_in_worlds_of_a_prior_does_not_call_their_mean_the_truth(typed):
    sets = ("evaluate.design.using=prior", "evaluate.unseen.guarantee=null")
    said = typed("run", "hall.yaml", "--jobs", "0", "--output", "prior", *(w for s in sets for w in ("--set", s)))
    assert "On average over worlds that the prior allows, exact values of 1 goal make a return of 0." in said


def test_values_that_are_off_by_more_than_the_slack_are_found_out_and_guarantee_nothing(folder, typed):
    sets = ("evaluate.design=null",)
    moved = "agent.approximate={epsilon: 0.01, seed: 0}"
    command = [part for change in (*sets, moved) for part in ("--set", change)]
    said = typed("run", "hall.yaml", "--jobs", "0", "--output", "off", *command)
    assert (
        "doubtful: What is called certain of" in said and "it fits from evaluate.unseen.guarantee.slack = 0.0" in said
    )
    assert "values would guarantee 0" in said and "and it is not." in said
    enough = [*command, "--set", "evaluate.unseen.guarantee.slack=0.02"]  # (1 + γ) ε
    said = typed("run", "hall.yaml", "--jobs", "0", "--output", "off", *enough)
    assert "What is called certain" not in said and "values guarantee 0" in said


def test_a_stored_td_error_says_whether_chance_is_to_be_seen():
    plan = open_study("specs/examples/noisy_pendulum.yaml").plans[0]
    found = {"metrics": {"m": {"metric": "agent.td_error", "where": {"variant": "greedy"}, "mean": 0.03}}}
    [(where, sentence)] = of_chance(plan, found)
    assert where == {"variant": "greedy"} and "(agent.td_error is 0.03)" in sentence
