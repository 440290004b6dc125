"""Values on a grid of states, as an extraction may see them: read anywhere by multilinear interpolation.

Shapes: N grid points, P of them when padded, M states, d variables, G goals, A actions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.grid import Grid, locate, pad
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ContinuousView, Frame, arrive_of_goals, sample_box
from wmlab.core.simulator import GoalSet


def grid_view(
    q: np.ndarray,  # [G, A, N]
    grid: Grid,
    space: ContinuousSpace,
    goals: GoalSet,
    discount: float,
    policy: Literal["greedy", "uniform"],
    states: Literal["uniform", "reset"] = "uniform",
) -> ContinuousView:
    """The view of an agent whose values are a table. Its V is interpolated on its own: at every point of the grid it
    is exactly what the policy makes of Q there, and it is a table of a third the size or less."""
    frame = Frame.of(space)
    worth = q.max(axis=1) if policy == "greedy" else q.mean(axis=1)  # [G, N]
    params = {
        "q": _rows(grid, q.reshape(-1, grid.count)).reshape(-1, *q.shape[:2]),  # [P, G, A]
        "value": _rows(grid, worth),  # [P, G]
        "goals": goals,
        "box": jnp.asarray(space.starts, jnp.float32) if states == "reset" else frame.ranges,
    }
    values, worth_of = _readers(grid)
    count = len(space.actions)
    return ContinuousView(
        params,
        jnp.float32(discount),
        frame,
        values,
        arrive_of_goals,
        sample_box,
        count,
        goals.count,
        policy,
        None,
        worth_of,
    )


def _rows(grid: Grid, tables: np.ndarray) -> Array:
    """Tables [T, N], padded, with the values of one point side by side: [P, T]."""
    return jnp.stack([pad(grid, jnp.asarray(table, jnp.float32)) for table in tables], axis=-1)


@functools.cache
def _readers(grid: Grid) -> tuple[Callable[..., Array], Callable[..., Array]]:
    """The same functions for every agent on the same grid, so that all share one program."""

    def values(params: Any, state: Array) -> Array:
        return read_rows(grid, params["q"], state)

    def worth(params: Any, state: Array) -> Array:
        return read_rows(grid, params["value"], state)

    return values, worth


def read_rows(grid: Grid, rows: Array, states: Array) -> Array:
    """Rows [P, ...] of a padded table, interpolated at states [M, d]: [M, ...]."""
    first, fractions = locate(grid, states)

    def blend(axis: int, offset: int) -> Array:
        if axis == len(grid.shape):
            return rows.at[first + offset].get(mode="promise_in_bounds")
        near, far = blend(axis + 1, offset), blend(axis + 1, offset + grid.strides[axis])
        return near + fractions[axis].reshape(-1, *[1] * (rows.ndim - 1)) * (far - near)

    return blend(0, 0)
