"""Sparse factors in flat worlds: values against NumPy's own equations, on mazes drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.core.finite.kernel import Kernel
from wmlab.planning.finite import direct
from wmlab.planning.finite.values import optimal_values, policy_values

ROWS = 3


def maze(seed: int, side: int = 17) -> Kernel:
    """A windy maze with walls at random: the action holds with 1/2, and turns to either side with 1/4."""
    draw = np.random.default_rng(seed)
    free = (draw.permutation(side * side) < 0.8 * side * side).reshape(side, side)  # always as many
    lookup = np.full((side + 2, side + 2), -1)
    lookup[1:-1, 1:-1][free] = np.arange(free.sum())
    rows, columns = np.argwhere(free).T + 1
    beyond = np.stack([lookup[rows + y, columns + x] for y, x in ((-1, 0), (0, 1), (1, 0), (0, -1))], axis=1)  # [S, 4]
    beyond = np.where(beyond < 0, np.arange(free.sum())[:, None], beyond)
    turns = (np.arange(4)[:, None] + [0, -1, 1]) % 4
    return Kernel.merged(beyond[:, turns], np.broadcast_to([0.5, 0.25, 0.25], (free.sum(), 4, 3)))


def rewards(seed: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    reward = np.eye(size)[draw.integers(0, size, ROWS)] - draw.choice([0.0, 1.0]) * draw.random((ROWS, size))
    return reward, (draw.random((ROWS, size)) < 0.9).astype(float), draw.choice([0.0, 0.5, 0.99, 0.999], ROWS)


@pytest.fixture(autouse=True)
def every_world_is_large(monkeypatch):
    monkeypatch.setattr(direct, "LARGE", 0)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_optimum_of_a_maze_solves_bellmans_equation(seed):
    kernel = maze(seed)
    reward, continues, discount = rewards(seed, kernel.size)
    assert direct.flat(kernel) is not None
    policy, q = optimal_values(kernel, reward, continues, discount)
    # The optimum is the only fixed point of a contraction, so that a residual bounds the distance from it.
    table = kernel.to_dense()
    best = np.einsum("xay,ry->rxa", table, reward + discount[:, None] * continues * q.max(axis=-1))
    np.testing.assert_allclose(q, best, rtol=0, atol=1e-12 * max(1.0, np.abs(q).max()))
    taken = (policy * q).sum(axis=-1)
    assert (policy.sum(axis=-1) == 1).all() and (taken >= q.max(axis=-1) - 1e-11 * np.abs(q).max()).all()


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_values_of_a_policy_solve_its_linear_system(seed):
    kernel = maze(seed)
    reward, continues, discount = rewards(seed, kernel.size)
    policy = np.random.default_rng(seed).dirichlet(np.ones(4), (ROWS, kernel.size))
    q, table = policy_values(kernel, policy, reward, continues, discount), kernel.to_dense()
    for row in range(ROWS):
        step = np.einsum("xa,xay->xy", policy[row], table)
        value = np.linalg.solve(np.eye(kernel.size) - discount[row] * step * continues[row], step @ reward[row])
        expected = table @ (reward[row] + discount[row] * continues[row] * value)
        np.testing.assert_allclose(q[row], expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


def test_sweeps_come_near_and_leave_one_system_to_factorise(monkeypatch):
    kernel = maze(1, 40)
    reward = np.eye(kernel.size)[[5, 700]] - np.random.default_rng(0).random((2, kernel.size))
    continues, discount = np.ones((2, kernel.size)), np.full(2, 0.99)
    factorised, plain = [], direct.System._factorise
    monkeypatch.setattr(direct.System, "_factorise", lambda self: factorised.append(plain(self)))
    optimal_values(kernel, reward, continues, discount)
    assert len(factorised) == 2


@pytest.mark.parametrize("elsewhere", [0.0, -0.02])
def test_news_of_a_goal_crosses_a_corridor_before_policies_are_solved(elsewhere, monkeypatch):
    # Until it has, all actions are alike, and policy iteration would take one step of the corridor at a time.
    size = 300
    ahead, back = np.minimum(np.arange(size) + 1, size - 1), np.maximum(np.arange(size) - 1, 0)
    kernel = Kernel.deterministic(np.stack([back, ahead], axis=1))
    goal = np.eye(size)[[size - 1]]
    solved, plain = [], direct.System.solution
    monkeypatch.setattr(direct.System, "solution", lambda self, *guess: solved.append(0) or plain(self, *guess))
    _, q = optimal_values(kernel, np.where(goal == 1, 1.0, elsewhere), 1 - goal, np.array([0.99]))
    steps = size - 2 - np.arange(size - 1)  # from each cell, before the one that arrives
    worth = 0.99**steps + elsewhere * (1 - 0.99**steps) / 0.01
    np.testing.assert_allclose(q[0, :-1, 1], worth, rtol=0, atol=1e-12)
    assert len(solved) <= 20


def test_factors_of_one_policy_solve_another_that_differs_in_few_states():
    kernel = maze(3)
    draw = np.random.default_rng(3)
    row = direct.Row(direct.Flat(kernel), draw.random(kernel.size), np.full(kernel.size, 0.99), 0.99)
    action = draw.integers(0, 4, kernel.size)
    first = direct.System.of_actions(row, action)
    guess = first.solution()
    action[draw.choice(kernel.size, 5, replace=False)] = draw.integers(0, 4, 5)
    second = direct.System.of_actions(row, action, first.factors)
    value = second.solution(guess)
    assert second.factors is first.factors
    np.testing.assert_allclose(value, direct.System.of_actions(row, action).solution(), rtol=1e-12)


def test_no_bit_depends_on_how_many_cores_there_are(monkeypatch):
    kernel = maze(2)
    reward, continues, discount = rewards(2, kernel.size)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(direct, "usable_cores", lambda cores=cores: cores)
        found.append(optimal_values(kernel, reward, continues, discount))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_worlds_that_are_not_flat_are_left_to_iteration():
    draw = np.random.default_rng(0)
    tangled = Kernel.merged(draw.integers(0, 2_000, (2_000, 2, 3)), draw.dirichlet(np.ones(3), (2_000, 2)))
    assert direct.flat(tangled) is None
    assert direct.flat(Kernel.dense(draw.dirichlet(np.ones(40), (40, 2)))) is None
    size = 512  # a crowd of successors, all of them near
    near = (np.arange(size)[:, None, None] + np.arange(40)) % size
    assert direct.flat(Kernel.merged(np.repeat(near, 2, axis=1), np.full((size, 2, 40), 0.025))) is None
