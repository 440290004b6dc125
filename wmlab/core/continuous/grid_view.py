"""Values on a grid of states, as an extraction may see them: read anywhere by multilinear interpolation.

Shapes: N grid points, P of them when padded, M states, d variables, G goals, A actions.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.grid import Grid, locate, pad
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import AgentView, Policy, States, chosen
from wmlab.core.goals import GoalSet
from wmlab.core.pytree import pytree, static


@pytree
class GridView(AgentView):
    """The view of an agent whose values are a table. Its V is interpolated on its own: at every point of the grid it
    is exactly what the policy makes of Q there, and it is a table of a third the size or less."""

    q: Array  # [P, G, A]
    value: Array  # [P, G]
    grid: Grid = static()

    @property
    def reads_goal(self) -> bool:
        return False

    def values(self, state: Array) -> Array:
        return read_rows(self.grid, self.q, state)

    def values_at(self, state: Array, goal: Array) -> Array:
        return chosen(self.values(state), goal)

    def known_worth(self, state: Array) -> Array:
        return read_rows(self.grid, self.value, state)


def grid_view(
    q: np.ndarray,
    grid: Grid,
    space: ContinuousSpace,
    goals: GoalSet,
    discount: float,
    policy: Policy,
    states: States = "uniform",
) -> GridView:
    """The view of values q [G, A, N] on a grid of states."""
    worth = q.max(axis=1) if policy == "greedy" else q.mean(axis=1)  # [G, N]
    return GridView.of(
        space,
        goals,
        discount,
        policy,
        states,
        q=_rows(grid, q.reshape(-1, grid.count)).reshape(-1, *q.shape[:2]),
        value=_rows(grid, worth),
        grid=grid,
    )


def _rows(grid: Grid, tables: np.ndarray) -> Array:
    """Tables [T, N], padded, with the values of one point side by side: [P, T]."""
    return jnp.stack([pad(grid, jnp.asarray(table, jnp.float32)) for table in tables], axis=-1)


def read_rows(grid: Grid, rows: Array, states: Array) -> Array:
    """Rows [P, ...] of a padded table, interpolated at states [M, d]: [M, ...]."""
    first, fractions = locate(grid, states)

    def blend(axis: int, offset: int) -> Array:
        if axis == len(grid.shape):
            return rows.at[first + offset].get(mode="promise_in_bounds")
        near, far = blend(axis + 1, offset), blend(axis + 1, offset + grid.strides[axis])
        return near + fractions[axis].reshape(-1, *[1] * (rows.ndim - 1)) * (far - near)

    return blend(0, 0)
