"""A part of a sweep is run, shown and gone on with; what is missing is marked and nothing is done twice."""

from __future__ import annotations

import json
import time

import pytest

from tests.cli.conftest import SPEC
from wmlab.cli.run import LEFT

SWEEP = (
    SPEC.format(name="sweep", bound=1)
    .replace(
        "near: {metric: wm.tv, at_most: 1, source: ours}",
        "everywhere: {metric: wm.tv, where: {discount: all, size: all}, at_most: 1, source: ours}\n"
        "  small: {metric: wm.tv, where: {discount: 0.5, size: 3}, at_most: 1, source: ours}\n"
        "  sure: {metric: wm.tv, where: {discount: 0.5, size: 3}, at_most: -1, source: ours}\n",
    )
    .replace("actions: 2, seed: 0}", "actions: 2}")
    + """
sweep:
  discount: {agent.discount: [0.5, 0.9]}
  size: {goals.reward.seed: [3, 4, 5]}  # worlds of one shape: programs are compiled once
report: {heatmaps: {metrics: [wm.tv], rows: discount, columns: size}}
"""
)


@pytest.fixture
def sweep(terminal):
    (terminal.folder / "sweep.yaml").write_text(SWEEP)
    return terminal


def labels(terminal, *flags):
    """The stages that would run."""
    rows = terminal.json("plan", "sweep.yaml", *flags)["stages"]
    return {row["label"] for row in rows if row["state"] == "will run"}


def verdicts(results):
    return {claim["id"]: "open" if claim.get("open") else claim["holds"] for claim in results["claims"]}


def test_a_plan_of_some_points_shows_their_stages_alone(sweep):
    part = labels(sweep, "--points", "discount=0.5,size=3|4")
    assert part == {one for one in labels(sweep) if "discount=0.5" in one and "size=5" not in one}
    assert labels(sweep, "--points", "size=5") == {one for one in labels(sweep) if "size=5" in one}
    both = labels(sweep, "--points", "size=5", "--points", "discount=.5, size = 3")
    assert both == {one for one in labels(sweep) if "size=5" in one or ("discount=0.5" in one and "size=3" in one)}
    assert labels(sweep, "--points", "discount=*,size=*") == labels(sweep)
    assert "sweep: profile full, 2 of 6 points" in sweep("plan", "sweep.yaml", "--points", "size=5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size", "'size' is no axis=label; write it as discount=0.5,size=*"),
        ("siz=3", "there is no axis 'siz' in sweep; did you mean 'size'?"),
        ("colour=3", "there is no axis 'colour' in sweep; the axes of sweep are discount, size"),
        ("size=7", "size has no label '7'; it has 3, 4, 5, and * for all"),
        ("size=3,size=4", "size stands twice; write several labels as size=3|4"),
        ("", "'' is no axis=label"),
    ],
)
def test_a_mistake_in_points_is_told_with_what_would_do(sweep, text, message):
    for command in ("plan", "run"):
        sweep(command, "sweep.yaml", "--points", text, code=2)
        assert message in sweep.err


def test_without_axes_and_in_a_suite_there_is_nothing_to_choose(sweep):
    sweep("plan", "tiny.yaml", "--points", "size=3", code=2)
    assert "tiny has no sweep and no variants, so there is one point" in sweep.err
    (sweep.folder / "both.yaml").write_text("wmlab: 1\nname: both\nsuite: [tiny.yaml, sweep.yaml]\n")
    sweep("plan", "both.yaml", "--points", "size=3", code=2)
    assert "both is a suite; run one of tiny, sweep" in sweep.err


def test_what_is_missing_is_marked_and_going_on_repeats_nothing(sweep):
    before = labels(sweep)
    sweep.run("sweep.yaml", "--points", "discount=0.5,size=3")
    results = sweep.report("sweep", "full")
    assert verdicts(results) == {"everywhere": "open", "small": True, "sure": False}
    assert len(results["missing"]) == 5 and results["missing"][0] == {
        "where": {"discount": 0.5, "size": 4},
        "seeds": [0, 1],
    }
    sweep("run", "--jobs", "0", "sweep.yaml", "--points", "discount=0.5,size=3", "--check", code=1)  # `sure` fails
    left = labels(sweep)
    assert left and left < before
    sweep.run("sweep.yaml")
    log = max((sweep.folder / ".wmlab" / "runs").glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    ran = {one["label"] for one in map(json.loads, log.read_text().splitlines()) if one.get("outcome") == "ran"}
    assert ran == left and not labels(sweep)
    results = sweep.report("sweep", "full")
    assert "missing" not in results and verdicts(results) == {"everywhere": True, "small": True, "sure": False}


def test_a_budget_that_is_over_begins_nothing_and_says_what_is_left(sweep):
    sweep("run", "--jobs", "0", "sweep.yaml", "--budget", "0.001s", code=LEFT)
    assert "the budget is spent: 37 stages are left" in sweep.err
    assert "unfinished" in sweep("runs")
    results = sweep.report("sweep", "full")
    assert len(results["missing"]) == 6 and set(verdicts(results).values()) == {"open"}
    sweep("run", "--jobs", "0", "sweep.yaml", "--budget", "soon", code=2)
    assert "'soon' is no time" in sweep.err


def test_a_budget_is_refused_on_a_cluster_where_points_are_not(sweep):
    (sweep.folder / "cluster.yaml").write_text("engine: slurm\n")
    sweep("run", "sweep.yaml", "--on", "cluster.yaml", "--budget", "1h", code=2)
    assert "--budget is for stages on this machine" in sweep.err and "--points" in sweep.err
    planned = sweep("plan", "sweep.yaml", "--on", "cluster.yaml", "--points", "size=5")
    assert "2 of 6 points" in planned


@pytest.mark.slow
def test_from_python_the_same_part_is_run(sweep):
    import wmlab

    began = time.monotonic()
    found = wmlab.load("sweep.yaml").run(jobs=0, progress=False, points="size=3", budget=600)
    assert found.run.ok and time.monotonic() - began < 600
    assert {tuple(run.point.where.items()) for run in found.run.study.asked_runs} == {
        (("discount", 0.5), ("size", 3)),
        (("discount", 0.9), ("size", 3)),
    }


@pytest.mark.slow
def test_a_point_that_failed_is_a_hole_in_the_heatmap_and_claims_about_it_fail(sweep, monkeypatch):
    from wmlab.errors import StageError
    from wmlab.report import series
    from wmlab.stages.finite import train

    whole = train.run

    def run(params, inputs, context):
        if (params["agent"]["discount"], params["goals"]["reward"]["seed"]) == (0.9, 5):
            raise StageError("diverged")
        return whole(params, inputs, context)

    monkeypatch.setattr(train, "run", run)
    sweep("run", "--jobs", "0", "sweep.yaml", "--keep-going", "--points", "size=3|5", code=1)
    results = sweep.report("sweep", "full")
    (heat,) = series.heats(results)
    assert [[cell.mean is None for cell in row] for row in heat.cells] == [[False, True, False], [False, True, True]]
    assert [cell.hole for cell in heat.cells[1]][1:] == ["not run", "failed"]
    assert verdicts(results)["everywhere"] is False and verdicts(results)["small"] is True
