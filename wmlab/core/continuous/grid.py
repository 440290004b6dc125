"""Functions on a grid of states, read anywhere by multilinear interpolation.

Values on a grid are kept flat [N]. To be read they are padded: a periodic axis gets its first slice once more at its
end, so that the corners around any place lie at fixed distances from the first of them.

Shapes: d axes, N grid points, P of them when padded, M places, G goals, A actions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import AgentView, Policy, States, chosen
from wmlab.core.goals import GoalSet
from wmlab.core.programs import pytree, static


@dataclass(frozen=True)
class Grid:
    """Evenly spaced points along each axis. Equal grids hash alike, so that programs are compiled once."""

    shape: tuple[int, ...]  # [d]
    low: tuple[float, ...]
    high: tuple[float, ...]  # of a periodic axis, the same place as its low
    periodic: tuple[bool, ...]

    @property
    def count(self) -> int:
        """N"""
        return math.prod(self.shape)

    @property
    def spacing(self) -> tuple[float, ...]:
        parts = zip(self.low, self.high, self.shape, self.periodic, strict=True)
        return tuple((high - low) / (size if periodic else size - 1) for low, high, size, periodic in parts)

    @property
    def padded(self) -> tuple[int, ...]:
        return tuple(size + periodic for size, periodic in zip(self.shape, self.periodic, strict=True))

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(math.prod(self.padded[axis + 1 :]) for axis in range(len(self.shape)))

    def axes(self) -> list[np.ndarray]:
        """The points along each axis."""
        return [
            low + np.arange(size) * step for low, size, step in zip(self.low, self.shape, self.spacing, strict=True)
        ]


def grid_of(
    space: ContinuousSpace, sizes: int | Mapping[str, int], bounds: Mapping[str, Sequence[float]] | None = None
) -> Grid:
    """A grid over a space's ranges, or over bounds of one's own. Bounds never cut a circle open."""
    ranges = space.ranges(bounds)
    shape = tuple(sizes if isinstance(sizes, int) else sizes[name] for name in space.names)
    return Grid(
        shape,
        tuple(map(float, ranges[:, 0])),
        tuple(map(float, ranges[:, 1])),
        tuple(variable.periodic for variable in space.variables),
    )


def points(grid: Grid, index: Array) -> Array:
    """The states [M, d] of grid points [M]."""
    where = jnp.unravel_index(index, grid.shape)
    columns = zip(where, grid.low, grid.spacing, strict=True)
    return jnp.stack([low + at * step for at, low, step in columns], axis=-1).astype(jnp.float32)


def pad(grid: Grid, values: Array) -> Array:
    """Values [N], ready to be read."""
    block = values.reshape(grid.shape)
    for axis, periodic in enumerate(grid.periodic):
        if periodic:
            block = jnp.concatenate([block, jax.lax.slice_in_dim(block, 0, 1, axis=axis)], axis)
    return block.reshape(-1)


def locate(grid: Grid, states: Array) -> tuple[Array, Array]:
    """The first corner int32 [M] (in padded values) and the fractions [d, M] beyond it, of states [M, d].

    Beyond the ends of an axis the end itself is taken.
    """
    first = jnp.zeros(states.shape[0], jnp.int32)
    fractions = []
    for axis, (size, stride) in enumerate(zip(grid.shape, grid.strides, strict=True)):
        place = (states[:, axis] - grid.low[axis]) / grid.spacing[axis]
        place = place % size if grid.periodic[axis] else jnp.clip(place, 0, size - 1)
        corner = jnp.clip(jnp.floor(place), 0, grid.padded[axis] - 2)
        first = first + corner.astype(jnp.int32) * stride
        fractions.append((place - corner).astype(jnp.float32))
    return first, jnp.stack(fractions)


def read(grid: Grid, padded: Array, first: Array, fractions: Array) -> Array:
    """Interpolated values [M, ...] of a padded table [P, ...] at located places: 2^d corners, blended axis by axis."""

    def blend(axis: int, offset: int) -> Array:
        if axis == len(grid.shape):
            return padded.at[first + offset].get(mode="promise_in_bounds")
        near, far = blend(axis + 1, offset), blend(axis + 1, offset + grid.strides[axis])
        return near + fractions[axis].reshape(-1, *[1] * (padded.ndim - 1)) * (far - near)

    return blend(0, 0)


def interpolate(grid: Grid, values: Array, states: Array) -> Array:
    """Values [N] on the grid, read at states [M, d]."""
    return read(grid, pad(grid, values), *locate(grid, states))


def own_weight(grid: Grid, index: Array, first: Array, fractions: Array) -> Array:
    """How much of its own value a grid point [M] reads at its successor's place [M]."""
    weight = jnp.ones(index.shape, jnp.float32)
    here = jnp.unravel_index(index, grid.shape)
    for axis, (size, stride) in enumerate(zip(grid.shape, grid.strides, strict=True)):
        corner, first = first // stride, first % stride
        gap = jnp.abs(corner + fractions[axis] - here[axis])
        gap = jnp.minimum(gap, size - gap) if grid.periodic[axis] else gap
        weight = weight * jnp.maximum(0.0, 1.0 - gap)
    return weight


@partial(jax.jit, static_argnames=("coarse", "fine"))
def refine(coarse: Grid, fine: Grid, values: Array) -> Array:
    """Values [N] on a coarse grid, read at the points of a fine one over the same ranges: axis by axis, hence quick."""
    block = values.reshape(coarse.shape)
    for axis, (size, into) in enumerate(zip(coarse.shape, fine.shape, strict=True)):
        periodic = coarse.periodic[axis]
        place = np.arange(into) * (size / into if periodic else (size - 1) / (into - 1))
        corner = np.minimum(np.floor(place), size - 1 if periodic else size - 2).astype(np.int32)
        far = (corner + 1) % size
        fraction = (place - corner).astype(np.float32).reshape(-1, *[1] * (len(coarse.shape) - axis - 1))
        block = jnp.take(block, corner, axis) * (1 - fraction) + jnp.take(block, far, axis) * fraction
    return block.reshape(-1)


# --- an agent whose values are a table on a grid ------------------------------------------------------------------


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
        return read(self.grid, self.q, *locate(self.grid, state))

    def values_at(self, state: Array, goal: Array) -> Array:
        return chosen(self.values(state), goal)

    def known_worth(self, state: Array) -> Array:
        return read(self.grid, self.value, *locate(self.grid, state))


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
