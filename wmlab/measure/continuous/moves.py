"""Displacements of sampled states under two dynamics: their means, their spread and how far apart they are.

Shapes: n states, d state variables, D variables with derived ones, A actions, or regions of a box of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.randomness import generator

TOUCH = 1e-6  # of a range: so near to its end is on it


@partial(jax.jit, static_argnames=("space", "draws"))
def moves(
    space: ContinuousSpace, truth: Dynamics, model: Dynamics, states: Array, action: Array, key: Array, draws: int
) -> tuple[Array, Array, Array, Array]:
    """Mean displacements of truth and model [n, D], their standard deviations [2, n, D], their energy distance [n].

    `action` is int [], the same in every state, or components [n, k] of one from a box for each of them.
    The energy distance is 2 E|X - Y| - E|X - X'| - E|Y - Y'| between next states, in units of the truth's standard
    deviation of each variable over all states.
    """
    actions = action if jnp.ndim(action) == 2 else jnp.full(states.shape[0], action, jnp.int32)
    here = space.full(states, jnp)

    def displacement(dynamics: Dynamics, draw_key: Array) -> Array:
        after = space.full(dynamics.draw(draw_key, states, actions), jnp)
        return space.difference(after, here, jnp)

    if truth.noise == 0 and model.noise == 0:
        true, guess = displacement(truth, key), displacement(model, key)
        return true, guess, jnp.zeros((2, *true.shape)), jnp.zeros(true.shape[0])
    scale = jnp.std(here, axis=0) + 1e-12

    def one(total: Any, draw_key: Array) -> tuple[Any, None]:
        keys = jax.random.split(draw_key, 4)
        pair = jnp.stack([displacement(truth, keys[0]), displacement(truth, keys[1])])  # [2, n, D]
        other = jnp.stack([displacement(model, keys[2]), displacement(model, keys[3])])
        energy = 2 * _length(pair[0] - other[0], scale) - _length(pair[0] - pair[1], scale)
        energy = energy - _length(other[0] - other[1], scale)
        new = (pair.sum(0), other.sum(0), (pair**2).sum(0), (other**2).sum(0), energy)
        return tuple(old + more for old, more in zip(total, new, strict=True)), None

    zero = jnp.zeros_like(here)
    sums: Any = jax.lax.scan(one, (zero, zero, zero, zero, jnp.zeros(here.shape[0])), jax.random.split(key, draws))[0]
    count = 2 * draws
    true, guess = sums[0] / count, sums[1] / count
    moments = jnp.stack([sums[2] / count - true**2, sums[3] / count - guess**2])
    sd = jnp.sqrt(jnp.maximum(moments, 0) * count / (count - 1))
    return true, guess, sd, sums[4] / draws


def _length(gap: Array, scale: Array) -> Array:
    return jnp.sqrt(jnp.sum((gap / scale) ** 2, axis=-1))


@dataclass(frozen=True, eq=False)
class Sampled:
    """What truth and model make of sampled states."""

    space: ContinuousSpace
    states: np.ndarray  # [n, d]
    truth: np.ndarray  # [A, n, D] mean displacements
    after: np.ndarray  # [A, n, D] mean next states of the truth
    gap: np.ndarray  # [A, n, D] model minus truth
    interior: np.ndarray  # bool [A, n] the true successor touches no bound
    sd: np.ndarray | None  # [2, A, n, D] standard deviations of truth and model; None where both are deterministic
    energy: np.ndarray | None  # [A, n]

    @property
    def names(self) -> list[str]:
        return [variable.name for variable in self.space.everything]

    @property
    def rows(self) -> tuple[str, tuple[str, ...]]:
        """What the first axis tells apart, and its labels [A]."""
        return rows_of(self.space)


def rows_of(space: ContinuousSpace) -> tuple[str, tuple[str, ...]]:
    """What errors are told apart by: actions, or the regions of a box of them."""
    if space.in_box:
        return "action region", tuple(region.name for region in space.regions)
    return "action", space.actions


def actions_by_row(space: ContinuousSpace, count: int) -> list[Any]:
    """For each row of errors an action: its number, or of each region of a box `count` actions [count, k] of its own.

    They are the same for every seed, as states are.
    """
    if not space.in_box:
        return list(range(len(space.actions)))
    drawn = generator(0, "actions of the model's error").uniform(size=(len(space.regions), count, len(space.controls)))
    ends = np.array([region.ends for region in space.regions])[:, None]  # [A, 1, k, 2]
    return list((ends[..., 0] + drawn * (ends[..., 1] - ends[..., 0])).astype(np.float32))


def sample_errors(
    space: ContinuousSpace, truth: Dynamics, model: Dynamics, states: np.ndarray, key: Array, draws: int = 64
) -> Sampled:
    """Truth beside model at states [n, d], for every action, or for one from each region of a box of them."""
    actions = actions_by_row(space, len(states))
    rows = [moves(space, truth, model, states, action, key, draws) for action in actions]
    true, guess, spread, energy = (np.stack([np.asarray(row[part]) for row in rows]) for part in range(4))
    after = space.full(states)[None] + true
    interior = ~touches(space, after)
    stochastic = bool(truth.noise or model.noise)
    sd = np.moveaxis(spread, 1, 0) if stochastic else None
    wrapped = np.concatenate([space.settle(after[..., : space.size]), after[..., space.size :]], axis=-1)
    gap = space.difference(guess, true)
    return Sampled(space, states, true, wrapped, gap, interior, sd, energy if stochastic else None)


def touches(space: ContinuousSpace, after: Any, xp: Any = np) -> Any:
    """Whether next states [..., d or D] lie at a bound that holds them there: bool [...]."""
    at_bound = xp.zeros(after.shape[:-1], bool)
    for column, variable in enumerate(space.variables):
        if variable.edge == "clip":
            slack = TOUCH * (variable.high - variable.low)
            value = after[..., column]
            at_bound = at_bound | (value <= variable.low + slack) | (value >= variable.high - slack)
    return at_bound


def restricted(sampled: Sampled, kept: np.ndarray) -> Sampled:
    """The same, of the states bool [n] that are kept."""
    parts = (sampled.truth, sampled.after, sampled.gap, sampled.interior)
    truth, after, gap, interior = (part[:, kept] for part in parts)
    sd = None if sampled.sd is None else sampled.sd[:, :, kept]
    energy = None if sampled.energy is None else sampled.energy[:, kept]
    return Sampled(sampled.space, sampled.states[kept], truth, after, gap, interior, sd, energy)


def over(error: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Errors over variances; NaN where nothing varies and yet there is an error, or nothing was seen."""
    safe = np.where(variance > 0, variance, 1.0)
    still = np.where((variance == 0) & (error == 0), 0.0, np.nan)
    return np.where(variance > 0, error / safe, still)


def mean_of(errors: np.ndarray) -> float | None:
    """The mean of errors; none where it has no meaning."""
    mean = float(errors.mean())
    return mean if np.isfinite(mean) else None
