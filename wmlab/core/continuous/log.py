"""Logged transitions of a continuous world, and an agent that is looked at where they were.

Shapes: M transitions, d variables, K variables of a goal, U units (episodes, or transitions), N states.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import jax
import numpy as np
from jax import Array

from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import pytree
from wmlab.core.randomness import generator


@dataclass(frozen=True, eq=False)
class Log:
    """Transitions as somebody wrote them down, and which of them are held out."""

    state: np.ndarray  # float32 [M, d]
    action: np.ndarray  # int32 [M]
    after: np.ndarray  # float32 [M, d]
    held_out: np.ndarray  # bool [M]
    goal: np.ndarray | None = None  # float32 [M, K], the goals' variables by column
    reward: np.ndarray | None = None  # float64 [M]

    def part(self, held_out: bool) -> Log:
        """The transitions that are held out, or the others."""
        kept = self.held_out == held_out
        goal = None if self.goal is None else self.goal[kept]
        reward = None if self.reward is None else self.reward[kept]
        return Log(self.state[kept], self.action[kept], self.after[kept], self.held_out[kept], goal, reward)


def held_out_rows(unit: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Which transitions are held out, bool [M]: those of a share of the units int [M], drawn by a seed.

    One unit at least is held out and one is not, where there are two.
    """
    names, place = np.unique(unit, return_inverse=True)
    count = min(max(1, round(share * len(names))), len(names) - 1)
    chosen = np.zeros(len(names), bool)
    chosen[generator(seed, "held-out transitions").permutation(len(names))[:count]] = True
    return chosen[place]


@pytree
class LoggedView(ContinuousView):
    """The same agent, looked at in logged states."""

    plain: ContinuousView
    seen: Array  # [M, d]: states to extract at
    kept: Array  # [M, d]: states that no update sees

    @property
    def reads_goal(self) -> bool:
        return self.plain.reads_goal

    def values(self, state: Array) -> Array:
        return self.plain.values(state)

    def values_at(self, state: Array, goal: Array) -> Array:
        return self.plain.values_at(state, goal)

    def known_worth(self, state: Array) -> Array | None:
        return self.plain.known_worth(state)

    def arrive(self, state: Array) -> tuple[Array, Array]:
        return self.plain.arrive(state)

    def sample(self, key: Array, count: int) -> Array:
        return self.seen[jax.random.randint(key, (count,), 0, self.seen.shape[0])]

    def unseen(self, key: Array, count: int) -> Array:
        return self.kept[jax.random.randint(key, (count,), 0, self.kept.shape[0])]


def in_logged_states(view: ContinuousView, log: Log) -> LoggedView:
    """A view of the same agent whose states are those of a log."""
    common = {field.name: getattr(view, field.name) for field in dataclasses.fields(ContinuousView)}
    seen, kept = (jax.numpy.asarray(log.part(held_out).state) for held_out in (False, True))
    return LoggedView(**common, plain=view, seen=seen, kept=kept)
