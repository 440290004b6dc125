"""Displacements of sampled states under each member of an ensemble.

Shapes: K members, n states, d state variables, D variables with derived ones, A actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.measure.continuous.moves import actions_by_row


@dataclass(frozen=True, eq=False)
class MembersApart:
    """What the members of an ensemble make of sampled states."""

    space: ContinuousSpace
    states: np.ndarray  # [n, d]
    mean: np.ndarray  # [A, n, D] displacement
    variance: np.ndarray  # [A, n, D] of displacements among members

    @property
    def scale(self) -> np.ndarray:
        """How much the mean displacements vary over states and actions: [D]."""
        variance: np.ndarray = self.mean.reshape(-1, self.mean.shape[-1]).var(axis=0)
        return variance


def members_apart(space: ContinuousSpace, ensemble: Ensemble, states: np.ndarray) -> MembersApart:
    """The members of an ensemble at states [n, d], for every action, or for one from each region of a box of them."""
    pairs = [_apart(space, ensemble, states, action) for action in actions_by_row(space, len(states))]
    mean, variance = (np.stack([np.asarray(pair[part], np.float64) for pair in pairs]) for part in range(2))
    return MembersApart(space, states, mean, variance)


@partial(jax.jit, static_argnames="space")
def _apart(space: ContinuousSpace, ensemble: Ensemble, states: Array, action: Array) -> tuple[Array, Array]:
    """Mean and variance among members of displacements under one action, without noise: each [n, D]."""
    count = states.shape[0]
    actions = action if jnp.ndim(action) == 2 else jnp.full(count, action)
    after = ensemble.steps_apart(states, actions, jnp.zeros((count, ensemble.noise)))
    moves = space.difference(space.full(after, jnp), space.full(states, jnp), jnp)  # [K, n, D]
    mean = moves.mean(axis=0)
    gaps = space.difference(moves, mean, jnp)
    return mean, (gaps**2).sum(axis=0) / (ensemble.size - 1)
