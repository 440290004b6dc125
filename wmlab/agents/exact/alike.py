"""Policies under which two states, or two sets of them, are worth the same: what values of such policies hide.

For each goal two policies are looked for, one under which arriving in the first state is worth more and one under which
it is worth less. Between them lies one under which it is worth as much. Of a set, each state is as likely.

Shapes: R rows (goal x discount x policy), S states, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.kernel import Kernel

ROUNDS = 200  # of improving a policy, at most
HALVINGS = 60  # of the stretch between two policies: to the last bit

Side = int | Sequence[int]  # a state, or several


@dataclass(frozen=True, eq=False)
class _Problem:
    world: np.ndarray  # [S, A, S]
    reward: np.ndarray  # [R, S]
    ahead: np.ndarray  # [R, S]  gamma D
    difference: np.ndarray  # [S]: 1 at the first state, -1 at the second, or these shared out over two sets

    def backup(self, policy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M [R, S] of policies [R, S, A], and I - gamma D P [R, S, S], of which it is the solution."""
        system = np.eye(len(self.world)) - self.ahead[..., None] * np.einsum("rsa,sat->rst", policy, self.world)
        return np.linalg.solve(system, self.reward[..., None])[..., 0], system

    def apart(self, policy: np.ndarray) -> np.ndarray:
        """M of the first state less that of the second, [R]."""
        return self.backup(policy)[0] @ self.difference

    def mixed(self, share: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """So much of one policy [R, S, A], and the rest of another; shares are [R]."""
        return share[:, None, None] * one + (1.0 - share)[:, None, None] * other


def alike(
    kernel: Kernel, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray, sides: tuple[Side, Side]
) -> np.ndarray:
    """Policies [R, S, A] under which M is the same on both sides, for rewards and continue flags [R, S].

    A row in which every policy that was found prefers the same state gets the one that prefers it least.
    """
    difference = np.zeros(kernel.size)
    for sign, side in zip((1.0, -1.0), map(np.atleast_1d, sides), strict=True):
        difference[side] += sign / len(side)
    problem = _Problem(kernel.to_dense(), reward, np.asarray(discount)[:, None] * continues, difference)
    more, less = _beyond(problem, 1.0), _beyond(problem, -1.0)
    low, high = np.zeros(len(reward)), np.ones(len(reward))  # the share of `more` at which it is no more, or is more
    for _ in range(HALVINGS):
        share = 0.5 * (low + high)
        below = problem.apart(problem.mixed(share, more, less)) < 0
        low, high = np.where(below, share, low), np.where(below, high, share)
    share = np.where(problem.apart(less) > 0, 0.0, np.where(problem.apart(more) < 0, 1.0, 0.5 * (low + high)))
    return problem.mixed(share, more, less)


def _beyond(problem: _Problem, sign: float) -> np.ndarray:
    """Policies [R, S, A] under which the one side is worth at least as much as the other, or as much as was found.

    Each round turns a part of the policy to acting well where more of the way from the one state leads, and badly where
    more of the way from the other does: the steepest ascent, in steps that shrink (Frank and Wolfe's).
    """
    rows, (states, actions) = len(problem.reward), problem.world.shape[:2]
    policy = np.full((rows, states, actions), 1.0 / actions)
    best, furthest = policy, np.full(rows, -np.inf)
    for step in range(ROUNDS):
        backup, system = problem.backup(policy)
        apart = sign * (backup @ problem.difference)
        better = apart > furthest
        best = np.where(better[:, None, None], policy, best)
        furthest = np.where(better, apart, furthest)
        if (furthest > 0).all():
            break
        occupied = np.linalg.solve(np.swapaxes(system, 1, 2), sign * problem.difference[:, None])[..., 0]  # [R, S]
        worth = np.einsum("sat,rt->rsa", problem.world, backup)
        steepest = np.eye(actions)[((occupied * problem.ahead)[..., None] * worth).argmax(axis=-1)]
        policy = policy + 2.0 / (step + 4.0) * (steepest - policy)
    return best
