"""Hindsight: each transition told again for other goals.

Shapes: T steps, N environments, k retold samples per transition, G goals.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.agents.pqn.options import Hindsight
from wmlab.agents.pqn.rollout import Transitions
from wmlab.core.goals import Features, GoalSet


def goals_to_learn(key: Array, goals: GoalSet, seen: Transitions, hindsight: Hindsight | None) -> Features:
    """Features of the goals that each transition is to teach: its own first, then the retold ones [T, N, 1 + k]."""
    pursued = jax.tree.map(lambda features: features[seen.goal][:, :, None], goals.features)
    if hindsight is None:
        return pursued
    if hindsight.strategy == "random":
        index = jax.random.randint(key, (*seen.goal.shape, hindsight.k), 0, goals.count)
        retold = jax.tree.map(lambda features: features[index], goals.features)
    else:
        moment = future_moments(key, seen.cut, hindsight.k)  # [T, N, k]
        column = jnp.arange(seen.cut.shape[1])[None, :, None]
        achieved = jax.vmap(jax.vmap(goals.achieved))(seen.after)  # [T, N, ...]
        retold = jax.tree.map(lambda features: features[moment, column], achieved)
    return jax.tree.map(lambda first, others: jnp.concatenate([first, others], axis=2), pursued, retold)


def future_moments(key: Array, cut: Array, count: int) -> Array:
    """For each step, `count` moments drawn evenly from itself to the end of its episode or of the rollout."""
    steps = cut.shape[0]
    now = jnp.arange(steps)[:, None]  # [T, 1]
    last = jax.lax.cummin(jnp.where(cut, now, steps - 1), axis=0, reverse=True)  # [T, N]
    chance = jax.random.uniform(key, (cut.size * count,)).reshape(*cut.shape, count)
    ahead = (chance * (last - now + 1)[:, :, None]).astype(jnp.int32)
    return jnp.minimum(now[:, :, None] + ahead, last[:, :, None])  # a product may round up to the very end
