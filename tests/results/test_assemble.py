"""Results assembled from stages that gave something and stages that did not; nothing runs here."""

from __future__ import annotations

from pathlib import Path

import pytest

from wmlab.graph.study import open_study
from wmlab.results.assemble import assemble, evaluate_at
from wmlab.runtime.events import Failure
from wmlab.runtime.result import Result
from wmlab.runtime.store import Store

SPECS = Path(__file__).parents[2] / "specs"
TIMES = {"started": None, "seconds": None}
PLAN = {name: {"value": 0.5} for name in ("r_star", "r_wm", "r_believed")} | {"ratio": {"value": 1.0}}


@pytest.fixture(scope="module")
def quickstart():
    return open_study(str(SPECS / "quickstart.yaml"))


def assembled(study, root, failures):
    """The results when every stage that did not fail gave the same small numbers."""
    store = Store(root)
    for stage in study.stages:
        if stage not in failures:
            metrics = PLAN if study.plans[0].stage(stage).kind == "plan" else {"wm.mse": {"value": 0.0}}
            store.save(study.keys[stage], Result({}, {"metrics": metrics}), {})
    return assemble(study.plans[0], study.keys, store, failures, TIMES)


def test_a_mean_over_goals_is_no_number_when_one_goal_failed(quickstart, tmp_path):
    (run,) = quickstart.plans[0].runs
    whole = assembled(quickstart, tmp_path / "whole", {})["metrics"]
    assert whole["unseen.mean.r_wm"]["mean"] == 0.5
    failures = {run.stage("plan", "two_unsafe"): Failure("ValueError", "no way")}
    metrics = assembled(quickstart, tmp_path / "part", failures)["metrics"]
    assert metrics["unseen.one_unsafe.r_wm"]["mean"] == 0.5
    for name in ("unseen.two_unsafe.r_wm", "unseen.two_unsafe.ratio", "unseen.mean.r_wm", "unseen.mean.ratio"):
        assert metrics[name]["values"] == [None] and metrics[name]["n"] == 0


def test_what_a_failed_stage_should_have_measured_stands_without_a_number(quickstart, tmp_path):
    (run,) = quickstart.plans[0].runs
    failures = {run.stage("identify"): "needs 'train', which failed"}
    results = assembled(quickstart, tmp_path, failures)
    assert results["metrics"]["ident.gap"]["values"] == [None] and results["metrics"]["wm.mse"]["values"] == [0.0]
    claims = {claim["id"]: claim for claim in results["claims"]}
    assert claims["columns_differ"]["holds"] is False and claims["exact_model"]["holds"] is True
    (row,) = results["failures"]
    assert row["label"] == "quickstart: identify" and row["state"] == "skipped"


def test_a_bound_of_a_claim_across_points_takes_the_names_of_the_spec_itself():
    resolved = open_study(str(SPECS / "theory" / "theorem_3c.yaml")).resolved
    assert evaluate_at(resolved, "gamma / 2", {}) == 0.45
    point = resolved.points[0]
    assert evaluate_at(resolved, "10 * epsilon", point.where) == 10 * point.names["epsilon"]
