"""Linear programs over the kernels that fit, against HiGHS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult, linprog

from tests.extraction.worlds import noisy, random_view, rooms_view
from wmlab.bench.finite import fourrooms_view
from wmlab.errors import StageError
from wmlab.identify import programs as module
from wmlab.identify.fitting import fitting_of

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
SUPPORT = np.array([[0, 1, 2, 3, 4], [1, 2, 0, -1, -1], [2, 3, 4, 0, -1], [3, -1, -1, -1, -1], [4, 0, 1, 2, 3]])


def greatest_by_highs(columns: np.ndarray, target: np.ndarray, budget: float, cost: np.ndarray) -> float:
    """The greatest cost.p with ||columns p - target||_1 <= budget, written out plainly."""
    rows, count = columns.shape
    equal = np.block([[columns, np.eye(rows), -np.eye(rows)], [np.ones((1, count)), np.zeros((1, 2 * rows))]])
    aim = -np.r_[cost, np.zeros(2 * rows)]
    spent = np.r_[np.zeros(count), np.ones(2 * rows)][None]
    level = np.r_[target, 1.0]
    found = linprog(aim, A_ub=spent, b_ub=[budget], A_eq=equal, b_eq=level, method="highs", options=TIGHT)
    return -float(found.fun)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 6),
    slack=st.sampled_from([1e-9, 1e-3, 0.1]),
    size=st.sampled_from([0.0, 0.3]),
    local=st.booleans(),
)
def test_programs_over_fitting_kernels_are_those_of_highs_to_1e_9(seed, rows, slack, size, local):
    _, view = random_view(seed, 5, 1, rows)
    view = noisy(view, size, seed) if size else view
    view = replace(view, support=SUPPORT.astype(np.int32)) if local else view
    fitting, problem = fitting_of(view, slack)
    value = np.random.default_rng(seed).random(5)
    every, cost = np.arange(fitting.count), value[np.maximum(fitting.allowed, 0)]
    found = fitting.greatest(cost, every, fitting.basis)
    again = fitting.greatest(-cost, every, found.basis)  # from the basis of the opposite aim
    for state in range(5):
        allowed = SUPPORT[state][SUPPORT[state] >= 0] if local else np.arange(5)
        one = problem[state, 0]
        for aim, answer in ((value, found), (-value, again)):
            asked = view.backup[:, allowed], view.q[:, state, 0], fitting.budget[one], aim[allowed]
            expected = greatest_by_highs(*asked)
            assert answer.value[one] == pytest.approx(expected, abs=1e-9)
            assert answer.value[one] <= answer.bound[one] + answer.rounding[one]
            assert answer.bound[one] == pytest.approx(expected, abs=1e-9)


def test_programs_of_four_rooms_are_certified_to_1e_9_by_kernels_that_fit_to_rounding():
    """Where HiGHS goes over the budget by its own tolerance, which at these prices moves its optima by 5e-7."""
    view = fourrooms_view(20)
    fitting, _ = fitting_of(view, 1e-9)
    cost = np.random.default_rng(0).random(fitting.allowed.shape)
    found = fitting.greatest(cost, np.arange(fitting.count), fitting.basis)
    assert ((found.bound - found.value) <= 1e-9).all()
    assert (found.weights >= 0).all()
    np.testing.assert_allclose((found.weights * cost).sum(axis=1), found.value, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    missed = np.abs(found.weights @ view.backup.T - fitting.targets).sum(axis=1)
    assert (missed <= fitting.budget + 1e-12).all()


def test_what_attains_an_optimum_is_a_kernel_that_fits():
    _, view = random_view(3, 6, 2, 3)
    fitting, problem = fitting_of(view, 1e-3)
    every = np.arange(fitting.count)
    found = fitting.greatest(np.random.default_rng(0).random(fitting.allowed.shape), every, fitting.basis)
    assert (found.weights >= 0).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-12)
    missed = np.abs(np.einsum("rs,ns->nr", view.backup, found.weights) - fitting.targets).sum(axis=1)
    assert (missed <= fitting.budget + 1e-9).all()


def test_pairs_that_ask_the_same_are_solved_once():
    _, view = rooms_view("teleporting", 5)
    fitting, problem = fitting_of(view, 1e-9)
    assert problem.shape == (68, 4) and fitting.count <= 68 + 4  # a place to go to, or a teleport
    targets = fitting.targets[problem]  # [S, A, R]
    np.testing.assert_array_equal(targets, np.moveaxis(view.q, 0, -1))


def test_a_last_basis_that_is_optimal_still_needs_no_pivot(monkeypatch):
    _, view = random_view(4, 5, 2, 3)
    fitting, _ = fitting_of(view, 1e-3)
    every, cost = np.arange(fitting.count), np.random.default_rng(1).random(fitting.allowed.shape)
    before = fitting.basis.copy()
    first = fitting.greatest(cost, every, fitting.basis)
    np.testing.assert_array_equal(fitting.basis, before)  # what it starts from stays as it is

    def refuse(tableau):
        raise AssertionError("there was nothing left to do")

    monkeypatch.setattr(module, "final_bases", refuse)
    again = fitting.greatest(1.001 * cost, every, first.basis)
    np.testing.assert_allclose(again.value, 1.001 * first.value, atol=1e-12)


def test_a_singular_basis_is_left_to_highs():
    _, view = random_view(5, 5, 1, 2)
    fitting, _ = fitting_of(view, 1e-3)
    every, cost = np.arange(fitting.count), np.random.default_rng(2).random(fitting.allowed.shape)
    expected = fitting.greatest(cost, every, fitting.basis)
    broken = fitting.basis.copy()
    broken[0] = broken[0, 0]
    np.testing.assert_allclose(fitting.greatest(cost, every, broken).value, expected.value, atol=1e-9)


def half_known() -> tuple[module.Programs, np.ndarray]:
    """The greatest p1 where p1 = 1/4 and p0 + p1 + p2 = 1, nearly: 1/4, at a price of 1; and the optimal basis."""
    columns, valid = np.array([[[0.0, 1.0, 0.0]]]), np.ones((1, 3), bool)
    asked = columns, valid, np.array([[0.25]]), np.zeros(1), np.zeros(1, int), np.array([[0.0, 1.0, 0.0]])
    return module.Programs.of(*asked), np.array([[0, 1, 5]])


def test_of_pivots_and_highs_the_answer_with_the_smaller_gap_is_kept(monkeypatch):
    programs, basis = half_known()
    exact = programs.certified(basis)
    assert exact.value == exact.bound == 0.25
    assert programs.by_highs(exact) is exact
    pivots = replace(exact, value=exact.bound - 2e-9, rounding=np.array([1e-8]))
    assert programs.by_highs(pivots).value == pytest.approx(0.25, abs=1e-12)  # HiGHS is nearer

    def worse(cost, **more):
        solution = linprog(cost, **more)
        solution.x = solution.x + 1e-5 * (np.eye(6)[0] - solution.x)
        return solution

    monkeypatch.setattr("scipy.optimize.linprog", worse)
    assert programs.by_highs(pivots) is pivots


@pytest.mark.parametrize(
    ("gap", "rounding", "sound"), [(5e-7, 1.0, True), (5e-7, 1e-8, False), (2e-6, 1.0, False), (np.nan, 1.0, False)]
)
def test_rounding_excuses_a_gap_of_a_millionth_of_the_costs_at_most(monkeypatch, gap, rounding, sound):
    programs, basis = half_known()
    exact = programs.certified(basis)
    pivots = replace(exact, value=exact.bound - gap, rounding=np.array([rounding]))
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: OptimizeResult(x=None, success=False, message="no"))
    if sound:
        assert programs.by_highs(pivots) is pivots
    else:
        with pytest.raises(StageError, match="HiGHS says: no"):
            programs.by_highs(pivots)
