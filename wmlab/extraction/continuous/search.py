"""Looking for next states: candidates around a state, then around the best of them, and so on.

Shapes: N states, d variables, A actions, G goals, C candidates, B of them that are followed up.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.view import ContinuousView
from wmlab.extraction.matching import Search

ROWS = 65_536  # candidates whose values are asked for together
CLEARLY = 0.5


def cloud(count: int, size: int) -> np.ndarray:
    """Points [count, size] spread evenly over [-1, 1]^size, the centre first and then outwards.

    A Kronecker sequence on powers of the generalised golden ratio: even in any number of dimensions, for any count.
    """
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (size + 1))
    steps = ratio ** -np.arange(1, size + 1)
    points = 2 * ((0.5 + np.arange(1, count)[:, None] * steps) % 1.0) - 1
    points = np.concatenate([np.zeros((1, size)), points])
    return points[np.argsort(np.abs(points).max(axis=1), kind="stable")]


def find(view: ContinuousView, states: Array, search: Search) -> tuple[Array, Array]:
    """For states [N, d] the best next states [N, A, d] found, and how far M there is from Q, [N, A].

    A wider search replaces what a nearer one found only where it leaves less than `CLEARLY` of the gap: many far states
    look alike in a few values, and an action seldom leads far.
    """
    near, *wider = [_within(view, states, search, radius) for radius in search.radii]
    after, gap = near
    for further, less in wider:
        better = less < CLEARLY * gap
        after, gap = jnp.where(better[..., None], further, after), jnp.where(better, less, gap)
    return after, gap


def _within(view: ContinuousView, states: Array, search: Search, radius: float) -> tuple[Array, Array]:
    """The same with one radius, in batches."""
    search = dataclasses.replace(search, radius=radius)
    rows = max(1, ROWS // (search.candidates * view.actions))
    count = states.shape[0]
    padded = jnp.pad(states, ((0, -count % rows), (0, 0)), mode="edge")
    parts = [_find(view, part, search) for part in jnp.split(padded, len(padded) // rows)]
    after, distance = (jnp.concatenate(found)[:count] for found in zip(*parts, strict=True))
    return after, distance


@partial(jax.jit, static_argnames="search")
def _find(view: ContinuousView, states: Array, search: Search) -> tuple[Array, Array]:
    """One batch. The first round's candidates are common to all actions."""
    target = jnp.swapaxes(view.values(states), 1, 2)  # [N, A, G]
    (radius,) = search.radii
    offsets = radius * cloud(search.candidates, view.frame.size)
    near = view.frame.confine(states[:, None] + jnp.asarray(offsets, jnp.float32) * view.frame.span)  # [N, C, d]
    gaps = _distance(backups(view, near)[:, None], target[:, :, None], search)  # [N, A, C]
    near = jnp.broadcast_to(near[:, None], (*gaps.shape, view.frame.size))
    best, gap = _best(near, gaps, search.beam)
    local = cloud(search.candidates // search.beam, view.frame.size)
    for turn in range(1, search.rounds):
        step = jnp.asarray(radius * search.shrink**turn * local, jnp.float32) * view.frame.span
        near = view.frame.confine(best[:, :, :, None] + step)  # [N, A, B, C / B, d]
        near = near.reshape(*near.shape[:2], -1, near.shape[-1])
        best, gap = _best(near, _distance(backups(view, near), target[:, :, None], search), search.beam)
    return best[:, :, 0], gap[:, :, 0]


def backups(view: ContinuousView, states: Array) -> Array:
    """M [..., G] of states [..., d]."""
    flat = states.reshape(-1, states.shape[-1])
    return view.backup(flat, view.all_goals(flat.shape[0])).reshape(*states.shape[:-1], -1)


def _distance(found: Array, target: Array, search: Search) -> Array:
    gap = found - target
    return jnp.abs(gap).sum(axis=-1) if search.norm == "l1" else jnp.sqrt((gap**2).sum(axis=-1))


def _best(near: Array, gaps: Array, count: int) -> tuple[Array, Array]:
    """The candidates [..., C, d] of least gap [..., C], the best first; of equals the one nearer to its centre."""
    gap, index = jax.lax.top_k(-gaps, count)
    return jnp.take_along_axis(near, index[..., None], axis=-2), -gap
