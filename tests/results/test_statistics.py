"""Statistics against hand-computed cases and against NumPy and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.results.statistics import (
    STATISTICS,
    count,
    interval_over_seeds,
    kendall,
    loglog_slope,
    mean,
    over_seeds,
    pearson,
    se_over_seeds,
    slope,
    spearman,
)

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
pairs = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=30)


def test_hand_computed_mean_error_and_n():
    assert over_seeds([1, 2, None, 3]) == {"mean": 2.0, "se_over_seeds": pytest.approx(1 / math.sqrt(3)), "n": 3}


def test_one_seed_has_no_standard_error_and_none_has_no_mean():
    assert over_seeds([4.0, None]) == {"mean": 4.0, "se_over_seeds": None, "n": 1}
    assert over_seeds([None, None]) == over_seeds([]) == {"mean": None, "se_over_seeds": None, "n": 0}


@settings(deadline=None)
@given(st.lists(st.none() | numbers, max_size=20))
def test_failed_seeds_are_as_good_as_absent(values):
    present = [value for value in values if value is not None]
    assert over_seeds(values) == over_seeds(present) and count(values) == len(present)
    if present:
        assert mean(values) == pytest.approx(np.mean(present), rel=1e-12, abs=1e-9)
    if len(present) > 1:
        assert se_over_seeds(values) == pytest.approx(scipy.stats.sem(present), rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 30))
def test_the_mean_of_equal_values_is_that_value_to_the_last_bit(value, n):
    assert mean([value] * n) == value
    assert se_over_seeds([value] * n) == (0.0 if n > 1 else None)


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_the_mean_lies_between_the_least_and_the_greatest_value(values):
    assert min(values) <= mean(values) <= max(values)


def test_squares_that_would_overflow_or_vanish_do_neither():
    assert se_over_seeds([1e200, 3e200]) == pytest.approx(1e200)
    assert se_over_seeds([1e-200, 3e-200]) == pytest.approx(1e-200)
    assert over_seeds([1e308, -1e308]) == {"mean": 0.0, "se_over_seeds": pytest.approx(1e308), "n": 2}
    assert over_seeds([math.nan, 1.0]) == {"mean": None, "se_over_seeds": None, "n": 2}


@settings(deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=20, unique=True))
def test_the_interval_over_seeds_is_students(values):
    low, high = interval_over_seeds(values, 0.9)
    expected = scipy.stats.t.interval(0.9, len(values) - 1, np.mean(values), scipy.stats.sem(values))
    assert [low, high] == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_an_interval_needs_two_seeds():
    assert interval_over_seeds([1.0, None]) is None


@settings(deadline=None)
@given(pairs)
def test_correlations_and_slopes_agree_with_scipy(points):
    x, y = np.array(points, float).T
    if np.ptp(x) == 0:
        assert np.isnan(slope(x, y)) and np.isnan(pearson(x, y)) and np.isnan(spearman(x, y))
        return
    assert slope(x, y) == pytest.approx(scipy.stats.linregress(x, y).slope, abs=1e-9)
    if np.ptp(y) > 0:
        assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-9)
        assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-9)


def test_a_monotone_relation_has_rank_correlation_one_and_a_smaller_linear_one():
    x = np.arange(1.0, 9.0)
    assert spearman(x, np.exp(x)) == pytest.approx(1) and pearson(x, np.exp(x)) < 0.9
    assert spearman(x, -x) == pytest.approx(-1)


def test_the_slope_of_logarithms_is_the_exponent_and_needs_positive_values():
    x = np.array([1e-4, 1e-3, 1e-2])
    assert loglog_slope(x, 7 * x**1.5) == pytest.approx(1.5)
    assert np.isnan(loglog_slope(x, np.array([1.0, 0.0, 2.0])))


def test_tiny_errors_correlate_like_large_ones():
    x, y = np.array([1.0, 2, 3, 4]), np.array([2.0, 1, 4, 3])
    assert pearson(x * 1e-300, y * 1e-300) == pytest.approx(pearson(x, y))


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_works_on_batches_and_names_its_kind(name):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(1, 2, (2, 5, 12))
    batch = STATISTICS[name].of(x, y)
    assert batch.shape == (5,) and "across_points" in STATISTICS[name].kind
    assert batch == pytest.approx([float(STATISTICS[name].of(*row)) for row in zip(x, y, strict=True)])


@settings(deadline=None)
@given(pairs)
def test_kendalls_tau_counts_ties_as_scipy_does(points):
    x, y = np.array(points, float).T
    expected = scipy.stats.kendalltau(x, y).statistic
    assert float(kendall(x, y)) == pytest.approx(expected, nan_ok=True)
