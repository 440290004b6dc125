"""What values tell of a next state in a continuous world: the slopes of M(s', .) and their singular values.

Whatever does not change M to first order cannot be read from it: a next state is told in the directions in which some
goal's M rises or falls, and in no other. Variables are measured in units of their ranges.

Shapes: N states, d variables, G goals, K the lesser of d and G.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import map_in_batches

ROWS = 1024  # states that are looked at together, at most


@dataclass(frozen=True, eq=False)
class LocalRanks:
    """The singular values of M's slopes at states, and how many of them count."""

    states: np.ndarray  # [N, d]
    singular: np.ndarray  # [N, d], the greatest first; 0 where there are fewer goals than variables
    rank: np.ndarray  # int [N]
    told: np.ndarray  # [N, d]: the share of each variable that lies in directions which M tells apart


def slopes(view: ContinuousView, state: Array) -> Array:
    """How M of each goal changes over the range of each variable, [G, d], at a state [d]."""

    def backup(state: Array) -> Array:
        return view.backup(state[None], view.all_goals(1))[0]

    return jax.jacfwd(backup)(state) * view.frame.span


@jax.jit
def _decomposed(view: ContinuousView, states: Array) -> tuple[Array, Array]:
    def one(state: Array) -> tuple[Array, Array]:
        _, singular, directions = jnp.linalg.svd(slopes(view, state), full_matrices=False)
        return singular, directions**2

    return map_in_batches(one, states, ROWS)


def local_ranks(view: ContinuousView, states: np.ndarray, tolerance: float) -> LocalRanks:
    """The local ranks of M at states [N, d]; what is below a fraction of the largest, mean over states, counts as 0."""
    singular, squares = (np.asarray(part, np.float64) for part in _decomposed(view, jnp.asarray(states)))
    counts = singular > tolerance * singular[:, 0].mean()  # [N, K]
    told = np.where(counts[..., None], squares, 0.0).sum(axis=1)
    lacking = states.shape[1] - singular.shape[1]
    return LocalRanks(states, np.pad(singular, ((0, 0), (0, lacking))), counts.sum(axis=1), told)
