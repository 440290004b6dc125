"""A sample of the transitions that a training sees, kept beside it; the training itself draws what it always drew.

Every update gives as many of its transitions, drawn without replacement: a sample that is even over the training.

Shapes: M transitions that are kept, U updates, T steps, N environments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.agents.pqn import learner
from wmlab.agents.pqn.learner import Learner, Metrics
from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.rollout import Transitions
from wmlab.core.goals import GoalSet
from wmlab.core.simulator import Simulator, State

CHOICE = 3  # folded into an update's key; acting, relabelling and shuffling split theirs off it


class KeptTransitions(NamedTuple):
    """What was seen: where, what was done, what followed."""

    state: State  # [M]
    action: Array  # int32 [M]
    after: State  # [M]


class KeepingLearner(NamedTuple):
    """A learner that keeps some of what it sees."""

    learner: Learner
    kept: KeptTransitions

    @property
    def params(self) -> Any:
        return self.learner.params

    @property
    def visits(self) -> Array:
        return self.learner.visits


def room_for(options: Options, wanted: int) -> int:
    """M: as many as are wanted, and no more than there are."""
    return min(wanted, options.updates * options.envs * options.rollout)


def start(key: Array, simulator: Simulator, goals: GoalSet, options: Options, room: int) -> KeepingLearner:
    """A learner that has seen nothing, with room for so many transitions."""
    fresh = learner.start(key, simulator, goals, options)
    empty = jax.tree.map(lambda leaf: jnp.zeros((room, *leaf.shape[1:]), leaf.dtype), fresh.envs.state)
    return KeepingLearner(fresh, KeptTransitions(empty, jnp.zeros(room, jnp.int32), empty))


def update(
    keeping: KeepingLearner, simulator: Simulator, goals: GoalSet, options: Options, room: int
) -> tuple[KeepingLearner, Metrics]:
    """The update of a learner; its share of the room is filled with what it saw."""
    before = keeping.learner
    after, metrics, seen = learner.update_and_see(before, simulator, goals, options)
    key = jax.random.fold_in(jax.random.wrap_key_data(before.key, impl="threefry2x32"), before.update)
    chosen = sample(jax.random.fold_in(key, CHOICE), seen, options, -(-room // options.updates))
    first = (before.update * (room / options.updates)).astype(jnp.int32)  # shares overlap by one where they are uneven

    def fill(kept: Array, part: Array) -> Array:
        return jax.lax.dynamic_update_slice_in_dim(kept, part, first, axis=0)

    return KeepingLearner(after, jax.tree.map(fill, keeping.kept, chosen)), metrics


def sample(key: Array, seen: Transitions, options: Options, count: int) -> KeptTransitions:
    """So many of the transitions [T, N] of a rollout, each at most once."""
    total = options.envs * options.rollout
    index = learner.shuffle(key, total)[:count]

    def pick(leaf: Array) -> Array:
        return leaf.reshape(total, *leaf.shape[2:])[index]

    return jax.tree.map(pick, KeptTransitions(seen.state, seen.action, seen.after))
