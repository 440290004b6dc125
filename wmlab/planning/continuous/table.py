"""All that a planner needs of a model and a task, worked out once for every grid point and action.

Shapes: A actions, N grid points, K outcomes of chance, d axes.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics, every_outcome
from wmlab.core.continuous.grid import Grid, locate, own_weight, pad, points, read
from wmlab.core.continuous.tasks import Task

CHUNK = 1 << 16  # states whose successors are worked out at a time: bounds the memory of a large model


class SuccessorTable(NamedTuple):
    """Where each action leads from each grid point, and what it pays: compact enough for millions of points.

    The part of one action, or of a policy that takes one action at each point, is a table without its first axis.
    """

    first: Array  # int32 [A, K, N] the first corner around the successor
    fractions: Array  # float32 [A, K, d, N] how far beyond that corner
    keep: Array  # float32 [A, K, N] chance x discount x continue flag
    reward: Array  # float32 [A, N] expected
    own: Array  # float32 [A, N] discounted weight of a point in its own successor's value


@partial(jax.jit, static_argnames=("grid", "actions", "points_per_noise"))
def tabulate(
    grid: Grid, dynamics: Dynamics, task: Task, discount: Array, actions: int, points_per_noise: int = 5
) -> SuccessorTable:
    """The table of a model for one task and a discount [], on the N points of a grid.

    Chance is replaced by Gaussian quadrature with so many points for each random number, K outcomes in all.
    """
    nodes, chances = (jnp.asarray(part) for part in dynamics.quadrature(points_per_noise))
    chunk = min(CHUNK, grid.count)
    starts = jnp.minimum(jnp.arange(0, grid.count, chunk), grid.count - chunk)  # the last chunk overlaps

    def of_chunk(table: SuccessorTable, pair: tuple[Array, Array]) -> tuple[SuccessorTable, None]:
        action, start = pair
        here = start + jnp.arange(chunk)
        states = points(grid, here)
        after = every_outcome(dynamics, states, jnp.full(chunk, action), nodes)  # [K, chunk, d]
        first, fractions = jax.vmap(partial(locate, grid))(after)
        reward, continues = jax.vmap(task.arrive)(after)  # [K, chunk]
        keep = discount * chances[:, None] * continues
        own = (keep * jax.vmap(partial(own_weight, grid, here))(first, fractions)).sum(axis=0)
        part = SuccessorTable(first[None], fractions[None], keep[None], (chances @ reward)[None], own[None])
        at = ((action, 0, start), (action, 0, 0, start), (action, 0, start), (action, start), (action, start))
        written = (jax.lax.dynamic_update_slice(*each) for each in zip(table, part, at, strict=True))
        return SuccessorTable(*written), None

    outcomes, axes = nodes.shape[0], len(grid.shape)
    empty = SuccessorTable(
        jnp.zeros((actions, outcomes, grid.count), jnp.int32),
        jnp.zeros((actions, outcomes, axes, grid.count), jnp.float32),
        jnp.zeros((actions, outcomes, grid.count), jnp.float32),
        jnp.zeros((actions, grid.count), jnp.float32),
        jnp.zeros((actions, grid.count), jnp.float32),
    )
    pairs = jnp.meshgrid(jnp.arange(actions), starts, indexing="ij")
    return jax.lax.scan(of_chunk, empty, (pairs[0].ravel(), pairs[1].ravel()))[0]


def backup(grid: Grid, padded: Array, part: SuccessorTable) -> Array:
    """r + γ D V(s') [N] of one action, or of one policy, everywhere."""
    total = part.reward
    for outcome in range(part.first.shape[0]):
        total = total + part.keep[outcome] * read(grid, padded, part.first[outcome], part.fractions[outcome])
    return total


def action_values(grid: Grid, table: SuccessorTable, values: Array) -> Array:
    """Q [A, N] from values [N], written out: what follows reads them more than once."""
    padded = pad(grid, values)
    return jax.lax.optimization_barrier(jax.vmap(lambda part: backup(grid, padded, part))(table))


def policy_part(table: SuccessorTable, action: Array) -> SuccessorTable:
    """The part of a table that a policy int32 [N] uses."""

    def chosen(rows: Array) -> Array:
        return jnp.take_along_axis(rows, action.reshape(1, *[1] * (rows.ndim - 2), -1), axis=0)[0]

    return SuccessorTable(*(chosen(rows) for rows in table))
