"""All that a planner needs of a model and a task, worked out once for every grid point and action.

Shapes: A actions, N grid points, K outcomes of chance, d axes.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.dynamics import Dynamics, every_outcome, quadrature
from wmlab.goals.regions import Task
from wmlab.planning.grid import Grid, locate, pad, points, read

CHUNK = 1 << 16  # states whose successors are worked out at a time: bounds the memory of a large model


class Table(NamedTuple):
    """Where each action leads from each grid point, and what it pays: compact enough for millions of points."""

    first: Array  # int32 [A, K, N] the first corner around the successor
    fractions: Array  # float32 [A, K, d, N] how far beyond that corner
    keep: Array  # float32 [A, K, N] chance x discount x continue flag
    reward: Array  # float32 [A, N] expected


@partial(jax.jit, static_argnames=("grid", "actions", "points_per_noise"))
def tabulate(
    grid: Grid, dynamics: Dynamics, task: Task, discount: Array, actions: int, points_per_noise: int = 5
) -> Table:
    """The table of a model, for one task. Chance is replaced by Gauss–Hermite nodes."""
    nodes, weights = quadrature(dynamics.noise, points_per_noise)
    nodes, chances = jnp.asarray(nodes), jnp.asarray(weights)
    chunk = min(CHUNK, grid.count)
    starts = jnp.minimum(jnp.arange(0, grid.count, chunk), grid.count - chunk)  # the last chunk overlaps

    def of_chunk(table: Table, pair: tuple[Array, Array]) -> tuple[Table, None]:
        action, start = pair
        states = points(grid, start + jnp.arange(chunk))
        after = every_outcome(dynamics, states, jnp.full(chunk, action), nodes)  # [K, chunk, d]
        first, fractions = jax.vmap(partial(locate, grid))(after)
        reward, continues = jax.vmap(task.arrive)(after)  # [K, chunk]
        keep = discount * chances[:, None] * continues
        part = Table(first[None], fractions[None], keep[None], (chances @ reward)[None])
        at = ((action, 0, start), (action, 0, 0, start), (action, 0, start), (action, start))
        written = (jax.lax.dynamic_update_slice(*each) for each in zip(table, part, at, strict=True))
        return Table(*written), None

    outcomes, axes = nodes.shape[0], len(grid.shape)
    empty = Table(
        jnp.zeros((actions, outcomes, grid.count), jnp.int32),
        jnp.zeros((actions, outcomes, axes, grid.count), jnp.float32),
        jnp.zeros((actions, outcomes, grid.count), jnp.float32),
        jnp.zeros((actions, grid.count), jnp.float32),
    )
    pairs = jnp.meshgrid(jnp.arange(actions), starts, indexing="ij")
    return jax.lax.scan(of_chunk, empty, (pairs[0].ravel(), pairs[1].ravel()))[0]


def backup(grid: Grid, padded: Array, first: Array, fractions: Array, keep: Array, reward: Array) -> Array:
    """r + γ D V(s') of one action everywhere: [N] of rows [K, N], [K, d, N], [K, N] and [N]."""
    total = reward
    for outcome in range(first.shape[0]):
        total = total + keep[outcome] * read(grid, padded, first[outcome], fractions[outcome])
    return total


def action_values(grid: Grid, table: Table, values: Array) -> Array:
    """Q [A, N] from values [N], written out: what follows reads them more than once."""
    padded = pad(grid, values)
    return jax.lax.optimization_barrier(jax.vmap(lambda row: backup(grid, padded, *row))(table))
