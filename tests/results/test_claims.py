"""Claims: they hold exactly when every measurement says so."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.results.judging import GOALS, PLAIN, judge, made
from wmlab.registry import build
from wmlab.results.cases import ClaimContext
from wmlab.results.claims import evaluate_claims
from wmlab.results.collect import collect
from wmlab.results.relate import relate
from wmlab.results.statistics import interval_over_seeds, mean
from wmlab.sections.spec import Claim, Relate


def test_a_claim_reports_what_it_tested():
    found = judge({"metric": "wm.mse", "where": {"goals": 20}, "at_most": 0.25, "paper": 0.2, "source": "§5"}, PLAIN)
    assert found == {
        "id": "c",
        "metric": "wm.mse",
        "where": {"goals": 20},
        "statistic": "mean",
        "paper": 0.2,
        "source": "§5",
        "test": {"at_most": 0.25},
        "measured": 0.2,
        "bound": 0.25,
        "cases": [
            {"where": {"goals": 20}, "step": "final", "seed": None, "measured": 0.2, "bound": 0.25, "holds": True}
        ],
        "holds": True,
    }


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ({"at_most": 0.5}, True),
        ({"at_most": 0.49}, False),
        ({"at_least": 0.5}, True),
        ({"at_least": 0.51}, False),
        ({"equals": 0.5}, True),
        ({"equals": 0.4}, False),
        ({"equals": 0.4, "within": 0.11}, True),
        ({"between": [0.5, 1]}, True),
        ({"between": [0, 0.5]}, True),
        ({"between": [0.51, 1]}, False),
        ({"between": ["0.1", "goals / 10"]}, True),
        ({"at_most": "goals / 100"}, False),
        ({"at_most": None, "at_least": 0.5, "equals": None}, True),
    ],
)
def test_bounds_are_inclusive_and_may_be_expressions(test, holds):
    assert judge({"metric": "wm.mse", "where": {"goals": 5}, **test}, PLAIN)["holds"] is holds


def test_a_claim_without_a_test_is_shown_and_never_fails():
    found = judge({"metric": "wm.mse", "where": {"goals": 5}, "paper": 0.57}, PLAIN)
    assert found["holds"] is None and found["measured"] == 0.5 and found["test"] is None and found["bound"] is None
    assert judge({"metric": "wm.mse", "where": {"goals": 5}}, {})["holds"] is None


def test_one_point_against_another():
    claim = {"metric": "wm.mse", "where": {"goals": 20}, "at_most": {"where": {"goals": 5}, "times": 0.5}}
    found = judge(claim, PLAIN)
    assert found["holds"] and found["bound"] == 0.25
    assert judge({**claim, "at_most": {"where": {"goals": 5}, "times": "1/5"}}, PLAIN)["holds"] is False


def test_one_checkpoint_against_another_keeps_the_other_axes():
    curves = made([[9.0, 9.0]], [[4.0, 1.0]], [[8.0, 5.0]])
    claim = {
        "metric": "wm.mse",
        "where": {"goals": 20, "step": "final"},
        "at_most": {"where": {"step": "first"}, "times": 0.5},
    }
    found = judge(claim, curves, seeds=[0])
    assert (found["measured"], found["bound"], found["holds"]) == (1.0, 2.0, True)
    assert judge({**claim, "where": {"goals": 68}}, curves, seeds=[0])["holds"] is False


def test_seeds_pair_with_the_seeds_of_a_bound():
    outputs = [[{"a": {"value": a}, "b": {"value": b}} for a, b in ((1.0, 2.0), (5.0, 6.0))]]
    claim = {"metric": "a", "statistic": "each_seed", "at_most": {"metric": "b"}}
    found = judge(claim, collect([{}], [3, 4], outputs), [{}], [3, 4])
    assert found["holds"] and [(case["seed"], case["bound"]) for case in found["cases"]] == [(3, 2.0), (4, 6.0)]
    outputs[0][1]["a"]["value"] = 7.0
    assert judge(claim, collect([{}], [3, 4], outputs), [{}], [3, 4])["holds"] is False


def test_a_bound_without_checkpoints_is_the_same_at_each_of_them():
    outputs = [[{"a": {"value": 2.0, "curve": [1.0, 2.0]}, "b": {"value": 2.0}}]]
    claim = {"metric": "a", "where": {"step": "all"}, "at_most": {"metric": "b"}}
    found = judge(claim, collect([{}], [0], outputs), [{}], [0])
    assert found["holds"] and [case["step"] for case in found["cases"]] == [0, 1]


def test_every_point_checkpoint_and_seed_is_a_case_and_the_worst_is_measured():
    metrics = made([[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.95], [0.6, 0.7]], [[0.0, 0.0], [0.0, 0.0]])
    claim = {"metric": "wm.mse", "where": {"goals": "all", "step": "all"}, "statistic": "each_seed", "at_most": 1}
    found = judge(claim, metrics)
    assert len(found["cases"]) == 3 * 2 * 2 and found["holds"] and found["measured"] == 0.95
    assert judge({**claim, "at_most": 0.9}, metrics)["holds"] is False
    assert judge({**claim, "at_most": None, "at_least": 0}, metrics)["measured"] == 0.0


def test_labels_may_be_listed_and_written_as_text():
    claim = {"metric": "wm.mse", "where": {"goals": [5, "68"]}, "at_most": 0.5}
    assert [case["where"]["goals"] for case in judge(claim, PLAIN)["cases"]] == [5, 68]
    bound = {"metric": "wm.mse", "where": {"goals": 68}, "at_most": {"where": {"goals": "5"}}}
    assert judge(bound, PLAIN)["holds"] is True


def test_intervals_are_students_over_seeds():
    low, high = interval_over_seeds([0.4, 0.6])
    for statistic, value in (("ci_low", low), ("ci_high", high)):
        found = judge({"metric": "wm.mse", "where": {"goals": 5}, "statistic": statistic, "at_most": 99}, PLAIN)
        assert found["measured"] == value and found["holds"]
    one = judge(
        {"metric": "wm.mse", "where": {"goals": 5}, "statistic": "ci_high", "at_most": 99},
        made([1.0], [1.0], [1.0]),
        seeds=[0],
    )
    assert one["holds"] is False and one["reason"] == "wm.mse at goals=5 has no ci_high"


# --- relations -------------------------------------------------------------------------------------------------


def related(rows):
    points = [{"depth": depth} for depth in range(len(rows))]
    metrics = collect(
        points, [0], [[row and {name: {"value": v[-1], "curve": v} for name, v in row.items()}] for row in rows]
    )
    section = {
        "r": {
            "x": "a",
            "y": "b",
            "across": ["depth"],
            "where": {"step": "all"},
            "statistics": ["pearson"],
            "bootstrap": {"resamples": 200},
        }
    }
    return {**metrics, **relate({name: build(Relate, one) for name, one in section.items()}, metrics, points)}, points


ROWS = [{"a": [float(i), float(i)], "b": [float(i * i), float(-i * i)]} for i in range(8)]


def test_relations_span_the_axes_and_have_an_interval_and_checkpoints():
    metrics, points = related(ROWS)
    claim = {"metric": "relate.r.pearson", "at_most": -0.9}
    assert judge(claim, metrics, points, [0])["holds"] is True
    assert judge({**claim, "statistic": "ci_high", "at_most": 0}, metrics, points, [0])["holds"] is True
    assert judge({**claim, "where": {"step": "all"}, "at_most": 0}, metrics, points, [0])["holds"] is False
    assert judge({**claim, "where": {"step": "first"}, "at_most": None, "at_least": 0.9}, metrics, points, [0])["holds"]


def test_a_relation_that_lost_a_point_proves_nothing():
    metrics, points = related([*ROWS, None])
    found = judge({"metric": "relate.r.pearson", "at_most": -0.9}, metrics, points, [0])
    assert found["measured"] < -0.9 and found["holds"] is False
    assert found["reason"] == "relate.r.pearson is incomplete: depth=8: no value of a"


def test_a_relation_has_no_seeds_to_test_one_by_one():
    metrics, points = related(ROWS)
    found = judge({"metric": "relate.r.pearson", "statistic": "each_seed", "at_most": 1}, metrics, points, [0])
    assert found["holds"] is False and found["reason"] == "seed 0 gave no relate.r.pearson"


# --- against a direct loop -------------------------------------------------------------------------------------

cells = st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, math.nan])
grids = st.integers(1, 3).flatmap(
    lambda seeds: st.lists(st.lists(cells, min_size=seeds, max_size=seeds), min_size=3, max_size=3)
)
tests = st.one_of(
    st.sampled_from(["at_most", "at_least"]).flatmap(
        lambda test: st.fixed_dictionaries({test: st.sampled_from([0.25, 0.5, 1.0])})
    ),
    st.fixed_dictionaries({"equals": st.sampled_from([0.25, 0.5]), "within": st.sampled_from([0.0, 0.25])}),
    st.fixed_dictionaries({"between": st.sampled_from([[0.0, 0.5], [0.25, 0.75]])}),
)


def passes(value, test):
    if value is None or math.isnan(value):
        return False
    if "at_most" in test:
        return value <= test["at_most"]
    if "at_least" in test:
        return value >= test["at_least"]
    if "equals" in test:
        return abs(value - test["equals"]) <= test["within"]
    return test["between"][0] <= value <= test["between"][1]


@settings(deadline=None)
@given(
    grids,
    tests,
    st.sampled_from(["mean", "each_seed"]),
    st.lists(st.sampled_from([5, 20, 68]), unique=True) | st.just("all"),
)
def test_a_claim_holds_iff_a_direct_loop_says_so(grid, test, statistic, wanted):
    chosen = [row for point, row in zip(GOALS, grid, strict=True) if wanted == "all" or point["goals"] in wanted]
    expected = bool(chosen)
    for row in chosen:
        whole = all(value is not None and not math.isnan(value) for value in row)
        values = row if statistic == "each_seed" else [mean(row) if whole else None]
        expected = expected and all(passes(value, test) for value in values)
    claim = {"metric": "wm.mse", "where": {"goals": wanted}, "statistic": statistic, **test}
    found = judge(claim, made(*grid), seeds=range(len(grid[0])))
    assert found["holds"] is expected
    assert len(found["cases"]) == len(chosen) * (len(grid[0]) if statistic == "each_seed" else 1)
    assert found["holds"] == (bool(found["cases"]) and all(case["holds"] for case in found["cases"]))


def test_a_bound_may_be_what_another_point_leaves_of_a_whole():
    claim = {"metric": "wm.mse", "where": {"goals": 20}, "at_least": {"where": {"goals": 5}, "times": -1, "plus": 0.6}}
    found = judge(claim, PLAIN)
    assert found["bound"] == pytest.approx(0.1) and found["holds"]
    assert judge({**claim, "at_least": {"where": {"goals": 5}, "times": -1, "plus": 1}}, PLAIN)["holds"] is False


def test_factors_of_a_bound_are_worked_out_at_each_point():
    claim = {"metric": "wm.mse", "where": {"goals": "all"}, "at_most": {"times": 0, "plus": "goals / 100"}}
    assert [case["bound"] for case in judge(claim, PLAIN)["cases"]] == pytest.approx([0.05, 0.2, 0.68])


def test_a_suites_claim_finds_a_relation_by_its_spec():
    points = [{"spec": "one", "depth": 1}, {"spec": "one", "depth": 2}, {"spec": "other"}]
    metrics = {"spec=one/relate.line.slope": {"metric": "relate.line.slope", "where": {"spec": "one"}, "value": 2.0}}
    claim = {"metric": "relate.line.slope", "where": {"spec": "one"}, "at_least": 1.5}
    (found,) = evaluate_claims(
        {"steep": build(Claim, claim)}, metrics, ClaimContext(points, [0], lambda text, where: 0.0)
    )
    assert found["holds"] is True
    assert found["measured"] == 2.0


def test_a_suites_claim_names_only_the_axes_of_its_own_spec():
    points = [{"spec": "one", "depth": 1}, {"spec": "one", "depth": 2}, {"spec": "other"}]
    entry = {"metric": "wm.mse", "where": {"spec": "other"}, "values": [0.1], "mean": 0.1, "n": 1}
    context = ClaimContext(points, [0], lambda text, where: 0.0)
    claim = {"metric": "wm.mse", "where": {"spec": "other"}, "at_most": 1}
    (found,) = evaluate_claims({"low": build(Claim, claim)}, {"spec=other/wm.mse": entry}, context)
    assert found["holds"] is True
    assert [case["where"] for case in found["cases"]] == [{"spec": "other"}]
