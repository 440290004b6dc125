"""Unseen goals of a continuous world: points to reach, how near, and a region to keep out of.

Arriving near a point pays 1 and ends the episode; entering the region ends it and pays nothing, even where both hold.

Shapes: N states, d state variables, G points, K named variables.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.conditions import inside
from wmlab.core.continuous.nearness import gaps, is_near
from wmlab.core.continuous.points import per_variable, points_of
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.simulator import GoalSet


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Task:
    """What arriving in states pays, and whether the episode goes on."""

    params: Any
    arrive_fn: Callable[[Any, Array], tuple[Array, Array]] = dataclasses.field(metadata={"static": True})

    def arrive(self, states: Array) -> tuple[Array, Array]:
        """Rewards [N] and continue flags [N] of states [N, d]."""
        return self.arrive_fn(self.params, states)


@dataclass(frozen=True)
class ReachAvoid:
    """Reach a point, keep out of a region (an expression, or None)."""

    space: ContinuousSpace
    columns: tuple[int, ...]
    avoid: str | None

    def __call__(self, params: Any, states: Array) -> tuple[Array, Array]:
        near = is_near(gaps(self.space, self.columns, states, params["values"]), params["asked"], params["within"])
        reached = near.any(axis=-1)
        if self.avoid is None:
            return reached.astype(jnp.float32), 1.0 - reached
        unsafe = jnp.broadcast_to(inside(self.avoid, self.space, states, jnp), reached.shape)
        return (reached & ~unsafe).astype(jnp.float32), 1.0 - (reached | unsafe)


@dataclass(frozen=True)
class OneOf:
    """One goal of a set that an agent was trained on."""

    arrive_fn: Callable[[Any, Array], tuple[Array, Array]]

    def __call__(self, params: Any, states: Array) -> tuple[Array, Array]:
        reward, continues = jax.vmap(self.arrive_fn, (None, 0))(params["goals"], states)  # [N, G]
        return reward[:, params["index"]], continues[:, params["index"]]


def unseen_task(goal: Mapping[str, Any], space: ContinuousSpace) -> Task:
    """The task of one unseen goal, from what a spec says of it."""
    said = [goal["reach"]] if goal.get("reach") is not None else goal["reach_any"]
    points = points_of(said, space, ("reach",))
    params = {
        "values": jnp.asarray(points.values, jnp.float32),
        "asked": jnp.asarray(points.asked),
        "within": jnp.asarray(per_variable(goal["within"], points, space), jnp.float32),
    }
    return Task(params, ReachAvoid(space, points.columns, goal.get("avoid")))


def trained_task(goals: GoalSet, index: int) -> Task:
    """One goal of a trained agent, as a task to plan for."""
    return Task({"goals": goals.params, "index": jnp.asarray(index)}, OneOf(goals.arrive_fn))
