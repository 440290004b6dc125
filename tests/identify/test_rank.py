"""Ranks, nullities and gaps: three notions of uniqueness, told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space

from tests.extraction.worlds import random_view, rooms_view, view_of
from wmlab.identify import rank as module
from wmlab.identify.rank import gap, least_rank, rank


def singular_example(gamma: float, stir: float = 0.0):
    world = np.zeros((3, 3, 3))
    world[:, np.arange(3), np.arange(3)] = 1.0  # action i leads to state i
    act = np.eye(3)[np.array([[0, 0, 0], [1, 1, 2], [2, 1, 2]])]
    return view_of(world, (1 - stir) * act + stir / 3, np.eye(3), gamma)


def test_at_one_discount_the_singular_example_loses_a_dimension_but_the_simplex_does_not():
    found = rank(singular_example(1 / np.sqrt(2)))
    assert (found.rank, found.nullity, found.simplex_nullity) == (2, 1, 0)
    assert found.sigma_min < 1e-12


@pytest.mark.parametrize("gamma", [0.70, 0.71, 0.99])
def test_elsewhere_the_singular_example_has_full_rank(gamma):
    assert rank(singular_example(gamma)).rank == 3


def test_a_stirred_policy_restores_the_rank():
    assert rank(singular_example(1 / np.sqrt(2), stir=0.01)).rank == 3


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), states=st.integers(1, 7), rows=st.integers(1, 8))
def test_ranks_and_norms_are_those_of_numpy(seed, states, rows):
    _, view = random_view(seed, states, 2, rows)
    found = rank(view)
    assert found.rank == np.linalg.matrix_rank(view.backup, rtol=1e-9)
    assert found.nullity == null_space(view.backup, rcond=1e-9).shape[1]
    assert found.simplex_nullity == null_space(np.vstack([view.backup, np.ones(states)]), rcond=1e-9).shape[1]
    assert found.inverse_norm == pytest.approx(np.linalg.norm(np.linalg.pinv(view.backup), 1), rel=1e-8)
    least = np.linalg.svd(view.backup, compute_uv=False)[-1] if rows >= states else 0.0
    assert found.sigma_min == pytest.approx(least, abs=1e-12)


def test_values_of_a_single_reward_leave_freedom_over_every_horizon_and_policy():
    p, reward = 0.2, np.array([0.1, 0.3, 0.9, -0.4])
    world = np.zeros((4, 2, 4))
    world[0, 0] = [p, *[(1 - p) / 3] * 3]
    world[0, 1] = [0.5, 0.3, 0.1, 0.1]
    world[np.arange(1, 4), :, np.arange(1, 4)] = 1.0
    rng = np.random.default_rng(0)
    policy = rng.dirichlet(np.ones(2), (96, 4))
    discount = np.tile([0, 0.25, 0.5, 0.75, 0.9, 0.99], 16)
    for rewards, freedom in ((reward, 1), (np.array([0.1, 0.5, 0.5, 0.5]), 2)):
        assert rank(view_of(world, policy, np.tile(rewards, (96, 1)), discount)).simplex_nullity == freedom


def test_teleporting_rooms_have_full_rank_and_a_huge_condition_number():
    found = rank(rooms_view("teleporting", 68)[1])
    assert (found.rank, found.simplex_nullity) == (68, 0)
    assert 1e6 < found.sigma_max / found.sigma_min < 1e8


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), states=st.integers(2, 9), rows=st.integers(1, 4))
def test_the_gap_is_the_least_distance_between_columns(seed, states, rows):
    _, view = random_view(seed, states, 2, rows)
    every = np.abs(view.backup[:, :, None] - view.backup[:, None]).sum(axis=0)
    expected = every[~np.eye(states, dtype=bool)].min()
    assert gap(view) == pytest.approx(expected, abs=1e-12)


def test_the_gap_is_the_same_in_chunks_and_by_a_tree(monkeypatch):
    _, view = random_view(3, 40, 2, 3)
    whole = gap(view)
    monkeypatch.setattr(module, "CHUNK", 100)
    assert gap(view) == whole
    monkeypatch.setattr(module, "FEW", 10)
    assert gap(view) == pytest.approx(whole, rel=1e-12)


def test_the_least_rank_is_that_of_the_worst_discount():
    bad, good = singular_example(1 / np.sqrt(2)), singular_example(0.9)
    rows = [
        np.stack([one, other], axis=1).reshape(6, *one.shape[1:])
        for one, other in (
            (bad.q, good.q),
            (bad.policy, good.policy),
            (bad.reward, good.reward),
            (bad.continues, good.continues),
        )
    ]
    both = replace(
        bad, q=rows[0], policy=rows[1], reward=rows[2], continues=rows[3], discount=np.array([1 / np.sqrt(2), 0.9] * 3)
    )
    assert rank(both).rank == 3 and least_rank(both, goals=3) == 2
    assert least_rank(good, goals=3) == 3
