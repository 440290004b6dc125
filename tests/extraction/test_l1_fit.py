"""The batched l1 solver against HiGHS, and its certificate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from wmlab.extraction.finite.l1_fit import fit_l1, fit_one
from wmlab.extraction.finite.problem import Pairs
from wmlab.extraction.lp import least_norm, solve


def least_residual(columns: np.ndarray, target: np.ndarray) -> float:
    """The optimum as SciPy finds it, written out plainly."""
    rows, width = columns.shape
    equal = np.block([[columns, np.eye(rows), -np.eye(rows)], [np.ones((1, width)), np.zeros((1, 2 * rows))]])
    cost = np.r_[np.zeros(width), np.ones(2 * rows)]
    return float(linprog(cost, A_eq=equal, b_eq=np.r_[target, 1.0], method="highs").fun)


def problems(seed: int, count: int, rows: int, width: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(count, rows, width))
    if kind == "rounded":  # small integers: ties and degenerate vertices everywhere
        columns = rng.integers(-1, 2, size=(count, rows, width)).astype(float)
    if kind == "twins":
        columns[..., width // 2 :] = columns[..., : width - width // 2]
    valid = rng.random((count, width)) < 0.8
    valid[:, 0] = True
    inside = np.where(valid, rng.dirichlet(np.ones(width), count), 0.0)
    targets = np.einsum("nrk,nk->nr", columns, inside / inside.sum(axis=1, keepdims=True))
    if kind != "exact":
        targets = targets + rng.normal(size=targets.shape) * rng.choice([0.0, 1e-3, 1.0], (count, 1))
    if kind == "rounded":
        targets = np.round(targets)
    return columns, valid, targets


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 8),
    width=st.integers(1, 12),
    kind=st.sampled_from(["exact", "noisy", "rounded", "twins"]),
)
def test_the_batched_optimum_is_that_of_highs(seed, rows, width, kind):
    columns, valid, targets = problems(seed, 12, rows, width, kind)
    fit = fit_l1(columns, valid, targets)
    for one in range(12):
        allowed = valid[one]
        assert abs(fit.residual[one] - least_residual(columns[one][:, allowed], targets[one])) <= 1e-8
    assert fit.gap.max() <= 1e-9
    assert fit.weights.min() >= 0
    assert (fit.weights[~valid] == 0).all()
    np.testing.assert_allclose(fit.weights.sum(axis=1), 1.0, atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 6))
def test_five_candidates_are_solved_to_the_optimum_of_highs(seed, rows):
    columns, valid, targets = problems(seed, 20, rows, 5, "noisy")
    fit = fit_l1(columns, valid, targets)
    best = [least_residual(columns[i][:, valid[i]], targets[i]) for i in range(20)]
    np.testing.assert_allclose(fit.residual, best, atol=1e-8)


def test_values_of_any_size_are_fitted():
    columns, valid, targets = problems(0, 20, 4, 6, "noisy")
    plain = fit_l1(columns, valid, targets)
    for scale in (1e-6, 1e6):
        scaled = fit_l1(columns * scale, valid, targets * scale)
        np.testing.assert_allclose(scaled.residual, plain.residual * scale, rtol=1e-9, atol=1e-12 * scale)


def test_a_walk_cut_short_is_not_certified_and_highs_takes_over(monkeypatch):
    columns, valid, targets = problems(3, 30, 5, 8, "noisy")
    short = fit_l1(columns, valid, targets, patience=0)
    assert short.gap.max() > 1e-3  # the certificate sees it
    monkeypatch.setattr("wmlab.extraction.lp.fit_l1", lambda *given: fit_l1(*given, patience=0))
    fit, redone = solve(Pairs(slice(0, 30), columns, valid, targets))
    assert redone > 10
    np.testing.assert_allclose(fit.residual, fit_l1(columns, valid, targets).residual, atol=1e-8)


def test_highs_gives_prices_that_certify_its_optimum():
    columns, _, targets = problems(4, 1, 5, 8, "noisy")
    weights, prices = fit_one(columns[0], targets[0])
    residual = np.abs(columns[0] @ weights - targets[0]).sum()
    assert residual - (prices @ targets[0] - (prices @ columns[0]).max()) == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 4),
    width=st.integers(2, 9),
    kind=st.sampled_from(["exact", "noisy", "rounded", "twins"]),
)
@example(seed=10710, rows=1, width=2, kind="twins")  # two columns that are the same
def test_the_least_norm_kernel_is_optimal_and_nearest_to_uniform(seed, rows, width, kind):
    columns, _, targets = problems(seed, 1, rows, width, kind)
    fit = fit_l1(columns, np.ones((1, width), bool), targets)
    point = least_norm(columns[0], targets[0], fit.weights[0], fit.prices[0])
    assert point is not None
    assert np.abs(columns[0] @ point - targets[0]).sum() <= fit.residual[0] + 1e-8
    # the shortest point x of a convex set has x.v >= x.x for every v in it: look for the v with the least x.v
    equal = np.block([[columns[0], np.eye(rows), -np.eye(rows)], [np.ones((1, width)), np.zeros((1, 2 * rows))]])
    budget = np.r_[np.zeros(width), np.ones(2 * rows)]
    found = linprog(
        np.r_[point, np.zeros(2 * rows)],
        A_ub=budget[None],
        b_ub=[fit.residual[0] + 1e-12],
        A_eq=equal,
        b_eq=np.r_[targets[0], 1.0],
        method="highs",
    )
    assert found.fun >= point @ point - 1e-6
