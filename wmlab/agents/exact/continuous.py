"""The exact agent of a continuous world: values on a grid of states, to a tolerance.

Shapes: G goals, A actions, N grid points.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.exact.options import Options
from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.core.continuous.grid import Grid, grid_of
from wmlab.core.continuous.tasks import trained_task
from wmlab.core.goals import GoalSet
from wmlab.planning.continuous.plan import plan_on_grid
from wmlab.planning.continuous.solver import mixed_values
from wmlab.planning.continuous.table import action_values, tabulate

TOLERANCE = 1e-6  # no value changes by more in a last full sweep
SWEEPS = 10_000

_action_values = jax.jit(action_values, static_argnums=0)


def make_values(options: Options, world: ContinuousWorld, goals: GoalSet) -> tuple[Grid, np.ndarray]:
    """The grid, and Q [G, A, N] of the optimal or of the uniform policy on it."""
    assert options.grid is not None and options.discount is not None
    grid = grid_of(world.space, options.grid, options.bounds)
    tables = [_of_goal(options, world, grid, goals, goal) for goal in range(goals.count)]
    return grid, np.stack([np.asarray(q, np.float32) for q in tables])


def _of_goal(options: Options, world: ContinuousWorld, grid: Grid, goals: GoalSet, goal: int) -> Array:
    actions, discount = len(world.space.actions), jnp.float32(options.discount)
    task = trained_task(goals, goal)
    table = tabulate(grid, world.dynamics, task, discount, actions)
    if options.policy == "optimal":
        solved = partial(plan_on_grid, tolerance=TOLERANCE, max_sweeps=SWEEPS)
        value = solved(grid, world.dynamics, task, actions, discount).values
    else:
        alike = jnp.full((actions, grid.count), 1 / actions)
        value = mixed_values(grid, table, alike, TOLERANCE, SWEEPS).value
    return _action_values(grid, table, value)
