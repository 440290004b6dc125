"""The theorems' bounds, and that they hold where they are tight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extraction.worlds import random_view, view_of
from wmlab.extraction import column_matching, pseudo_inverse
from wmlab.identify.bounds import improvement, spread_of_errors, theorem_2b, theorem_3c
from wmlab.identify.rank import gap


def moved(view, epsilon, seed):
    """Values moved by exactly epsilon in l1 over rows, at every state and action."""
    push = np.random.default_rng(seed).normal(size=view.q.shape)
    return replace(view, q=view.q + epsilon * push / np.abs(push).sum(axis=0))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 3), actions=st.integers(1, 3))
def test_below_the_bound_of_theorem_2b_column_matching_is_exact(seed, rows, actions):
    rng = np.random.default_rng(seed)
    successor = rng.integers(0, 5, (5, actions))
    view = view_of(np.eye(5)[successor], rng.dirichlet(np.ones(actions), (rows, 5)), rng.normal(size=(rows, 5)))
    # the separation that counts is that of the agent's own M: shrink epsilon until the premise holds for it
    epsilon = 0.99 * theorem_2b(view).lower / 2
    agent = moved(view, epsilon, seed)
    if epsilon < theorem_2b(agent).lower:
        found = column_matching.column_matching(agent, column_matching.Options(), 0)
        np.testing.assert_array_equal(found.kernel.successors[..., 0], successor)


def test_theorem_2b_by_hand():
    world = np.zeros((2, 2, 2))
    world[:, 0, 0] = world[:, 1, 1] = 1.0
    policy = np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])
    view = view_of(world, policy, np.array([[0.0, 1.0], [0.0, 1.0]]), discount=0.5)
    assert gap(view) == pytest.approx(2.0)  # M = [[0, 1], [1, 2]]
    bound = theorem_2b(view)
    assert bound.lower == pytest.approx(2.0 / (2 * (1 + 0.5 * 2)))
    assert bound.upper == pytest.approx(1.0)


def test_fewer_goals_than_actions_or_an_unconditional_policy_sharpen_the_bound():
    _, one = random_view(0, 4, 3, 1)
    assert spread_of_errors(one) == 1.0
    _, two = random_view(0, 4, 3, 2)
    assert spread_of_errors(two) == 2.0
    _, many = random_view(0, 4, 3, 7)
    assert spread_of_errors(many) == 3.0
    assert spread_of_errors(replace(many, policy=np.repeat(many.policy[:1], 7, axis=0))) == 1.0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), epsilon=st.sampled_from([1e-4, 1e-3, 1e-2]))
def test_the_error_of_the_pseudo_inverse_stays_below_theorem_3c(seed, epsilon):
    world, view = random_view(seed, 5, 2, 5)
    agent = moved(view, epsilon, seed)
    error = np.abs(pseudo_inverse.pseudo_inverse(agent, pseudo_inverse.Options(), 0).kernel.to_dense() - world)
    assert error.sum(axis=-1).max() <= theorem_3c(agent, epsilon).upper


def test_the_two_worlds_of_the_proof_differ_by_twice_the_lower_bound():
    gamma, epsilon = 0.9, 0.01
    swap = np.zeros((2, 2, 2))
    swap[0, :, 1] = swap[1, :, 0] = 1.0
    other = swap.copy()
    other[0, 0] = (1 + gamma) * epsilon / 2, 1 - (1 + gamma) * epsilon / 2
    policy = np.tile([0.0, 1.0], (2, 2, 1))
    views = [view_of(world, policy, np.eye(2), gamma) for world in (swap, other)]
    assert np.abs(views[0].q - views[1].q).sum(axis=0).max() == pytest.approx(epsilon)
    assert np.abs(swap - other).sum(axis=-1).max() == pytest.approx(2 * theorem_3c(views[0], epsilon).lower)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_occupancy_measures_obey_the_improved_bound(seed):
    rng = np.random.default_rng(seed)
    world = rng.dirichlet(np.ones(5), (5, 2))
    view = view_of(world, np.repeat(rng.dirichlet(np.ones(2), (1, 5)), 5, axis=0), np.eye(5))
    epsilon = 0.01
    agent = moved(view, epsilon, seed)
    bound = theorem_3c(agent, epsilon)
    assert bound.upper <= improvement(agent, epsilon) <= 4 * epsilon / (1 - 2 * epsilon)
    error = np.abs(pseudo_inverse.pseudo_inverse(agent, pseudo_inverse.Options(), 0).kernel.to_dense() - world)
    assert error.sum(axis=-1).max() <= bound.upper


def test_without_full_rank_theorem_3c_promises_nothing():
    _, view = random_view(0, 5, 2, 3)
    assert theorem_3c(view, 0.01).upper == float("inf")


def test_the_improvement_needs_states_as_goals_one_policy_and_no_end():
    _, view = random_view(0, 4, 2, 4)
    assert improvement(view, 0.01) == float("inf")
    world = np.full((4, 2, 4), 0.25)
    same = np.full((4, 4, 2), 0.5)
    assert improvement(view_of(world, same, np.eye(4)), 0.01) < 0.04
    ends = view_of(world, same, np.eye(4), continues=1 - np.eye(4))
    assert improvement(ends, 0.01) == float("inf")
