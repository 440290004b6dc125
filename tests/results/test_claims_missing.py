"""Nothing is true for want of a measurement."""

from __future__ import annotations

import math

import pytest

from tests.results.judging import GOALS, PLAIN, judge, lets, made
from wmlab.errors import WmlabError
from wmlab.registry import build
from wmlab.results.cases import ClaimContext
from wmlab.results.claims import evaluate_claims
from wmlab.sections.spec import Claim


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"where": {"goals": 5}}, "1 of 2 seeds gave no wm.mse at goals=5"),
        ({"where": {"goals": 5}, "statistic": "each_seed"}, "seed 1 gave no wm.mse at goals=5"),
        ({"where": {"goals": 20}}, "2 of 2 seeds gave no wm.mse at goals=20"),
        ({"where": {"goals": 68}, "metric": "wm.tv"}, "no value of wm.tv at goals=68"),
        ({"where": {"goals": 68, "step": "all"}}, "wm.mse at goals=68 has no checkpoint '0'"),
        ({"where": {"goals": 68, "step": "first"}}, "wm.mse at goals=68 has no checkpoint 'first'"),
        ({"where": {"goals": 68, "step": 3}}, "wm.mse at goals=68 has no checkpoint '3'"),
        ({"where": {"goals": [68, 7]}}, "no point has goals = 7"),
        ({"where": {"goals": 68, "width": 3}}, "there is no axis 'width'"),
        ({"where": {"goals": 68}, "at_most": {"where": {"goals": 5}}}, "1 of 2 seeds gave no wm.mse at goals=5"),
        ({"where": {"goals": 68}, "at_most": {"where": {"goals": 7}}}, "no value of wm.mse at goals=7"),
        ({"where": {"goals": 68}, "at_most": {"metric": "wm.tv"}}, "no value of wm.tv at goals=68"),
        ({"where": {}}, "where does not say which goals (and 2 more)"),
        ({"where": {"goals": []}}, "no case: nothing was measured where the claim speaks of"),
    ],
)
def test_a_claim_on_what_is_missing_does_not_hold_and_says_why(claim, reason):
    metrics = made([0.0, None], [None, None], [0.0, 0.0])
    found = judge({"metric": "wm.mse", "at_most": 1, **claim}, metrics)
    assert found["holds"] is False and found["reason"] == reason


def test_a_failed_seed_does_not_hide_what_the_others_measured():
    found = judge({"metric": "wm.mse", "where": {"goals": 5}, "at_most": 1}, made([0.25, None], [0.0, 0.0], [0.0, 0.0]))
    assert found["measured"] == 0.25 and found["holds"] is False


@pytest.mark.parametrize("test", [{"at_most": 1}, {"at_least": -1}, {"equals": 0, "within": 9}, {"between": [-9, 9]}])
def test_what_is_not_a_number_never_holds(test):
    claim = {"metric": "wm.mse", "where": {"goals": 5}, **test}
    assert judge(claim, made([math.nan], [0.0], [0.0]), seeds=[0])["holds"] is False
    raw = {"wm.mse": {"metric": "wm.mse", "where": {}, "values": [math.nan], "mean": math.nan, "n": 1}}
    context = ClaimContext([{}], [0], lets)
    for statistic in ("mean", "each_seed"):
        [found] = evaluate_claims({"c": build(Claim, {**claim, "where": {}, "statistic": statistic})}, raw, context)
        assert found["holds"] is False


def test_a_bound_that_is_not_a_number_never_holds():
    context = ClaimContext(GOALS, [0, 1], lambda text, where: math.nan)
    claim = Claim("wm.mse", {"goals": 5}, at_most="x")
    [found] = evaluate_claims({"c": claim}, PLAIN, context)
    assert found["holds"] is False


def test_no_points_make_no_case_and_no_truth():
    assert judge({"metric": "wm.mse", "at_most": 1}, {}, points=[])["holds"] is False


def test_two_tests_in_one_claim_are_refused():
    with pytest.raises(WmlabError, match="claims.c: has at_most and equals; a claim has one test"):
        judge({"metric": "wm.mse", "at_most": 1, "equals": 1}, PLAIN)


def test_claims_taken_away_are_no_claims():
    context = ClaimContext([{}], [0], lets)
    assert evaluate_claims({}, {}, context) == []
