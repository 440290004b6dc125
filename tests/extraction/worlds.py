"""Small agents with known worlds, made by NumPy alone, for tests of extraction and identification."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.mdps.fourrooms import fourrooms
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView


def view_of(
    world: np.ndarray,
    policy: np.ndarray,
    reward: np.ndarray,
    discount: float | np.ndarray = 0.9,
    continues: np.ndarray | None = None,
    space: FiniteSpace | None = None,
) -> FiniteView:
    """The exact values of policies [R, S, A] in a world [S, A, S] with rewards [R, S]."""
    rows, states, actions = policy.shape
    continues = np.ones((rows, states)) if continues is None else continues
    discounts = np.broadcast_to(np.asarray(discount, float), (rows,)).copy()
    q = np.empty((rows, states, actions))
    for row in range(rows):
        moves = np.einsum("sa,sat->st", policy[row], world)
        ahead = discounts[row] * continues[row]
        value = np.linalg.solve(np.eye(states) - moves * ahead, moves @ reward[row])
        q[row] = world @ (reward[row] + ahead * value)
    space = space or FiniteSpace.named(states, actions)
    return FiniteView(q, policy, reward, continues, discounts, space)


def random_view(seed: int, states: int, actions: int, rows: int, sparse: bool = False) -> tuple[np.ndarray, FiniteView]:
    """A random world, and an agent with random policies and rewards in it."""
    rng = np.random.default_rng(seed)
    world = rng.dirichlet(np.ones(states), (states, actions))
    if sparse:
        world = np.where(rng.random(world.shape) < 0.5, 0.0, world) + 1e-300
        world /= world.sum(axis=-1, keepdims=True)
    policy = rng.dirichlet(np.ones(actions), (rows, states))
    return world, view_of(world, policy, rng.normal(size=(rows, states)))


def noisy(view: FiniteView, size: float, seed: int = 0) -> FiniteView:
    """The same agent with noise on its values."""
    return replace(view, q=view.q + size * np.random.default_rng(seed).normal(size=view.q.shape))


def rooms_view(variant: str, goals: int, local: bool = False) -> tuple[np.ndarray, FiniteView]:
    """FourRooms, and the optimal agent for the first so many cells of the fixed permutation."""
    made = fourrooms(variant)
    world, space = made.kernel.to_dense(), made.space
    states, actions = world.shape[:2]
    reward = np.eye(states)[np.random.RandomState(0).permutation(states)[:goals]]
    policy = np.zeros((goals, states), int)
    for row in range(goals):
        for _ in range(100):
            found = view_of(
                world, np.eye(actions)[policy[row : row + 1]], reward[row : row + 1], 0.99, 1 - reward[row:]
            )
            better = np.round(found.q[0], 12).argmax(axis=1)
            if (better == policy[row]).all():
                break
            policy[row] = better
    view = view_of(world, np.eye(actions)[policy], reward, 0.99, 1 - reward, space)
    return world, replace(view, support=space.neighbours(4, True)) if local else view


def tv(kernel: np.ndarray, world: np.ndarray) -> float:
    """Mean total variation over states and actions."""
    return float(0.5 * np.abs(kernel - world).sum(axis=-1).mean())
