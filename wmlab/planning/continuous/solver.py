"""Values on a grid: optimal ones by modified policy iteration, from coarse grids to fine ones.

All that is needed of a model and a task is worked out once for every grid point and action.
Each round improves the policy by one full sweep, then evaluates it by a few sweeps over that policy's own successors
alone, which cost a fraction of a full sweep. In those, a point's own share in its successor's value is solved for
instead of iterated: where a step is short against the spacing of the grid, that saves most sweeps.
A solution is to tolerance when a full sweep changes no value by more than that.

Shapes: A actions, N grid points, K outcomes of chance, d axes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics, every_outcome
from wmlab.core.continuous.goals import Task
from wmlab.core.continuous.grid import Grid, locate, own_weight, pad, points, read

NODES = 5  # for each random number, where nobody says how many
CHUNK = 1 << 16  # states whose successors are worked out at a time: bounds the memory of a large model
UNROLLED = 128  # reads of values that are written out one by one: many more take minutes to compile
NEAR = 10  # tolerances: where a round that does not lower the residual is taken to be stopped by rounding
ROUNDS = 3  # sweeps of evaluation after each improvement, for each action: both cost about the same time


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
    grid: Grid, dynamics: Dynamics, task: Task, discount: Array, actions: int, points_per_noise: int = NODES
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

    def add(outcome: int, total: Array) -> Array:
        return total + part.keep[outcome] * read(grid, padded, part.first[outcome], part.fractions[outcome])

    outcomes, corners = part.first.shape[0], 2 ** len(grid.shape)
    if outcomes * corners > UNROLLED:
        return jax.lax.fori_loop(0, outcomes, add, part.reward)
    return reduce(lambda total, outcome: add(outcome, total), range(outcomes), part.reward)


def action_values(grid: Grid, table: SuccessorTable, values: Array) -> Array:
    """Q [A, N] from values [N], written out: what follows reads them more than once."""
    padded = pad(grid, values)
    return jax.lax.optimization_barrier(jax.vmap(lambda part: backup(grid, padded, part))(table))


def policy_part(table: SuccessorTable, action: Array) -> SuccessorTable:
    """The part of a table that a policy int32 [N] uses."""

    def chosen(rows: Array) -> Array:
        return jnp.take_along_axis(rows, action.reshape(1, *[1] * (rows.ndim - 2), -1), axis=0)[0]

    return SuccessorTable(*(chosen(rows) for rows in table))


# --- values ----------------------------------------------------------------------------------------------------------


class GridValues(NamedTuple):
    """Values and how they were reached."""

    value: Array  # [N]
    residual: Array  # [] greatest change in the last full sweep
    sweeps: Array  # int [] full sweeps
    evaluations: Array  # int [] sweeps over one policy


def improve(grid: Grid, table: SuccessorTable, value: Array) -> tuple[Array, Array]:
    """The best value [N] that one step can give, and its action int32 [N]; of equally good ones the first."""
    q = action_values(grid, table, value)
    return q.max(axis=0), q.argmax(axis=0).astype(jnp.int32)


def stalled(residual: Array, before: Array, tolerance: Array) -> Array:
    """Whether rounding stops the descent of a residual [], bool [].

    Solving for a point's own share makes much of rounding, plain sweeps do not.
    """
    return (residual <= NEAR * tolerance) & (residual >= before)


def evaluate(grid: Grid, part: SuccessorTable, value: Array, sweeps: int | Array) -> Array:
    """Values [N] after some sweeps over one policy's successors, from values [N]."""
    scale = 1.0 / (1.0 - part.own)

    def sweep(_: int, value: Array) -> Array:
        q = backup(grid, pad(grid, value), part)
        return value + (q - value) * scale  # the same as (q - own·value) / (1 - own), and exact where q = value

    return jax.lax.fori_loop(0, sweeps, sweep, value)


@partial(jax.jit, static_argnames="grid")
def optimal_values(grid: Grid, table: SuccessorTable, value: Array, tolerance: Array, max_sweeps: Array) -> GridValues:
    """Optimal values from a first guess [N]."""

    def improved(value: Array) -> tuple[Array, Callable[[], SuccessorTable]]:
        best, action = improve(grid, table, value)
        return best, lambda: policy_part(table, action)

    return iterated(grid, improved, ROUNDS * table.reward.shape[0], value, tolerance, max_sweeps)


