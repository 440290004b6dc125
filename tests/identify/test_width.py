"""Identified sets against SciPy, in hand-made worlds, and on FourRooms."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.extraction.worlds import noisy, random_view, rooms_view, view_of
from wmlab.errors import StageError
from wmlab.extraction.lp import Options, lp
from wmlab.identify import programs as module
from wmlab.identify.width import identified_set


def bounds_by_scipy(view, state, action, allowed, slack):
    """Two linear programs a candidate, written out plainly."""
    columns, target = view.backup[:, allowed], view.q[:, state, action]
    rows, count = columns.shape
    equal = np.block([[columns, np.eye(rows), -np.eye(rows)], [np.ones((1, count)), np.zeros((1, 2 * rows))]])
    level, cost = np.r_[target, 1.0], np.r_[np.zeros(count), np.ones(2 * rows)]
    best = linprog(cost, A_eq=equal, b_eq=level, method="highs").fun
    found = []
    for candidate, side in np.ndindex(count, 2):
        aim = np.zeros(count + 2 * rows)
        aim[candidate] = 1.0 if side == 0 else -1.0
        solved = linprog(aim, A_ub=cost[None], b_ub=[best + slack], A_eq=equal, b_eq=level, method="highs")
        found.append(abs(solved.fun))
    return np.array(found).reshape(count, 2)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 5),
    slack=st.sampled_from([1e-3, 0.1]),
    size=st.sampled_from([0.0, 0.3]),
)
def test_identified_sets_are_those_of_two_linear_programs_a_candidate(seed, rows, slack, size):
    _, view = random_view(seed, 5, 1, rows)
    view = noisy(view, size, seed) if size else view
    support = np.array([[0, 1, 2, 3, 4], [1, 2, 0, -1, -1], [2, 3, 4, 0, -1], [3, -1, -1, -1, -1], [4, 0, 1, 2, 3]])
    found = identified_set(replace(view, support=support.astype(np.int32)), slack)
    for state in range(5):
        allowed = support[state][support[state] >= 0]
        expected = bounds_by_scipy(view, state, 0, allowed, slack)
        np.testing.assert_allclose(found.low[state, 0, : len(allowed)], expected[:, 0], atol=1e-8)
        np.testing.assert_allclose(found.high[state, 0, : len(allowed)], expected[:, 1], atol=1e-8)
        assert (found.intervals[state, 0, len(allowed) :] == 0).all()


def test_one_goal_by_hand():
    # p1 is worth 1, p2 is worth 0, p0 is worth 1/2 and 3/4 is expected: p0/2 + p1 = 3/4
    world = np.zeros((3, 1, 3))
    world[0, 0, [1, 2]] = 0.75, 0.25
    world[1, 0, 1] = world[2, 0, 2] = 1.0
    view = view_of(world, np.ones((1, 3, 1)), np.array([[0.5, 1.0, 0.0]]), discount=0.0)
    found = identified_set(view, 0.0)
    np.testing.assert_allclose(found.low[0, 0], [0.0, 0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.high[0, 0], [0.5, 0.75, 0.25], atol=1e-12)
    assert found.width == pytest.approx(0.5)


def test_enough_goals_leave_no_width():
    _, view = random_view(0, 5, 2, 6)
    assert identified_set(view, 0.0).width < 1e-9


@pytest.mark.parametrize("goals", [1, 4])
def test_the_true_wind_lies_in_the_identified_set(goals):
    world, view = rooms_view("windy", goals, local=True)
    found = identified_set(view, 1e-9)
    truth = np.take_along_axis(world, np.maximum(found.candidates, 0), axis=2)
    truth = np.where(found.candidates >= 0, truth, 0.0)
    assert (found.low <= truth + 1e-9).all()
    assert (truth <= found.high + 1e-9).all()
    assert found.width >= (0.9 if goals == 1 else 0.4)


def test_bottlenecks_show_in_the_identified_set():
    _, view = rooms_view("windy", 4, local=True)
    widths = identified_set(view, 1e-9).intervals.max(axis=(1, 2))
    assert (widths < 1e-4).mean() > 0.8  # most of the map is known
    assert (widths > 0.1).any()  # and some of it is not


def test_every_extracted_kernel_lies_in_the_identified_set():
    _, view = random_view(9, 6, 2, 3)
    found = identified_set(view, 1e-9)
    for tie_break in ("vertex", "least_norm"):
        table = lp(view, Options(tie_break=tie_break), 0).kernel.to_dense()
        assert (found.low - 1e-8 <= table).all()
        assert (table <= found.high + 1e-8).all()


GIVEN_UP = SimpleNamespace(x=None, success=False, message="no idea")


def test_highs_takes_over_where_the_pivots_are_not_certified(monkeypatch):
    _, view = random_view(2, 4, 1, 2)
    expected = identified_set(view, 1e-3)
    monkeypatch.setattr(module, "final_bases", lambda tableau: tableau.basic)
    found = identified_set(view, 1e-3)
    np.testing.assert_allclose(found.low, expected.low, atol=1e-8)
    np.testing.assert_allclose(found.high, expected.high, atol=1e-8)


def test_where_highs_gives_up_pivots_that_are_right_up_to_rounding_are_kept(monkeypatch):
    _, view = random_view(2, 4, 1, 2)
    expected = identified_set(view, 1e-3)
    asked = []
    monkeypatch.setattr(module, "CERTIFIED", 0.0)
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: asked.append(1) or GIVEN_UP)
    found = identified_set(view, 1e-3)
    assert asked
    np.testing.assert_allclose(found.intervals, expected.intervals, atol=1e-12)


def test_where_highs_gives_up_and_pivots_have_not_ended_there_is_no_answer(monkeypatch):
    _, view = random_view(2, 4, 1, 2)
    monkeypatch.setattr(module, "final_bases", lambda tableau: tableau.basic)
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: GIVEN_UP)
    with pytest.raises(StageError, match="could not find the greatest value.* HiGHS says: no idea"):
        identified_set(view, 1e-3)


def best_vertex(cost, solution):
    """The weight on the one candidate that is worth most, whether that fits or not."""
    return np.eye(len(cost))[cost.argmin()]


def a_little_off(cost, solution):
    return solution.x + 1e-6 * (best_vertex(cost, solution) - solution.x)


def nothing(cost, solution):
    return np.full(len(cost), np.nan)


@pytest.mark.parametrize("success", [False, True])
@pytest.mark.parametrize("lie", [best_vertex, a_little_off, nothing])
@pytest.mark.parametrize("proof", [1.0, 0.0])  # times the true prices; with none, a wrong vertex attains its bound
@pytest.mark.parametrize("pivots", [True, False])
def test_whatever_highs_says_an_interval_is_right_or_there_is_none(monkeypatch, success, lie, proof, pivots):
    _, view = random_view(2, 4, 1, 2)
    expected = identified_set(view, 1e-3)
    asked = []

    def lying(cost, **more):
        solution = linprog(cost, **more)
        asked.append(cost)
        told = SimpleNamespace(marginals=proof * solution.eqlin.marginals)
        return SimpleNamespace(x=lie(cost, solution), success=success, eqlin=told, message="all is well")

    monkeypatch.setattr("scipy.optimize.linprog", lying)
    if pivots:  # which are right up to rounding, as none may be said to be
        monkeypatch.setattr(module, "CERTIFIED", 0.0)
        np.testing.assert_allclose(identified_set(view, 1e-3).intervals, expected.intervals, atol=1e-12)
    else:
        monkeypatch.setattr(module, "final_bases", lambda tableau: tableau.basic)
        with pytest.raises(StageError, match="all is well"):
            identified_set(view, 1e-3)
    assert asked


def test_a_wider_slack_never_narrows():
    _, view = random_view(12, 5, 2, 3)
    narrow, wide = identified_set(view, 1e-6), identified_set(view, 1e-2)
    assert (wide.low <= narrow.low + 1e-9).all()
    assert (wide.high >= narrow.high - 1e-9).all()
