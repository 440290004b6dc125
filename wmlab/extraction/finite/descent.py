"""The steps of tabular P-learning in JAX, float64, until nothing moves.

Shapes: N pairs, R rows, K candidates.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from wmlab.core.programs import exact

BLOCK = 100  # steps between two looks at whether anything still moves


@exact()
def descend(
    columns: np.ndarray,
    valid: np.ndarray,
    targets: np.ndarray,
    guess: np.ndarray,
    rate: float,
    tolerance: float,
    steps: int,
    project: bool,
) -> tuple[np.ndarray, int, float]:
    """The last P [N, K] from a first guess [N, K], the steps taken, and the last move.

    Columns [N, R, K] are each pair's own, or [R, K] the same for all; `valid` [N, K], `targets` [N, R].
    """
    table, taken, moved = _run(columns, valid, targets, guess, rate, tolerance, steps, project)
    return np.array(table), int(taken), float(moved)


@functools.partial(jax.jit, static_argnames="project")
def _run(
    columns: jax.Array,
    valid: jax.Array,
    targets: jax.Array,
    guess: jax.Array,
    rate: float,
    tolerance: float,
    steps: int,
    project: bool,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    def gradient(table: jax.Array) -> jax.Array:
        if columns.ndim == 2:
            return (table @ columns.T - targets) @ columns
        error = jnp.einsum("nrk,nk->nr", columns, table) - targets
        return jnp.einsum("nrk,nr->nk", columns, error)

    return _until_still(gradient, valid, guess, rate, tolerance, steps, project)


def _until_still(
    gradient: Callable[[jax.Array], jax.Array],
    valid: jax.Array,
    guess: jax.Array,
    rate: float,
    tolerance: float,
    steps: int,
    project: bool,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Blocks of steps, each a scan, until a step moves nothing or the budget is spent."""

    def step(table: jax.Array, allowed: jax.Array) -> tuple[jax.Array, jax.Array]:
        new = jnp.where(valid, table - rate * gradient(table), 0.0)
        new = project_on_simplex(new, valid) if project else new
        new = jnp.where(allowed, new, table)
        return new, jnp.where(allowed, jnp.abs(new - table).max(), jnp.nan)

    def block(state: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        table, taken, _ = state
        allowed = taken + jnp.arange(BLOCK) < steps
        table, moves = jax.lax.scan(step, table, allowed)
        count = allowed.sum()
        return table, taken + count, moves[count - 1]

    def unfinished(state: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        _, taken, moved = state
        return (taken < steps) & ((moved > tolerance) | (tolerance == 0))

    start = (guess, jnp.zeros((), jnp.int64), jnp.asarray(jnp.inf))
    return jax.lax.while_loop(unfinished, block, start)


@exact()
def nearest_in_simplex(points: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex for each of points [N, K], once."""
    return np.array(_project(points, valid))


def project_on_simplex(points: jax.Array, valid: jax.Array) -> jax.Array:
    """The nearest point of the simplex, in the Euclidean distance, for each of points [N, K]; 0 where not valid."""
    falling = -jnp.sort(jnp.where(valid, -points, jnp.inf), axis=-1)
    ranks = jnp.arange(1, points.shape[-1] + 1)
    excess = jnp.cumsum(jnp.where(jnp.isfinite(falling), falling, 0.0), axis=-1) - 1.0
    kept = (falling * ranks > excess).sum(axis=-1, keepdims=True)
    shift = jnp.take_along_axis(excess, kept - 1, axis=-1) / kept
    return jnp.where(valid, jnp.maximum(points - shift, 0.0), 0.0)


_project = jax.jit(project_on_simplex)
