"""Errors of a known size where they do most harm, against linear programs and the theorems' constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.extraction.worlds import view_of
from wmlab.agents.exact.values import separation
from wmlab.agents.exact.worst import (
    _targets,
    against_column_matching,
    against_pseudo_inverse,
    against_rank,
    reach_of,
)
from wmlab.errors import StageError
from wmlab.extraction import column_matching, pseudo_inverse

GAMMA = 0.9


def deterministic(seed: int, rows: int, policy: str, states: int = 8, actions: int = 2):
    """Successors [S, A] of a random world, and an agent with goals that pay at random."""
    rng = np.random.default_rng(seed)
    successor = rng.integers(0, states, (states, actions))
    shared = rng.dirichlet(np.ones(actions), (1, states)).repeat(rows, axis=0)
    certain = np.eye(actions)[rng.integers(0, actions, (rows, states))]
    chosen = shared if policy == "unconditional" else certain
    return successor, view_of(np.eye(states)[successor], chosen, rng.normal(size=(rows, states)), GAMMA)


def moved(view, moves):
    return replace(view, q=view.q + moves)


def matched(view) -> np.ndarray:
    return column_matching.column_matching(view, column_matching.Options(), 0).kernel.successors[..., 0]


def missed(policy: str, rows: int, fraction: float, worlds: int = 60) -> float:
    """In how many worlds column matching errs at this fraction of the theorem's bound."""
    m = 1 if policy == "unconditional" else 2
    count = 0
    for seed in range(worlds):
        successor, view = deterministic(seed, rows, policy)
        epsilon = fraction * separation(view.backup) / (2 * (1 + GAMMA * m))
        moves = against_column_matching(view, epsilon)
        np.testing.assert_allclose(np.abs(moves).sum(axis=0), epsilon)
        count += bool((matched(moved(view, moves)) != successor).any())
    return count / worlds


@pytest.mark.parametrize(("policy", "rows"), [("unconditional", 1), ("unconditional", 4), ("conditional", 8)])
def test_column_matching_is_misled_from_the_bound_of_theorem_2b_on_and_never_below(policy, rows):
    assert missed(policy, rows, 0.999) == 0
    assert missed(policy, rows, 1.001) >= 0.85


def best_margin(view, epsilon: float, own: int, rival: int, pair: tuple[int, int]) -> float:
    """How much nearer than its own column a rival can be brought to Q(s, a), as a linear program (HiGHS)."""
    apart = view.backup[:, rival] - view.backup[:, own]
    sign, room, reach = np.where(apart < 0, -1.0, 1.0), np.abs(apart), reach_of(view)
    rows, actions = view.rows, view.q.shape[2]
    # itself [R], away [A, R], towards [A, R], distance to the rival that is left [R]: all at least 0
    away, towards = (np.concatenate([np.diag(reach[:, s, a]) for a in range(actions)], axis=1) for s in (own, rival))
    width = rows * (2 + 2 * actions)
    gain = np.concatenate([np.ones(rows), away.sum(axis=0), np.zeros(rows * actions), -np.ones(rows)])
    left = np.concatenate([np.eye(rows), np.zeros((rows, rows * actions)), towards, np.zeros((rows, rows))], axis=1)
    slack = np.concatenate([np.zeros((rows, width - rows)), np.eye(rows)], axis=1)
    budgets = np.kron(np.eye(1 + 2 * actions, 2 + 2 * actions), np.ones(rows))
    matrix = np.concatenate([-left - slack, left - slack, budgets])
    level = np.concatenate([-room, room, np.full(1 + 2 * actions, epsilon)])
    before = np.abs(view.q[:, *pair] - view.backup[:, own]).sum()
    assert before < 1e-9 and (sign * apart >= 0).all()
    return -linprog(-gain, A_ub=matrix, b_ub=level, method="highs").fun


