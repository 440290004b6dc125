"""Exact values in small models, as linear systems, many rows at once, in NumPy.

A program of JAX would take a second to compile for each number of states, and a millisecond to run.

Shapes: R rows, S states, A actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wmlab.planning.finite.bellman import PATIENCE, RESIDUAL, TIES

STATES = 256  # up to here a linear solve is quicker than iterating on lists of successors
TABLE_ENTRIES = 32_000_000  # of linear systems that are held at once: 256 MB


@dataclass(frozen=True, eq=False)
class Rows:
    """A model, and what is asked of it: rewards with their continue flags and discounts."""

    probabilities: np.ndarray  # [S, A, S]
    reward: np.ndarray  # [R, S]  r(s')
    ahead: np.ndarray  # [R, S]  gamma D(s')

    @property
    def batches(self) -> Iterator[slice]:
        """Rows whose linear systems fit into memory together."""
        count, states = self.reward.shape
        size = max(1, TABLE_ENTRIES // states**2)
        return (slice(first, first + size) for first in range(0, count, size))

    def expect(self, values: np.ndarray) -> np.ndarray:
        """The mean of values [R, S] after each state and action: [R, S, A]."""
        states, actions, _ = self.probabilities.shape
        return (values @ self.probabilities.reshape(-1, states).T).reshape(-1, states, actions)

    def q(self, value: np.ndarray) -> np.ndarray:
        """Q [R, S, A] of values [R, S]: P (r + gamma D V)."""
        return self.expect(self.reward + self.ahead * value)

    def solve(self, policy: np.ndarray, bonus: np.ndarray | float = 0.0) -> np.ndarray:
        """V [R, S] of policies [R, S, A] that also earn a bonus, [R, S] or none, for being in a state."""
        value, extra = np.empty(self.reward.shape), np.broadcast_to(bonus, self.reward.shape)
        for some in self.batches:
            step = np.einsum("rxa,xay->rxy", policy[some], self.probabilities, optimize=True)
            system = np.eye(step.shape[-1]) - step * self.ahead[some, None, :]
            wanted = (step @ self.reward[some, :, None])[..., 0] + extra[some]
            found = _solved(system, wanted)
            value[some] = found + _solved(system, wanted - (system @ found[..., None])[..., 0])  # one refinement
        return value


def _solved(systems: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(systems, wanted[..., None])[..., 0]
    except np.linalg.LinAlgError:  # the caller finds that these are no values
        return np.full(wanted.shape, np.nan)


def evaluate(rows: Rows, policy: np.ndarray) -> np.ndarray:
    """Q of a policy, [R, S, A]."""
    return rows.q(rows.solve(policy))


def optimise(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The best policy and its Q, both [R, S, A]: value iteration to come near, policy iteration to arrive."""
    value = np.zeros(rows.reward.shape)
    for _ in range(int(4 * np.sqrt(rows.reward.shape[1])) + 10):  # enough for news to cross a map of so many cells
        value = rows.q(value).max(axis=-1)
    q = rows.q(value)
    policy = np.zeros(q.shape)
    for count in range(500):
        better = greedy(q)
        value = rows.solve(better)
        q = rows.q(value)
        gain = (q.max(axis=-1) - value).max(initial=0.0)
        idle = count >= PATIENCE and gain <= 10 * RESIDUAL * np.abs(q).max(initial=0.0)
        settled, policy = (better == policy).all() or idle, better
        if settled:
            break
    return policy, q


def greedy(q: np.ndarray) -> np.ndarray:
    """The best action as one-hot [R, S, A]; of equally good ones the first, by the rule of `bellman.greedy`."""
    best = q.max(axis=-1, keepdims=True)
    scale = np.abs(q).max(axis=(1, 2), keepdims=True)
    good = q >= best - TIES * np.maximum(np.abs(best), 1e-3 * scale)
    return (np.arange(q.shape[-1]) == good.argmax(axis=-1)[..., None]).astype(float)


def soften(rows: Rows, temperature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entropy-regularised optimum at temperatures [R], and the plain Q of it (not the soft one), both [R, S, A]."""
    q = rows.expect(rows.reward)
    for _ in range(200):
        policy = _soft_policy(q, temperature)
        entropy = -(policy * np.log(np.maximum(policy, 1e-300))).sum(axis=-1)
        better = rows.q(rows.solve(policy, temperature[:, None] * entropy))
        change = np.abs(better - q).max(initial=0.0) / max(np.abs(better).max(initial=0.0), 1e-300)
        q = better
        if not change > 1e-13:
            break
    policy = _soft_policy(q, temperature)
    return policy, evaluate(rows, policy)


def _soft_policy(q: np.ndarray, temperature: np.ndarray) -> np.ndarray:
    weights = np.exp((q - q.max(axis=-1, keepdims=True)) / temperature[:, None, None])
    return weights / weights.sum(axis=-1, keepdims=True)
