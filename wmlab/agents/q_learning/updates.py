"""The updates of tabular Q-learning, in float64.

Shapes: N environments, S states, A actions, G goals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.learning import LearnedValues
from wmlab.agents.pqn.evaluate import returns_of
from wmlab.agents.pqn.learner import Metrics
from wmlab.agents.pqn.rollout import (
    Environments,
    Policy,
    RolloutDraws,
    Transitions,
    act,
    begin,
    draws,
    epsilon_greedy,
    falling,
)
from wmlab.agents.pqn.samples import one_step, state_value
from wmlab.agents.pqn.training import Program, TrainingHooks, drive_one, named_key
from wmlab.agents.q_learning.options import Options, StepSize
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.simulator import finite_goals, finite_simulator
from wmlab.core.finite.world import FiniteWorld
from wmlab.core.goals import GoalSet
from wmlab.core.programs import exact
from wmlab.core.simulator import Simulator


class TableLearner(NamedTuple):
    """All that training carries from one update to the next."""

    params: dict[str, Array]  # q: [S, A, G]
    counts: Array  # int64 [S, A]: visits
    envs: Environments
    key: Array  # uint32 [2]: never changes; every update derives its own from it and its number
    update: Array  # int32: updates done

    @property
    def visits(self) -> Array:
        """How often each state was acted from [S]."""
        return self.counts.sum(axis=-1)


@exact()
def train(options: Options, world: FiniteWorld, goals: Goals, seed: int, **hooks: Any) -> LearnedValues:
    """Train one agent. A seed fixes every bit of the result, also where the training was interrupted."""
    hook = TrainingHooks(**hooks)
    simulator, aims = finite_simulator(world, starts=options.starts), finite_goals(goals, dtype=jnp.float64)
    start_key, test_key = named_key(seed, "q-learning"), named_key(seed, "q-learning evaluation")
    program = Program(
        start=lambda: _start(start_key, simulator, aims, options),
        update=lambda learner: advance(learner, simulator, aims, options),
        returns=lambda params: _returns(params, test_key, simulator, aims, options, hook.starts),
    )
    trained = drive_one(program, options, seed, hook)
    q = np.stack([np.moveaxis(tables["q"], -1, 0) for tables in trained.checkpoints])  # [C, G, S, A]
    return LearnedValues(q, trained.steps, trained.returns, trained.visits, trained.curves, {})


def start(key: Array, simulator: Simulator, goals: GoalSet, options: Options) -> TableLearner:
    """A learner that has seen nothing, and values nothing."""
    begin_key, train_key = jax.random.split(jax.random.wrap_key_data(key, impl="threefry2x32"))
    shape = simulator.states, simulator.actions
    envs = begin(begin_key, simulator, goals, options)
    q, counts = jnp.zeros((*shape, goals.count)), jnp.zeros(shape, jnp.int64)
    return TableLearner({"q": q}, counts, envs, jax.random.key_data(train_key), jnp.int32(0))


def update(
    learner: TableLearner, simulator: Simulator, goals: GoalSet, options: Options
) -> tuple[TableLearner, Metrics]:
    """A stretch of steps, each of which is learnt from at once."""
    key = jax.random.fold_in(jax.random.wrap_key_data(learner.key, impl="threefry2x32"), learner.update)
    epsilon = falling(options.exploration, learner.update, options.updates)

    def step(carry: tuple[Array, Array, Environments], chance: RolloutDraws) -> tuple[Any, tuple[Array, ...]]:
        q, counts, envs = carry
        action = epsilon_greedy(chance, acting_on(q)(envs.state, envs.goal), epsilon)
        envs, seen = act(chance, simulator, goals, options, action, envs)
        q, counts, error = learn(q, counts, seen, goals, options)
        loss, size = 0.5 * jnp.mean(error**2), jnp.mean(jnp.abs(error))
        return (q, counts, envs), (loss, size, jnp.sum(seen.gain * seen.cut), seen.cut.sum())

    (q, counts, envs), (loss, error, gain, episodes) = jax.lax.scan(
        step, (learner.params["q"], learner.counts, learner.envs), draws(key, (options.rollout, options.envs))
    )
    mean_gain = gain.sum() / episodes.sum()  # nan where no episode ended
    learner = TableLearner({"q": q}, counts, envs, learner.key, learner.update + 1)
    return learner, Metrics(loss.mean(), error.mean(), mean_gain, jnp.isfinite(q).all())


def acting_on(q: Array) -> Policy:
    """The values [N, A] that each environment acts on, those of its own goal."""
    return lambda state, goal: q[state, :, goal]


def learn(q: Array, counts: Array, seen: Transitions, goals: GoalSet, options: Options) -> tuple[Array, Array, Array]:
    """Every transition [N] teaches every goal; new tables, and the errors [N, G] that were found."""
    reward, continues = jax.vmap(goals.arrive)(seen.after)  # [N, G]
    value = state_value(options, jnp.moveaxis(q[seen.after], 1, -1))  # [N, G]
    target = one_step(options.discount, reward, continues, value)
    error = target - q[seen.state, seen.action]
    weight = visit_weights(options.step_size, counts, seen.state, seen.action)
    moved = q.at[seen.state, seen.action].add(weight[:, None] * error)
    return moved, counts.at[seen.state, seen.action].add(1), error


def step_size(options: StepSize, visit: Array) -> Array:
    """How far a visit [N], numbered from 1, moves a value to its target."""
    return options.scale / (visit + options.offset) ** options.power


def visit_weights(options: StepSize, counts: Array, state: Array, action: Array) -> Array:
    """What each target [N] counts for, as if the environments had been visited one after the other.

    Where several are in the same state and do the same, the i-th of them moves the value by its own step α, and
    each later one keeps 1 - α' of that: its weight is α_i (1 - α_{i+1}) (1 - α_{i+2}) …
    """
    pair = state * counts.shape[1] + action
    order = jnp.argsort(pair, stable=True)
    place, sorted_pair = jnp.arange(pair.size), pair[order]
    first = jnp.concatenate([jnp.ones(1, bool), sorted_pair[1:] != sorted_pair[:-1]])
    earlier = place - jax.lax.cummax(jnp.where(first, place, 0))  # of this very step, in the same pair
    alpha = step_size(options, counts.ravel()[sorted_pair] + 1 + earlier)
    last = jnp.append(first[1:], True)
    keep = jnp.where(last, 0.0, jnp.append(1 - alpha[1:], 0.0))

    def compose(later: tuple[Array, Array], earlier: tuple[Array, Array]) -> tuple[Array, Array]:
        return later[0] * earlier[0], earlier[0] * later[1] + earlier[1]

    _, kept = jax.lax.associative_scan(compose, (keep, last.astype(alpha.dtype)), reverse=True)
    return jnp.zeros_like(alpha).at[order].set(alpha * kept)


def _test(
    params: dict[str, Array], key: Array, simulator: Simulator, goals: GoalSet, options: Options, starts: int
) -> Array:
    key = jax.random.wrap_key_data(key, impl="threefry2x32")
    return returns_of(acting_on(params["q"]), key, simulator, goals, options, starts)


_start = jax.jit(start, static_argnames="options")
advance = jax.jit(update, static_argnames="options", donate_argnums=0)
_returns = jax.jit(_test, static_argnames=("options", "starts"))