@pytest.mark.parametrize("policy", ["unconditional", "conditional"])
def test_no_linear_program_finds_worse_errors(policy):
    for seed in range(4):
        _, view = deterministic(seed, 3, policy, states=5)
        epsilon = 0.3 * separation(view.backup)
        moves = against_column_matching(view, epsilon)
        agent, best, found = moved(view, moves), -np.inf, -np.inf
        for pair, own, rival in zip(*_targets(view), strict=True):
            place = divmod(int(pair), view.q.shape[2])
            at = [np.abs(agent.q[:, *place] - agent.backup[:, column]).sum() for column in (own, rival)]
            found = max(found, at[0] - at[1])
            if place[0] not in (own, rival):  # there the program has no such pair's own move to take into account
                best = max(best, best_margin(view, epsilon, own, rival, place))
        assert found >= best - 1e-9


def test_one_state_has_no_other_column():
    with pytest.raises(StageError, match="one state alone"):
        against_column_matching(view_of(np.ones((1, 1, 1)), np.ones((1, 1, 1)), np.ones((1, 1))), 0.1)


def inverted(view) -> np.ndarray:
    return pseudo_inverse.pseudo_inverse(view, pseudo_inverse.Options(), 0).kernel.to_dense()


def ring(states: int = 5):
    """`go` leads round, `leap` leads past a state, and the policy always goes."""
    places = np.arange(states)
    world = np.eye(states)[np.stack([places + 1, places + 2], axis=1) % states]
    policy = np.tile([1.0, 0.0], (states, states, 1))
    return world, view_of(world, policy, np.eye(states), GAMMA)


def falling(actions: int):
    """Every action leads to the first state, and of the other goals each takes an action of its own."""
    states = actions + 1
    world = np.zeros((states, actions, states))
    world[:, :, 0] = 1.0
    takes = np.array([0, *range(actions)])[:, None].repeat(states, axis=1)
    return world, view_of(world, np.eye(actions)[takes], np.eye(states), GAMMA)


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.1, 0.5])
def test_the_bound_of_unconditional_policies_is_reached_on_a_ring(epsilon):
    world, view = ring()
    error = np.abs(inverted(moved(view, against_pseudo_inverse(view, epsilon))) - world).sum(axis=-1).max()
    assert error == pytest.approx(epsilon * (1 + GAMMA) ** 2 / (1 - epsilon * GAMMA * (1 + GAMMA)), rel=1e-8)


@pytest.mark.parametrize("actions", [2, 3])
def test_the_bound_with_m_is_reached_where_everything_falls_into_one_state(actions):
    epsilon = 1e-5
    world, view = falling(actions)
    agent = moved(view, against_pseudo_inverse(view, epsilon))
    norm = np.abs(np.linalg.pinv(agent.backup)).sum(axis=0).max()
    error = np.abs(inverted(agent) - world).sum(axis=-1).max()
    assert 0.9999 * norm * (1 + GAMMA * actions) * epsilon <= error <= norm * (1 + GAMMA * actions) * epsilon


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), epsilon=st.sampled_from([1e-3, 1e-2, 0.1]))
def test_no_direction_at_random_does_more_harm_to_the_pseudo_inverse(seed, epsilon):
    rng = np.random.default_rng(seed)
    world = rng.dirichlet(np.ones(5), (5, 2))
    view = view_of(world, rng.dirichlet(np.ones(2), (1, 5)).repeat(5, axis=0), np.eye(5), GAMMA)
    moves = against_pseudo_inverse(view, epsilon)
    np.testing.assert_allclose(np.abs(moves).sum(axis=0), epsilon)
    push = rng.normal(size=view.q.shape)
    errors = [
        np.abs(inverted(moved(view, step)) - world).sum(axis=-1).max()
        for step in (moves, epsilon * push / np.abs(push).sum(axis=0))
    ]
    assert errors[0] >= errors[1]


def test_rank_is_kept_below_the_condition_of_theorem_3c_and_lost_above():
    for view, m in ((ring()[1], 1), (falling(2)[1], 2), (falling(3)[1], 3)):
        limit = 1 / (GAMMA * m * (1 + GAMMA))
        for fraction, lost in ((0.999, 0), (1.001, 1), (1.5, 1)):
            moves = against_rank(view, fraction * limit)
            assert np.abs(moves).sum(axis=0).max() <= fraction * limit * (1 + 1e-12)
            assert np.linalg.matrix_rank(moved(view, moves).backup, rtol=1e-9) == view.q.shape[1] - lost
