"""The paper's statements: every spec runs, says what it breaks, and in the end all claims hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.extraction.worlds import view_of
from wmlab.app.run import run_study
from wmlab.graph.study import Study, open_study
from wmlab.identify.rank import gap
from wmlab.registry import extractions
from wmlab.results.assemble import assemble
from wmlab.runtime.executor import execute
from wmlab.runtime.store import Store

FOLDER = Path(__file__).parent.parent / "specs"
SPECS = sorted(path.stem for path in (FOLDER / "theory").glob("*.yaml"))
# At smoke, too, many seconds.
SLOWER = ("fourrooms_exact", "reparameterisation", "algorithm_1", "continuous_indicator_deterministic", "theorem_3c")
# Their controls are variants that hold.
WITHOUT = ("theorem_1_limit", "fourrooms_exact", "multiple_horizons", "singular_example")


def path_of(name: str) -> str:
    return str(FOLDER / "theory" / f"{name}.yaml")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("theory") / ".wmlab")


def failing(results: list[dict[str, Any]]) -> list[str]:
    """What went wrong: failed stages, then claims that do not hold."""
    stages = [row["label"] for one in results for row in one.get("failures", ())]
    return stages + [
        f"{one['spec']}.{c['id']}: {c['measured']}" for one in results for c in one["claims"] if c["holds"] is False
    ]


def results_of(study: Study, store: Store) -> list[dict[str, Any]]:
    """Everything but the pages."""
    outcome = execute(study.stages, study.keys, store, jobs=0, keep_going=True)
    failures = {**outcome.failed, **outcome.skipped}
    return [assemble(plan, study.keys, store, failures, {}) for plan in study.plans]


@pytest.mark.parametrize("name", [name for name in SPECS if name not in SLOWER])
def test_each_statement_holds_at_smoke(name, store):
    assert failing(results_of(open_study(path_of(name), "smoke"), store)) == []


FRESH = "seeds=[1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015]"


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_claims_hold_on_seeds_that_took_no_part_in_choosing(name, store):
    assert failing(results_of(open_study(path_of(name), None, [FRESH]), store)) == []


def test_special_values_coincide_in_every_world_they_are_claimed_of():
    claim = open_study(path_of("arbitrary_q_deterministic")).resolved.claims["special_values_are_not_unique"]
    assert (claim.statistic, claim.at_most) == ("each_seed", 1e-12)
    for seed in range(1001, 1016):
        successors = np.random.default_rng(seed).integers(0, 10, (10, 2))
        world = np.eye(10)[successors]  # [S, A, S]
        policy = np.random.default_rng(seed).dirichlet([1, 1], (1, 10))
        still = view_of(np.eye(10)[:, None].repeat(2, axis=1), policy, np.eye(10)[:1])
        constant = view_of(world, policy, np.ones((1, 10)))
        assert gap(still) == 0 and gap(constant) < 1e-13
        np.testing.assert_allclose(constant.backup, 1 / (1 - 0.9), rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["theory", "guarantees"])
def test_every_claim_of_what_is_computed_by_exact_values_holds(name, store):
    study = open_study(str(FOLDER / f"{name}.yaml"))
    report = run_study(study, store, jobs=0, keep_going=True, reports=store.root.parent / "reports").report
    assert failing([*report.members, report.results]) == []


def test_the_suite_has_every_statement():
    suite = open_study(str(FOLDER / "theory.yaml"))
    assert sorted(plan.resolved.name for plan in suite.plans) == SPECS


@pytest.mark.parametrize("name", [name for name in SPECS if name not in WITHOUT])
def test_each_spec_breaks_a_premise_and_claims_that_the_conclusion_fails(name):
    claims = open_study(path_of(name)).resolved.data["claims"].values()
    assert any(claim["source"].startswith("broken: ") for claim in claims)
    assert any(not claim["source"].startswith("broken: ") for claim in claims)


@pytest.mark.parametrize("name", ["theorem_2b_lower_bound", "theorem_3c_lower_bound"])
def test_lower_bounds_are_tried_on_every_method_for_finite_worlds(name):
    points = open_study(path_of(name)).plans[0].resolved.points
    tried = {point.data["extract"]["kind"] for point in points}
    assert tried == {name for name in extractions.own if extractions[name].traits.worlds == "finite"}


def test_a_thousand_discounts_policies_and_temperatures_are_drawn():
    points = {
        point.where["variant"]: point.data["agent"]
        for point in open_study(path_of("theorem_3b")).plans[0].resolved.points
    }
    assert points["discounts"]["discounts"]["random"] == 1000
    assert points["policies"]["policies"] == {"random": 1000, "conditional": True}
    assert points["temperatures"]["temperatures"]["random"] == 1000