def iterated(
    grid: Grid,
    improved: Callable[[Array], tuple[Array, Callable[[], SuccessorTable]]],
    rounds: int,
    value: Array,
    tolerance: Array,
    max_sweeps: Array,
    patience: int | None = None,
) -> GridValues:
    """Modified policy iteration from a first guess [N].

    improved: from values [N] the best that one step can give [N], and how to get the part of the table that gives it
    rounds: sweeps of evaluation after each improvement
    patience: improvements after which full sweeps alone go on, which converge whatever happened before; None: never
    """

    def going(carry: tuple[GridValues, Array]) -> Array:
        return (carry[0].residual > tolerance) & (carry[0].sweeps < max_sweeps)

    def step(carry: tuple[GridValues, Array]) -> tuple[GridValues, Array]:
        now, plain = carry
        best, part = improved(now.value)
        residual = jnp.abs(best - now.value).max()

        def onward() -> Array:
            return evaluate(grid, part(), best, rounds)

        plain |= stalled(residual, now.residual, tolerance)
        if patience is not None:
            plain |= now.sweeps >= patience
        skip = plain | (residual <= tolerance)
        value = jax.lax.cond(skip, lambda: best, onward)
        return GridValues(value, residual, now.sweeps + 1, now.evaluations + jnp.where(skip, 0, rounds)), plain

    return jax.lax.while_loop(going, step, (first_guess(value), jnp.bool_(False)))[0]


@partial(jax.jit, static_argnames="grid")
def policy_values(grid: Grid, table: SuccessorTable, action: Array, tolerance: Array, max_sweeps: Array) -> GridValues:
    """Values of a policy int32 [N] that takes one action at each point."""
    rounds = ROUNDS * table.reward.shape[0]
    part = policy_part(table, action)

    def going(carry: tuple[GridValues, Array]) -> Array:
        return (carry[0].residual > tolerance) & (carry[0].evaluations < max_sweeps * rounds)

    def step(carry: tuple[GridValues, Array]) -> tuple[GridValues, Array]:
        now, plain = carry
        sweeps = jnp.where(plain, 0, rounds)
        value = evaluate(grid, part, now.value, sweeps)
        q = backup(grid, pad(grid, value), part)
        residual = jnp.abs(q - value).max()
        plain |= stalled(residual, now.residual, tolerance)
        return GridValues(q, residual, now.sweeps, now.evaluations + sweeps + 1), plain

    return jax.lax.while_loop(going, step, (first_guess(jnp.zeros(grid.count)), jnp.bool_(False)))[0]


@partial(jax.jit, static_argnames="grid")
def mixed_values(grid: Grid, table: SuccessorTable, policy: Array, tolerance: Array, max_sweeps: Array) -> GridValues:
    """Values of a policy [A, N] that draws its actions, by full sweeps."""
    return _swept(grid, table, lambda q: (policy * q).sum(axis=0), tolerance, max_sweeps)


@partial(jax.jit, static_argnames="grid")
def swept_values(grid: Grid, table: SuccessorTable, tolerance: Array, max_sweeps: Array) -> GridValues:
    """Optimal values [N] by full sweeps alone, from 0, until none changes by more than `tolerance` []."""
    return _swept(grid, table, lambda q: q.max(axis=0), tolerance, max_sweeps)


def _swept(
    grid: Grid, table: SuccessorTable, value_of: Callable[[Array], Array], tolerance: Array, max_sweeps: Array
) -> GridValues:
    """Values [N] after full sweeps from 0; `value_of` says what a point is worth whose actions are worth Q [A, N]."""

    def going(now: GridValues) -> Array:
        return (now.residual > tolerance) & (now.sweeps < max_sweeps)

    def step(now: GridValues) -> GridValues:
        value = value_of(action_values(grid, table, now.value))
        return GridValues(value, jnp.abs(value - now.value).max(), now.sweeps + 1, now.evaluations)

    return jax.lax.while_loop(going, step, first_guess(jnp.zeros(grid.count)))


def first_guess(value: Array) -> GridValues:
    """Values [N] before any sweep."""
    return GridValues(value, jnp.float32(jnp.inf), jnp.int32(0), jnp.int32(0))
