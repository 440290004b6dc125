"""Unseen goals of a continuous world: points to reach, how near, and a region to keep out of.

Arriving near a point pays 1 and ends the episode; entering the region ends it and pays nothing, even where both hold.

Shapes: N states, d state variables, G points, K named variables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.conditions import inside
from wmlab.core.continuous.goals import gaps, is_near
from wmlab.core.continuous.points import per_variable, points_of
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.goals import GoalSet
from wmlab.core.pytree import pytree, static
from wmlab.sections.experiment import UnseenGoal


@pytree
class Task(ABC):
    """What arriving in states pays, and whether the episode goes on."""

    @abstractmethod
    def arrive(self, states: Array) -> tuple[Array, Array]:
        """Rewards [N] and continue flags [N] of states [N, d]."""


@pytree
class ReachAvoid(Task):
    """Reach a point, keep out of a region (an expression, or None)."""

    values: Array  # [G, K]
    asked: Array  # bool [G, K]
    within: Array  # [] or [K]
    space: ContinuousSpace = static()
    columns: tuple[int, ...] = static()  # [K]
    avoid: str | None = static()

    def arrive(self, states: Array) -> tuple[Array, Array]:
        near = is_near(gaps(self.space, self.columns, states, self.values), self.asked, self.within)
        reached = near.any(axis=-1)
        if self.avoid is None:
            return reached.astype(jnp.float32), 1.0 - reached
        unsafe = jnp.broadcast_to(inside(self.avoid, self.space, states, jnp), reached.shape)
        return (reached & ~unsafe).astype(jnp.float32), 1.0 - (reached | unsafe)


@pytree
class TrainedGoal(Task):
    """One goal of a set that an agent was trained on."""

    goals: GoalSet
    index: Array  # int []

    def arrive(self, states: Array) -> tuple[Array, Array]:
        reward, continues = jax.vmap(self.goals.arrive)(states)  # [N, G]
        return reward[:, self.index], continues[:, self.index]


def unseen_task(goal: UnseenGoal, space: ContinuousSpace) -> ReachAvoid:
    """The task of one unseen goal, from what a spec says of it."""
    points = points_of(goal.targets, space, ("reach",))
    return ReachAvoid(
        values=jnp.asarray(points.values, jnp.float32),
        asked=jnp.asarray(points.asked),
        within=jnp.asarray(per_variable(goal.within, points, space), jnp.float32),
        space=space,
        columns=points.columns,
        avoid=goal.avoid,
    )


def trained_task(goals: GoalSet, index: int) -> TrainedGoal:
    """One goal of a trained agent, as a task to plan for."""
    return TrainedGoal(goals, jnp.asarray(index))
