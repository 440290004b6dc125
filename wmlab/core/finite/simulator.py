"""Finite worlds to act in, and their goals as a learner sees them.

Shapes: S states, A actions, G goals, K successors. Nothing here has a batch axis; callers `vmap`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.finite.goals import rows_at
from wmlab.core.goals import NO_FEATURES, GoalSet
from wmlab.core.programs import pytree
from wmlab.core.simulator import NEVER, Simulator

if TYPE_CHECKING:
    from wmlab.core.finite.goals import Goals
    from wmlab.core.finite.space import FiniteSpace
    from wmlab.core.finite.world import FiniteWorld


@pytree
class FiniteSimulator(Simulator):
    """A finite world: successors are drawn from the rows of its kernel."""

    successors: Array  # int32 [S, A, K]
    chances: Array  # [S, A, K] cumulative, as `draw` reads them
    resets: Array  # [S] cumulative
    starts: Array  # [S] cumulative
    embedding: Array | None = None  # [S, width]; None: states are read as one-hot

    def reset(self, key: Array) -> Array:
        return draw(key, self.resets)

    def start(self, key: Array) -> Array:
        return draw(key, self.starts)

    def step(self, key: Array, state: Array, action: Array) -> Array:
        return self.successors[state, action, draw(key, self.chances[state, action])]

    def encode(self, state: Array) -> Array:
        return state if self.embedding is None else self.embedding[state]

    def place(self, state: Array) -> Array:
        return state


def finite_simulator(
    world: FiniteWorld,
    *,
    starts: Literal["reset", "uniform"] = "reset",
    encoding: Literal["one_hot", "raw", "normalised"] = "one_hot",
) -> FiniteSimulator:
    """A finite world to act in; `starts` says where training episodes begin, `encoding` how networks read states."""
    probabilities = np.maximum(np.asarray(world.kernel.probabilities, np.float64), 0)  # [S, A, K]
    size, actions, _ = probabilities.shape
    reset = np.asarray(world.reset, np.float64)
    embedding = None if encoding == "one_hot" else jnp.asarray(embedded_states(world.space, encoding), jnp.float32)
    return FiniteSimulator(
        width=size if embedding is None else embedding.shape[1],
        actions=actions,
        horizon=NEVER if world.horizon is None else int(world.horizon),
        states=size,
        places=size,
        successors=jnp.asarray(world.kernel.successors, jnp.int32),
        chances=cumulative(probabilities),
        resets=cumulative(reset),
        starts=cumulative(np.full(size, 1 / size) if starts == "uniform" else reset),
        embedding=embedding,
    )


def cumulative(probabilities: np.ndarray) -> Array:
    """Cumulative probabilities [..., K] for `draw`. From the last possible outcome on they are 2: no draw passes it."""
    possible = (probabilities > 0).astype(int)
    later: np.ndarray = np.cumsum(possible[..., ::-1], axis=-1)[..., ::-1] - possible  # possible ones that come after
    return jnp.asarray(np.where(later > 0, np.cumsum(probabilities, axis=-1), 2.0), jnp.float32)


def draw(key: Array, chances: Array) -> Array:
    """An index drawn by inverse transform from cumulative chances [K]."""
    return jnp.sum(jax.random.uniform(key) >= chances).astype(jnp.int32)


def embedded_states(space: FiniteSpace, encoding: str) -> np.ndarray:
    """Every state by its place on the map [S, d]: `raw`, or else normalised to [-1, 1]."""
    raw = np.asarray(space.embedding(), np.float64)
    if encoding == "raw":
        return raw
    low, high = raw.min(0), raw.max(0)
    return 2 * (raw - low) / np.where(high > low, high - low, 1) - 1


@pytree
class TabledGoals(GoalSet):
    """Goals of a finite world, whose rewards and ends are tables."""

    rewards: Array  # [S, G]
    continues: Array  # [S, G]

    def arrive(self, state: Array) -> tuple[Array, Array]:
        return self.rewards[state], self.continues[state]

    def encode(self, features: Array) -> Array:
        return features


@pytree
class NumberedGoals(TabledGoals):
    """Goals that are told apart by their number alone: a network has a head for each."""

    def reward_of(self, state: Array, features: Array) -> tuple[Array, Array]:
        return self.rewards[state, features], self.continues[state, features]

    def achieved(self, state: Array) -> Array:
        raise ValueError(NO_FEATURES)


@pytree
class StateGoals(TabledGoals):
    """Goals that are at states, which are their features."""

    def achieved(self, state: Array) -> Array:
        return state


@pytree
class IndicatorElsewhere(StateGoals):
    """In hindsight, a state reached that is no goal of the set is an indicator goal.

    It pays 1 on arrival, and ends the episode there if the goals of the set end theirs.
    """

    owner: Array  # int32 [S]: the goal at each state; -1 where there is none
    ends: Array  # []: 1 where arriving at a goal ends its episode

    def reward_of(self, state: Array, features: Array) -> tuple[Array, Array]:
        owner, here = self.owner[features], (state == features).astype(jnp.float32)
        listed = owner >= 0
        reward = jnp.where(listed, self.rewards[state, owner], here)
        return reward, jnp.where(listed, self.continues[state, owner], 1 - here * self.ends)


@pytree
class AlikeElsewhere(StateGoals):
    """In hindsight, a state reached is such a goal as those of the set are: it pays and ends as one there would."""

    rewards_of: Array  # [S, S]: of arriving in a state, for a goal at each state
    continues_of: Array  # [S, S]

    def reward_of(self, state: Array, features: Array) -> tuple[Array, Array]:
        return self.rewards_of[state, features], self.continues_of[state, features]


def finite_goals(goals: Goals, at: np.ndarray | None = None, dtype: Any = jnp.float32, alike: bool = False) -> GoalSet:
    """Goals of a finite world. `at` [G] are their states; without them a network can only have a head per goal.

    Other states are, in hindsight, goals `alike`, or else indicator goals.
    """
    reward, continues = np.asarray(goals.reward, np.float64), np.asarray(goals.continues, np.float64)  # [G, S]
    count, size = reward.shape
    tables = jnp.asarray(reward.T, dtype), jnp.asarray(continues.T, dtype)
    if at is None:
        return NumberedGoals(jnp.arange(count), *_extremes(goals, dtype), count, 0, *tables)
    at = np.asarray(at, np.int32)
    if alike:
        assert goals.everywhere is not None  # the options' check asks for goals at states
        every = goals.everywhere()
        told = jnp.asarray(every.reward.T, dtype), jnp.asarray(every.continues.T, dtype)
        return AlikeElsewhere(jnp.asarray(at), *_extremes(every, dtype), count, size, *tables, *told)
    owner = jnp.asarray(rows_at(at, size))
    ends = jnp.float32(np.all(continues[np.arange(count), at] <= 0))
    return IndicatorElsewhere(jnp.asarray(at), *_extremes(goals, dtype), count, size, *tables, owner, ends)


def _extremes(goals: Goals, dtype: Any) -> tuple[Array, Array]:
    """Least and greatest reward [2] of arrivals that end an episode, and of the others."""
    parts = goals.reward[goals.continues <= 0], goals.reward[goals.continues > 0]
    ending, lasting = (jnp.array([part.min(initial=np.inf), part.max(initial=-np.inf)], dtype) for part in parts)
    return ending, lasting
