"""Exact values, against NumPy's linear solver and by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mdps.fourrooms import fourrooms
from wmlab.core.finite.kernel import Kernel
from wmlab.core.programs import exact
from wmlab.planning.finite import bellman, dense, direct, values
from wmlab.planning.finite.values import optimal_values, policy_values, soft_values

S, A, R = 5, 3, 2  # one shape, so that everything compiles once


def problem(seed: int):
    """A random world with some sure steps, some endings and some negative rewards."""
    draw = np.random.default_rng(seed)
    table = draw.dirichlet(np.full(S, draw.choice([0.05, 0.5, 5.0])), size=(S, A))
    reward = draw.normal(size=(R, S))
    continues = (draw.random((R, S)) < 0.7).astype(float)
    discount = draw.choice([0.0, 0.5, 0.9, 0.99], size=R)
    return table, reward, continues, discount


def numpy_values(table, policy, reward, continues, discount):
    """Q of one row."""
    step = np.einsum("xa,xay->xy", policy, table)
    value = np.linalg.solve(np.eye(len(table)) - discount * step * continues, step @ reward)
    return table @ (reward + discount * continues * value)


def numpy_optimum(table, reward, continues, discount):
    """Q of the best of all deterministic policies, by trying each of them."""
    best = None
    for choice in itertools.product(range(table.shape[1]), repeat=len(table)):
        policy = np.eye(table.shape[1])[list(choice)]
        q = numpy_values(table, policy, reward, continues, discount)
        total = (policy * q).sum()
        best = (total, q) if best is None or total > best[0] else best
    return best[1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_a_policys_values_solve_its_linear_system(seed):
    table, reward, continues, discount = problem(seed)
    policy = np.random.default_rng(seed).dirichlet(np.ones(A), size=(R, S))
    q = policy_values(Kernel.dense(table), policy, reward, continues, discount)
    for row in range(R):
        expected = numpy_values(table, policy[row], reward[row], continues[row], discount[row])
        np.testing.assert_allclose(q[row], expected, rtol=0, atol=1e-10)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_no_policy_of_all_is_better_than_the_optimum(seed):
    table, reward, continues, discount = problem(seed)
    policy, q = optimal_values(Kernel.dense(table), reward, continues, discount)
    for row in range(R):
        np.testing.assert_allclose(q[row], numpy_optimum(table, reward[row], continues[row], discount[row]), atol=1e-9)
    np.testing.assert_allclose(q, policy_values(Kernel.dense(table), policy, reward, continues, discount), atol=1e-11)


def test_a_walk_of_three_states_by_hand():
    # s0 -> s1 -> s2, or stay; the goal is s2 and ends the episode
    kernel = Kernel.deterministic(np.array([[1, 0], [2, 1], [2, 2]]))
    policy, q = optimal_values(kernel, np.array([[0, 0, 1.0]]), np.array([[1, 1, 0.0]]), np.array([0.5]))
    assert q[0].tolist() == [[0.5, 0.25], [1.0, 0.5], [1.0, 1.0]]
    assert policy[0].tolist() == [[1, 0], [1, 0], [1, 0]]  # of two equal actions, the first
    _, forever = optimal_values(kernel, np.array([[0, 0, 1.0]]), np.ones((1, 3)), np.array([0.5]))
    np.testing.assert_allclose(forever[0], [[1.0, 0.5], [2.0, 1.0], [2.0, 2.0]], atol=1e-15)


def test_rounding_does_not_choose_between_equal_actions():
    q = np.array([[[1.0, 1.0 + 1e-15], [0.3, 0.3 + 1e-9], [0.0, 0.0]]])
    with exact():
        assert np.asarray(bellman.greedy(q)).argmax(axis=-1).tolist() == [[0, 1, 0]]
    assert dense.greedy(q).argmax(axis=-1).tolist() == [[0, 1, 0]]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.5]))
def test_the_soft_optimum_is_the_fixed_point_of_soft_value_iteration(seed, temperature):
    table, reward, continues, discount = problem(seed)
    discount = np.minimum(discount, 0.9)
    soft = np.zeros((R, S, A))
    for _ in range(400):
        top = soft.max(axis=-1)
        value = top + temperature * np.log(np.exp((soft - top[..., None]) / temperature).sum(axis=-1))
        soft = np.einsum("xay,ry->rxa", table, reward + discount[:, None] * continues * value)
    expected = np.exp((soft - soft.max(axis=-1, keepdims=True)) / temperature)
    expected /= expected.sum(axis=-1, keepdims=True)
    policy, q = soft_values(Kernel.dense(table), reward, continues, discount, temperature)
    np.testing.assert_allclose(policy, expected, atol=1e-8)
    np.testing.assert_allclose(q, policy_values(Kernel.dense(table), policy, reward, continues, discount), atol=1e-11)


@pytest.mark.parametrize("way", ["lists", "factors"])
@pytest.mark.parametrize("variant", ["windy", "teleporting"])
def test_lists_and_sparse_factors_agree_with_linear_solves(variant, way, monkeypatch):
    kernel = fourrooms(variant).kernel
    reward = np.eye(68)[[0, 30, 67]] - 0.5 * np.random.default_rng(1).random((3, 68)) * (np.arange(3)[:, None] == 2)
    continues, discount = 1 - np.eye(68)[[0, 30, 67]], np.full(3, 0.99)
    uniform = np.full((3, 68, 4), 0.25)
    solved = optimal_values(kernel, reward, continues, discount)
    evaluated = policy_values(kernel, uniform, reward, continues, discount)
    monkeypatch.setattr(dense, "STATES", 0)
    monkeypatch.setattr(direct, "LARGE", 1_000 if way == "lists" else 0)
    monkeypatch.setattr(direct, "FLAT", 100)
    assert (direct.flat(kernel) is None) == (way == "lists")
    iterated = optimal_values(kernel, reward, continues, discount)
    np.testing.assert_allclose(iterated[1], solved[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(policy_values(kernel, uniform, reward, continues, discount), evaluated, atol=1e-9)


def test_a_large_map_is_solved_without_a_square_array():
    side = 64
    cells = np.arange(side * side).reshape(side, side)
    steps = [np.roll(cells, 1, 0), np.roll(cells, 1, 1), np.roll(cells, -1, 0), np.roll(cells, -1, 1)]  # a torus
    kernel = Kernel.deterministic(np.stack([step.ravel() for step in steps], axis=1))
    reward = np.eye(1, side * side)
    policy, q = optimal_values(kernel, reward, 1 - reward, np.array([0.99]))
    rows, columns = np.divmod(np.arange(side * side), side)
    distance = np.minimum(rows, side - rows) + np.minimum(columns, side - columns)
    np.testing.assert_allclose((policy * q).sum(axis=-1)[0, 1:], 0.99 ** (distance[1:] - 1), atol=1e-10)


def test_a_second_problem_of_the_same_shape_compiles_nothing(monkeypatch):
    monkeypatch.setattr(dense, "STATES", 0)
    for seed in (1, 2):
        table, reward, continues, discount = problem(seed)
        kernel = Kernel.dense(table)
        policy, _ = optimal_values(kernel, reward, continues, discount)
        policy_values(kernel, policy, reward, continues, discount)
        soft_values(kernel, reward, continues, discount, 0.1 * seed)
        compiled = [function._cache_size() for function in (values._optimise, values._evaluate, values._soften)]
        if seed == 1:
            first = compiled
    assert compiled == first


def test_values_are_float64_and_nothing_else_is():
    import jax.numpy as jnp

    table, reward, continues, discount = problem(0)
    assert optimal_values(Kernel.dense(table), reward, continues, discount)[1].dtype == np.float64
    assert jnp.ones(1).dtype == jnp.float32
