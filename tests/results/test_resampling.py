"""Intervals and tests by resampling, against SciPy and against what simulated data are known to be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.results.resampling import (
    Drawing,
    draws,
    interval,
    iqm_of_runs,
    mean_of_runs,
    of_means,
    sign_flip_p,
)
from wmlab.results.statistics import STATISTICS, pearson

POINTS = Drawing("points", resamples=500)


def points_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.stack([x, y])[..., None]


def related(seed: int, count: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 2, count)
    return points_of(x, x + rng.uniform(0, 0.2, count))


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("name", STATISTICS)
def test_an_interval_is_the_same_for_the_same_seed_and_holds_the_estimate(name, method):
    runs, statistic = related(1), of_means(STATISTICS[name].of)
    one, other = Drawing("points", method, 500), Drawing("points", method, 500, seed=1)
    low, high = interval(runs, statistic, one)
    assert low <= statistic(runs[:, None])[0] <= high
    assert interval(runs, statistic, one) == (low, high) != interval(runs, statistic, other)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_intervals_over_points_are_scipys(method):
    rng = np.random.default_rng(2)
    x = rng.normal(size=50)
    y = x + rng.normal(size=50)
    found = interval(points_of(x, y), of_means(pearson), Drawing("points", method.lower(), 4000, 0.9))
    reference = scipy.stats.bootstrap(
        (x, y),
        lambda a, b, axis: pearson(*(np.moveaxis(part, axis, -1) for part in (a, b))),
        paired=True,
        vectorized=True,
        n_resamples=4000,
        confidence_level=0.9,
        method=method,
        rng=0,
    )
    assert found == pytest.approx(tuple(reference.confidence_interval), abs=0.02)


def test_one_point_or_equal_points_have_no_interval():
    one = np.ones(1)
    assert interval(points_of(one, one), of_means(pearson), POINTS) is None
    assert interval(points_of(np.ones(5), np.arange(5.0)), of_means(pearson), POINTS) is None


def test_seeds_are_drawn_within_their_point_and_those_that_failed_never():
    runs = np.array([[[1.0, 2.0, np.nan], [10.0, 20.0, 30.0]]])
    for drawing in (Drawing("seeds", resamples=200), Drawing("both", resamples=200)):
        drawn = np.concatenate([some[0] for some in draws(runs, drawing)])  # [b, n, s]
        assert drawn.shape == (200, 2, 3)
        own = [set(row[np.isfinite(row)]) for row in drawn.reshape(-1, 3)]
        assert all(row <= {1.0, 2.0} or row <= {10.0, 20.0, 30.0} for row in own)
        assert set().union(*own) == {1.0, 2.0, 10.0, 20.0, 30.0}
    kept = np.concatenate([some[0] for some in draws(runs, Drawing("seeds", resamples=50))])
    assert (np.isfinite(kept).sum(axis=-1) == [2, 3]).all()  # each point keeps as many runs as it has


def test_runs_of_one_seed_stay_together():
    runs = np.arange(12.0).reshape(1, 3, 4) + np.array([0.0, 100.0])[:, None, None]
    for some in draws(runs, Drawing("both", resamples=50)):
        assert (some[1] - some[0] == 100).all()


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_the_inter_quartile_mean_is_scipys_trimmed_mean(values):
    runs = np.array(values).reshape(1, 1, 1, -1)
    assert iqm_of_runs(runs)[0] == pytest.approx(scipy.stats.trim_mean(values, 0.25), rel=1e-9, abs=1e-6)
    missing = np.concatenate([runs, np.full((1, 1, 1, 3), np.nan)], axis=-1)
    assert iqm_of_runs(missing)[0] == pytest.approx(iqm_of_runs(runs)[0])


SCORES = np.random.default_rng(0).gamma(2.0, size=(10, 5))  # runs x tasks, as rliable has them


def test_the_inter_quartile_mean_is_rliables():
    metrics = pytest.importorskip("rliable.metrics", reason="rliable is not installed")
    assert iqm_of_runs(SCORES.T[None, None])[0] == pytest.approx(metrics.aggregate_iqm(SCORES))


def test_the_interval_of_an_inter_quartile_mean_is_rliables():
    metrics = pytest.importorskip("rliable.metrics", reason="rliable is not installed")
    try:
        from rliable import library
    except TypeError:  # arch, which draws its intervals
        pytest.skip("rliable draws intervals with arch, which cannot be imported beside pandas 3: install 'pandas<3'")
    _, ends = library.get_interval_estimates({"a": SCORES}, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=2000)
    assert interval(SCORES.T[None], iqm_of_runs, Drawing("seeds")) == pytest.approx(ends["a"][:, 0], abs=0.05)


def test_all_flips_of_few_signs_are_tried():
    assert sign_flip_p(np.array([1.0, 2.0, 3.0])) == pytest.approx(0.25)  # 2 of the 8 are as far from 0
    assert sign_flip_p(np.array([1.0, -1.0])) == 1.0
    assert sign_flip_p(np.array([1.0, np.nan])) is None
    ten = np.random.default_rng(3).normal(0.3, 1, 10)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 10)).reshape(10, -1)
    flipped = signs.T @ ten / 10
    tail = min((flipped >= ten.mean() - 1e-12).mean(), (flipped <= ten.mean() + 1e-12).mean())
    assert sign_flip_p(ten) == pytest.approx(min(1.0, 2 * tail))


def coverage(made, truth: float, statistic, drawing: Drawing, count: int = 1000) -> float:
    """In how many of simulated data sets the interval holds the truth."""
    held = 0
    for seed in range(count):
        low, high = interval(made(np.random.default_rng(seed)), statistic, drawing)
        held += low <= truth <= high
    return held / count


def correlated(rng: np.random.Generator, rho: float = 0.6, points: int = 42) -> np.ndarray:
    x, y = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], points).T
    return points_of(x, y)


def nested(rng: np.random.Generator, points: int = 20, seeds: int = 10) -> np.ndarray:
    """Points that differ, and runs that differ within each: their mean is 0."""
    return (rng.normal(size=(points, 1)) + rng.normal(size=(points, seeds)))[None]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_of_a_correlation_cover_it(method):
    assert 0.92 <= coverage(correlated, 0.6, of_means(pearson), Drawing("points", method, 1000)) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_of_a_mean_over_points_and_seeds_cover_it(method):
    assert 0.92 <= coverage(nested, 0.0, mean_of_runs, Drawing("both", method, 1000)) <= 0.98


@pytest.mark.slow
def test_intervals_over_seeds_cover_the_mean_of_the_points_that_there_are():
    centres = np.random.default_rng(7).normal(size=(20, 1))

    def made(rng: np.random.Generator) -> np.ndarray:
        return (centres + rng.normal(size=(20, 10)))[None]

    assert 0.92 <= coverage(made, float(centres.mean()), mean_of_runs, Drawing("seeds", resamples=1000)) <= 0.98
