"""What is certain of a return and what is possible: against brute force, HiGHS, and the true world."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extraction.worlds import random_view, rooms_view, view_of
from tests.identify.test_fitting import greatest_by_highs
from wmlab.identify import guarantee as module
from wmlab.identify.guarantee import guarantee
from wmlab.identify.rank import rank
from wmlab.planning.finite import dense
from wmlab.planning.finite.values import Tasks

STATES, ACTIONS, GAMMA = 5, 2, 0.9


def value_of(world: np.ndarray, action: np.ndarray, task: Tasks) -> np.ndarray:
    """V [S] of a policy int [S] in a world [S, A, S], by one linear system."""
    moves = world[np.arange(len(world)), action]
    ahead = task.discount * task.continues[0]
    return np.linalg.solve(np.eye(len(world)) - moves * ahead, moves @ task.reward[0])


def best_value(world: np.ndarray, task: Tasks) -> np.ndarray:
    """V* [S], of all policies that there are."""
    policies = itertools.product(range(world.shape[1]), repeat=len(world))
    return np.max([value_of(world, np.array(policy), task) for policy in policies], axis=0)


def case(seed: int, rows: int, local: bool, ends: bool):
    """A random world, an agent with exact values in it, and a task."""
    rng = np.random.default_rng(seed)
    world = rng.dirichlet(np.full(STATES, 0.5), (STATES, ACTIONS))
    world = np.where(world < 0.1, 0.0, world)
    world /= world.sum(axis=-1, keepdims=True)
    reward = rng.normal(size=(rows, STATES))
    continues = (rng.random((rows, STATES)) < 0.7).astype(float) if ends else None
    view = view_of(world, rng.dirichlet(np.ones(ACTIONS), (rows, STATES)), reward, GAMMA, continues)
    if local:  # all that happens, and one state more
        may = (world > 0).any(axis=1) | (np.eye(STATES) > 0)
        lists = [np.flatnonzero(row) for row in may]
        support = np.full((STATES, max(map(len, lists))), -1, np.int32)
        for row, listed in zip(support, lists, strict=True):
            row[: len(listed)] = listed
        view = replace(view, support=support)
    order = rng.permutation(STATES)
    return world, view, Tasks.of(STATES, [order[:1].tolist()], [order[1 : 1 + int(rng.integers(3))].tolist()], GAMMA)


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 5),
    slack=st.sampled_from([1e-12, 1e-9, 1e-3, 0.3]),
    local=st.booleans(),
    ends=st.booleans(),
)
def test_what_is_certain_is_attained_and_what_is_possible_is_not_exceeded(seed, rows, slack, local, ends):
    world, view, task = case(seed, rows, local, ends)
    found = guarantee(view, task, slack)
    attained, best = value_of(world, found.cautious, task), best_value(world, task)
    going_on = task.continues[0] > 0
    rounding = 1e-14  # of NumPy's linear systems
    assert (found.certain <= attained + rounding)[going_on].all()
    assert (attained <= best + 1e-12)[going_on].all()
    assert (best <= found.possible + rounding)[going_on].all()
    assert found.settled


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(5, 7))
def test_full_rank_makes_all_of_the_optimal_return_certain(seed, rows):
    world, view, task = case(seed, rows, False, False)
    slack = 1e-12
    found, best, algebra = guarantee(view, task, slack), best_value(world, task), rank(view)
    assert algebra.nullity == 0
    left = 4 * algebra.inverse_norm * (slack + 1e-13) / (1 - GAMMA)  # what slack and rounding may move
    going_on = task.continues[0] > 0
    np.testing.assert_allclose(found.certain[going_on], best[going_on], atol=left)
    np.testing.assert_allclose(found.possible[going_on], best[going_on], atol=left)


def test_both_are_the_limits_of_robust_value_iteration_through_highs():
    _, view, task = case(1, 2, False, True)
    task = replace(task, discount=0.3)
    slack = 1e-3
    fitting, problem = module.fitting_of(view, slack)
    found = guarantee(view, task, slack)
    for side, expected in ((-1.0, found.certain), (1.0, found.possible)):
        value = np.zeros(STATES)
        for _ in range(18):  # 0.3 ** 18 < 1e-9
            cost = task.reward[0] + task.discount * task.continues[0] * value
            q = [
                side * greatest_by_highs(view.backup, view.q[:, s, a], fitting.budget[problem[s, a]], side * cost)
                for s, a in np.ndindex(STATES, ACTIONS)
            ]
            value = np.reshape(q, (STATES, ACTIONS)).max(axis=1)
        np.testing.assert_allclose(expected, value, atol=5e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 3))
def test_what_is_stopped_early_holds_all_the_same(seed, rows):
    world, view, task = case(seed, rows, False, False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "ROUNDS", 1)
        early = guarantee(view, task, 1e-9)
    late, going_on = guarantee(view, task, 1e-9), task.continues[0] > 0
    assert (early.certain <= late.certain + 1e-12)[going_on].all()
    assert (early.certain <= value_of(world, early.cautious, task) + 1e-14)[going_on].all()
    assert (late.possible <= early.possible + 1e-12)[going_on].all()


def test_the_worst_world_gives_the_cautious_policy_what_is_certain_and_no_more():
    _, view, task = case(7, 2, False, False)
    found = guarantee(view, task, 1e-6)
    worst = found.worst.to_dense()[:, 0][:, None]  # [S, 1, S]
    value = value_of(worst, np.zeros(STATES, int), task)
    np.testing.assert_allclose(value, found.certain, atol=1e-9)
    missed = np.abs(np.einsum("rt,st->rs", view.backup, worst[:, 0]) - view.q[:, np.arange(STATES), found.cautious])
    assert (missed.sum(axis=0) <= 1e-6 + 1e-9).all()


def test_more_slack_leaves_less_certain_and_more_possible():
    _, view, task = case(11, 3, False, False)
    tight, loose = guarantee(view, task, 1e-9), guarantee(view, task, 1e-2)
    assert (loose.certain <= tight.certain + 1e-12).all()
    assert (loose.possible >= tight.possible - 1e-12).all()
    assert loose.certain.sum() < tight.certain.sum()


def test_a_further_goal_never_takes_certainty_away():
    _, view, task = case(12, 4, False, False)
    for rows in range(1, 4):
        fewer, more = (
            replace(
                view, **{name: getattr(view, name)[:n] for name in ("q", "policy", "reward", "continues", "discount")}
            )
            for n in (rows, rows + 1)
        )
        assert (guarantee(fewer, task, 1e-9).certain <= guarantee(more, task, 1e-9).certain + 1e-9).all()


def test_lists_of_successors_and_full_tables_give_the_same(monkeypatch):
    _, view = random_view(8, 12, 2, 3)
    task = Tasks.of(12, [[0]], [[1]], 0.9)
    expected = guarantee(view, task, 1e-9)
    monkeypatch.setattr(dense, "STATES", 4)  # vertices are cut to their successors
    found = guarantee(view, task, 1e-9)
    np.testing.assert_allclose(found.certain, expected.certain, atol=1e-10)
    np.testing.assert_allclose(found.possible, expected.possible, atol=1e-10)
    assert found.worst.width == 5 < expected.worst.width


def test_in_windy_rooms_two_goals_make_certain_what_one_leaves_open():
    task = Tasks.of(68, [[60]], [[33]], 0.99)
    shares = []
    for goals in (1, 2, 4):
        world, view = rooms_view("windy", goals, local=True)
        found = guarantee(view, task, 1e-9)
        attained = value_of(world, found.cautious, task)
        free = task.continues[0] > 0
        assert (found.certain <= attained)[free].all() and (attained <= found.possible)[free].all()
        shares.append(float((found.certain / found.possible)[free].mean()))
    assert shares[0] < 0.2 and shares[1] > 0.9 and shares[2] > 0.99


def test_where_nothing_is_open_nothing_is_lost():
    _, view = random_view(2, 5, 2, 6)
    found = guarantee(view, Tasks.of(5, [[0]], [[]], 0.9), 1e-12)
    assert found.open.max() < 1e-9
    _, view = random_view(2, 5, 2, 1)
    assert guarantee(view, Tasks.of(5, [[0]], [[]], 0.9), 1e-12).open.max() > 0.01


def test_where_no_program_is_bounded_nothing_is_called_certain():
    task = Tasks.of(3, [[0]], [[]], 0.9)
    unbounded = np.array([[[0.5, 0.4], [-np.inf, -np.inf], [0.3, 0.2]]])
    held, action = module._held(task, np.array([[0.5, 0.6, 0.3]]), unbounded, -1, None)
    np.testing.assert_array_equal(held[0, 1:], 0.0)
    assert action[0, 2] == 0
