"""Plans in a finite model: reach some states, keep out of others.

Arriving in a state to reach pays 1 and ends the episode; entering one to avoid ends it and pays nothing.
The model may be an extracted pseudo-world: planning is done in its clipped kernel (negative probabilities become 0,
rows are divided by their sums), which leaves a true kernel as it is.

Shapes: T tasks, S states, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.planning.finite.values import optimal_values, policy_values


@dataclass(frozen=True, eq=False)
class Tasks:
    """What to reach and what to avoid, for several goals at once."""

    reach: np.ndarray  # bool [T, S]
    avoid: np.ndarray  # bool [T, S]
    discount: float

    @classmethod
    def of(cls, size: int, reach: Sequence[Sequence[int]], avoid: Sequence[Sequence[int]], discount: float) -> Tasks:
        """Tasks from lists of states, one list per task."""
        if any(set(targets) & set(unsafe) for targets, unsafe in zip(reach, avoid, strict=True)):
            raise ValueError("a state cannot be both reached and avoided")
        return cls(_marks(size, reach), _marks(size, avoid), discount)

    @property
    def starts(self) -> np.ndarray:
        """Uniform over the states that are neither target nor unsafe, [T, S]; 0 everywhere if there are none."""
        free = ~(self.reach | self.avoid)
        return free / np.maximum(free.sum(axis=-1, keepdims=True), 1)

    @property
    def reward(self) -> np.ndarray:
        return self.reach.astype(float)

    @property
    def continues(self) -> np.ndarray:
        return 1.0 - (self.reach | self.avoid)

    @property
    def discounts(self) -> np.ndarray:
        return np.full(len(self.reach), self.discount)


@dataclass(frozen=True, eq=False)
class FinitePlan:
    """A policy, and what its model makes of it."""

    policy: np.ndarray  # [T, S, A] one-hot; of equally good actions the first
    q: np.ndarray  # [T, S, A] in the model that was planned in

    @property
    def value(self) -> np.ndarray:
        """[T, S]"""
        return (self.policy * self.q).sum(axis=-1)


def plan(model: Kernel, tasks: Tasks) -> FinitePlan:
    """The best policy in a model, and the values that the model promises."""
    return FinitePlan(*optimal_values(model.clipped(), tasks.reward, tasks.continues, tasks.discounts))


def evaluate_plan(world: Kernel, policy: np.ndarray, tasks: Tasks) -> np.ndarray:
    """V [T, S] of a policy [T, S, A] in another kernel."""
    q = policy_values(world.clipped(), policy, tasks.reward, tasks.continues, tasks.discounts)
    return (policy * q).sum(axis=-1)


def returns(value: np.ndarray, tasks: Tasks, starts: np.ndarray | None = None) -> np.ndarray:
    """The exact mean return [T] of values [T, S].

    Starts are `tasks.starts`, or a distribution [S] of one's own, taken over the states that are no target and not
    unsafe. A task without a single start is NaN.
    """
    weights = tasks.starts if starts is None else starts * tasks.continues
    total = weights.sum(axis=-1)
    return np.where(total > 0, (weights * value).sum(axis=-1) / np.where(total > 0, total, 1.0), np.nan)


def trajectory(world: Kernel, policy: np.ndarray, tasks: Tasks, task: int, start: int) -> list[int]:
    """The way from a start that the likeliest successors draw, until the episode ends or a state comes again.

    A step that may stay in place is drawn as one that does not; of equally likely successors the first is taken.
    `policy` is [T, S, A].
    """
    kernel = world.clipped()
    states = np.arange(kernel.size)
    action = policy[task].argmax(axis=-1)
    stays = kernel.successors[states, action] == states[:, None]
    likeliest = np.where(stays, 0.0, kernel.probabilities[states, action]).argmax(axis=-1)
    onward = kernel.successors[states, action, likeliest]
    path, seen = [start], {start}
    while tasks.continues[task, path[-1]] or len(path) == 1:
        following = int(onward[path[-1]])
        path.append(following)
        if following in seen:
            break
        seen.add(following)
    return path


def _marks(size: int, lists: Sequence[Sequence[int]]) -> np.ndarray:
    marks = np.zeros((len(lists), size), bool)
    for row, states in zip(marks, lists, strict=True):
        row[list(states)] = True
    return marks
