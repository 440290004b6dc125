"""Values on a grid: optimal ones by modified policy iteration, from coarse grids to fine ones.

Each round improves the policy by one full sweep, then evaluates it by a few sweeps over that policy's own successors
alone, which cost a fraction of a full sweep. In those, a point's own share in its successor's value is solved for
instead of iterated: where a step is short against the spacing of the grid, that saves most sweeps.
A solution is to tolerance when a full sweep changes no value by more than that.

Shapes: A actions, N grid points, K outcomes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.grid import Grid, pad
from wmlab.planning.continuous.table import SuccessorTable, action_values, backup, policy_part

NEAR = 10  # tolerances: where a round that does not lower the residual is taken to be stopped by rounding
ROUNDS = 3  # sweeps of evaluation after each improvement, for each action: both cost about the same time


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
    rounds = ROUNDS * table.reward.shape[0]

    def going(carry: tuple[GridValues, Array]) -> Array:
        return (carry[0].residual > tolerance) & (carry[0].sweeps < max_sweeps)

    def step(carry: tuple[GridValues, Array]) -> tuple[GridValues, Array]:
        now, plain = carry
        best, action = improve(grid, table, now.value)
        residual = jnp.abs(best - now.value).max()

        def onward() -> Array:
            return evaluate(grid, policy_part(table, action), best, rounds)

        plain |= stalled(residual, now.residual, tolerance)
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
