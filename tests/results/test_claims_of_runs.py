"""Claims on several points together, on differences between them, and on other statistics than the mean."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from tests.results.judging import judge, made

FIVE, TWENTY, MANY = [0.4, 0.6, 0.5, 0.9], [0.1, 0.3, 0.2, 0.2], [0.0, 0.1, 0.1, 0.2]
SEEDS = (0, 1, 2, 3)
RUNS = made(FIVE, TWENTY, MANY)
EVERY = np.array([FIVE, TWENTY, MANY])


def judged(metrics=RUNS, **claim):
    return judge({"metric": "wm.mse", "source": "ours", **claim}, metrics, seeds=SEEDS)


def test_a_difference_is_taken_seed_by_seed():
    found = judged(where={"goals": 20}, difference={"to": {"goals": 5}}, at_most=-0.2)
    apart = np.subtract(TWENTY, FIVE)
    assert found["measured"] == pytest.approx(apart.mean()) and found["holds"]
    high = judged(where={"goals": 20}, difference={"to": {"goals": 5}}, statistic="ci_high", at_most=0)
    expected = scipy.stats.t.interval(0.95, 3, apart.mean(), scipy.stats.sem(apart))[1]
    assert high["measured"] == pytest.approx(expected) and high["holds"]
    each = judged(where={"goals": 20}, difference={"to": {"goals": 5}}, statistic="each_seed", at_most=-0.3)
    assert [case["measured"] for case in each["cases"]] == pytest.approx(apart)
    assert [case["holds"] for case in each["cases"]] == [True, True, True, True]


def test_the_p_value_of_a_difference_is_that_of_all_flips_of_its_signs():
    found = judged(where={"goals": 20}, difference={"to": {"goals": "5"}}, statistic="p_value", at_most=0.2)
    assert found["measured"] == pytest.approx(2 / 2**4) and found["holds"]  # no flip is as far, but the other way round
    far = judged(where={"goals": 68}, difference={"to": {"goals": 20}}, statistic="p_value", at_most=0.2)
    assert far["measured"] == pytest.approx(
        scipy.stats.permutation_test((np.subtract(MANY, TWENTY),), np.mean, permutation_type="samples").pvalue
    )


def test_points_may_count_together():
    found = judged(across=["goals"], at_most=1)
    assert found["measured"] == pytest.approx(EVERY.mean())
    (case,) = found["cases"]
    assert case["where"] == {} and case["holds"]
    assert judged(across=["goals"], where={"goals": [5, 20]}, at_most=1)["measured"] == pytest.approx(EVERY[:2].mean())
    together = judged(across=["goals"], where={"goals": [20, 68]}, difference={"to": {"goals": 5}}, at_most=0)
    assert together["measured"] == pytest.approx((EVERY[1:] - EVERY[0]).mean())


def test_the_inter_quartile_mean_is_over_all_runs_and_has_an_interval_around_it():
    found = judged(across=["goals"], statistic="iqm", at_most=1)
    assert found["measured"] == pytest.approx(scipy.stats.trim_mean(EVERY.ravel(), 0.25))
    low, high = (judged(across=["goals"], statistic=f"iqm_ci_{end}", at_most=1)["measured"] for end in ("low", "high"))
    assert EVERY.min() < low < found["measured"] < high < EVERY.max()
    assert judged(where={"goals": 5}, statistic="iqm", at_most=1)["measured"] == pytest.approx(0.55)


def test_an_interval_over_several_points_is_narrower_than_that_of_one():
    ends = [judged(across=["goals"], statistic=f"ci_{end}", at_most=1)["measured"] for end in ("low", "high")]
    one = [judged(where={"goals": 5}, statistic=f"ci_{end}", at_most=1)["measured"] for end in ("low", "high")]
    assert ends[0] < EVERY.mean() < ends[1] and ends[1] - ends[0] < one[1] - one[0]


@pytest.mark.parametrize("claim", [{"across": ["goals"]}, {"where": {"goals": 20}, "difference": {"to": {"goals": 5}}}])
def test_a_seed_that_failed_at_any_of_the_points_leaves_nothing_proven(claim):
    found = judged(made([0.4, None, 0.5, 0.9], TWENTY, MANY), at_most=10, **claim)
    assert found["holds"] is False and found["reason"].startswith("1 of 4 seeds gave no wm.mse at goals=5")


def test_checkpoints_are_told_apart():
    curves = made(*[[[9.0, value] for value in row] for row in EVERY.tolist()])
    first = judged(curves, across=["goals"], where={"step": "first"}, statistic="iqm", at_most=10)
    assert first["measured"] == pytest.approx(9.0)
    none = judged(curves, across=["goals"], where={"step": 7}, at_most=10)
    assert none["holds"] is False and "has no checkpoint '7'" in none["reason"]
