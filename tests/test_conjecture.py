"""The paper's open conjecture, looked at with NumPy alone: what the comments of specs/theory/conjecture_*.yaml lean on.

The conjecture: in a stochastic continuum goals that cover enough determine the world, also if each has its own policy.
"""

from __future__ import annotations

import itertools

import numpy as np

DISCOUNTS = np.linspace(0.01, 0.99, 981)


def graphs(size: int) -> list[np.ndarray]:
    """Distances [S, S] in every connected graph of so many states, one of each kind."""
    pairs = list(itertools.combinations(range(size), 2))
    place = {pair: position for position, pair in enumerate(pairs)}
    orders = [[place[tuple(sorted((order[a], order[b])))] for a, b in pairs] for order in permutations(size)]
    weights, seen, found = 1 << np.arange(len(pairs)), set(), []
    for number in range(1 << len(pairs)):
        if number in seen:
            continue
        edges = (number >> np.arange(len(pairs))) & 1
        seen |= set((edges[np.array(orders)] * weights).sum(axis=1).tolist())
        apart = np.full((size, size), np.inf)
        np.fill_diagonal(apart, 0)
        for (a, b), edge in zip(pairs, edges, strict=True):
            apart[a, b] = apart[b, a] = 1 if edge else np.inf
        for middle in range(size):
            apart = np.minimum(apart, apart[:, [middle]] + apart[[middle]])
        if np.isfinite(apart).all():
            found.append(apart)
    return found


def permutations(size: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(size)))


def open_directions(apart: np.ndarray, discount: float | np.ndarray) -> np.ndarray:
    """The least singular value of M on directions that sum to 0, where M = γ^distance: goals that end on arrival."""
    size = len(apart)
    level = np.linalg.svd(np.ones((1, size)))[2][1:].T  # [S, S - 1]
    backup = np.asarray(discount)[..., None, None] ** apart
    return np.linalg.svd(backup @ level, compute_uv=False)[..., -1]


def singular_discounts(apart: np.ndarray) -> list[float]:
    """Discounts at which optimal values leave a direction of next-state probabilities open."""
    sizes, found = open_directions(apart, DISCOUNTS), []
    dips = np.flatnonzero((sizes[1:-1] < sizes[:-2]) & (sizes[1:-1] < sizes[2:])) + 1
    for low, high in zip(DISCOUNTS[dips - 1], DISCOUNTS[dips + 1], strict=True):
        for _ in range(80):
            left, right = low + 0.382 * (high - low), low + 0.618 * (high - low)
            nearer = open_directions(apart, left) < open_directions(apart, right)
            low, high = (low, right) if nearer else (left, high)
        if open_directions(apart, 0.5 * (low + high)) < 1e-9:
            found.append(float(0.5 * (low + high)))
    return found


def test_six_states_are_the_fewest_that_optimal_policies_hide_where_moves_can_be_undone():
    few = [apart for size in (2, 3, 4, 5) for apart in graphs(size)]
    six = graphs(6)
    assert (len(few), len(six)) == (1 + 2 + 6 + 21, 112)  # all connected graphs there are
    assert [singular_discounts(apart) for apart in few] == [[]] * len(few)
    hidden = sorted(discounts for apart in six if (discounts := singular_discounts(apart)))
    golden, seventh = (np.sqrt(5) - 1) / 2, 1 / (2 * np.cos(2 * np.pi / 7))
    np.testing.assert_allclose(np.concatenate(hidden), [0.5, golden, np.sqrt(0.5), seventh], atol=1e-6)


# --- optimal policies and Gaussian goals ------------------------------------------------------------------------------
# x and y are two states. y leads to c with probability 1/2, else far away; x has many actions, each of which leads to a
# place of its own with a probability of its own, else far away. Whoever arrives at such a place stays there.

X, Y, C, GAMMA = 3.0, -1.0, 1.0, 0.9


def bell(gap: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * gap**2)


def wanted(goal: np.ndarray) -> np.ndarray:
    """What x must be able to get, for both to be worth the same: r(x) + γ f / (1 - γ) is what it is for y."""
    return 0.5 * bell(goal - C) - (1 - GAMMA) / GAMMA * (bell(goal - X) - bell(goal - Y))


def actions(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and probabilities of x's actions: each touches what is wanted from below, at a goal of its own."""
    at, step = np.linspace(-0.5, 0.5, count), 1e-5
    slope = (np.log(wanted(at + step)) - np.log(wanted(at - step))) / (2 * step)
    place = at + slope
    return place, wanted(at) / bell(at - place)


def apart(count: int, goals: np.ndarray) -> float:
    """The greatest difference between M of x and of y under optimal policies, over goals."""
    place, chance = actions(count)
    assert (chance > 0).all() and (chance < 1).all()
    best = (chance * bell(goals[:, None] - place)).max(axis=1) / (1 - GAMMA)
    of_x, of_y = bell(goals - X) + GAMMA * best, bell(goals - Y) + GAMMA * 0.5 * bell(goals - C) / (1 - GAMMA)
    return float(np.abs(of_x - of_y).max())


def test_with_a_continuum_of_actions_optimal_policies_hide_two_states_from_gaussian_goals():
    goals = np.linspace(-0.5, 0.5, 1001)
    gaps = [apart(count, goals) for count in (5, 10, 20, 40)]
    assert gaps[0] < 0.05 and gaps[-1] < 1e-3
    rates = np.log2(np.array(gaps[:-1]) / gaps[1:])
    np.testing.assert_allclose(rates, 2.0, atol=0.35)  # with the square of the actions: to nothing
    assert np.abs(bell(goals - X) - bell(goals - Y)).min() > 0.25  # and yet they pay differently for every goal
