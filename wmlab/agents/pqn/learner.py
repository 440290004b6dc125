"""One update of PQN: a rollout, then gradient steps on what was seen.

Shapes: T steps, N environments, B = samples of a minibatch, G goals, A actions, S states.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from wmlab.agents.pqn import networks
from wmlab.agents.pqn.networks import NetworkValues
from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.rollout import Environments, Transitions, begin, exploration, rollout
from wmlab.agents.pqn.samples import Sample, gather_samples, one_step, state_value
from wmlab.core.goals import GoalSet
from wmlab.core.perceptron import Weights
from wmlab.core.simulator import Simulator
from wmlab.core.training import gradient_method


class Learner(NamedTuple):
    """All that training carries from one update to the next."""

    params: Weights
    optimiser: Any  # optax's state
    envs: Environments
    key: Array  # uint32 [2]: never changes; every update derives its own from it and its number
    update: Array  # int32: updates done
    visits: Array  # int32 [places]


class Metrics(NamedTuple):
    """What one update says of itself."""

    loss: Array  # mean over its gradient steps
    td_error: Array  # mean |target - value|
    gain: Array  # mean discounted return of the episodes that ended, for the goals they pursued; nan if none did
    finite: Array  # whether all weights still are


def start(key: Array, simulator: Simulator, goals: GoalSet, options: Options) -> Learner:
    """A learner that has seen nothing."""
    init_key, begin_key, train_key = jax.random.split(key, 3)
    params = networks.init(init_key, simulator, goals, options.network)
    return Learner(
        params,
        gradient_steps(options).init(params),
        begin(begin_key, simulator, goals, options),
        jax.random.key_data(train_key),
        jnp.int32(0),
        jnp.zeros(simulator.places, jnp.int32),
    )


def update(learner: Learner, simulator: Simulator, goals: GoalSet, options: Options) -> tuple[Learner, Metrics]:
    """A rollout, and the gradient steps on it."""
    learner, metrics, _ = update_and_see(learner, simulator, goals, options)
    return learner, metrics


def update_and_see(
    learner: Learner, simulator: Simulator, goals: GoalSet, options: Options
) -> tuple[Learner, Metrics, Transitions]:
    """The same, and what was seen on the way."""
    key = jax.random.fold_in(jax.random.wrap_key_data(learner.key, impl="threefry2x32"), learner.update)
    act_key, relabel_key, shuffle_key = jax.random.split(key, 3)
    values = NetworkValues(simulator, goals, options)
    envs, seen = act(act_key, simulator, values, learner)
    samples = gather_samples(relabel_key, values, learner.params, seen)
    (params, state), (loss, error) = jax.lax.scan(
        partial(_epoch, values, samples),
        (learner.params, learner.optimiser),
        jax.random.split(shuffle_key, options.epochs),
    )
    visits = learner.visits
    if simulator.places:
        visits = visits.at[jax.vmap(jax.vmap(simulator.place))(seen.state).ravel()].add(1)
    episodes = seen.cut.sum()
    gain = jnp.sum(seen.gain * seen.cut) / episodes  # nan where none ended
    finite = jnp.all(jnp.stack([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(params)]))
    learner = Learner(params, state, envs, learner.key, learner.update + 1, visits)
    return learner, Metrics(loss.mean(), error.mean(), gain, finite), seen


def act(key: Array, simulator: Simulator, values: NetworkValues, learner: Learner) -> tuple[Environments, Transitions]:
    """A rollout of the learner's ε-greedy policy."""
    policy, epsilon = values.policy(learner.params), exploration(values.options, learner.update)
    return rollout(key, simulator, values.goals, values.options, policy, epsilon, learner.envs)


def _epoch(values: NetworkValues, samples: Sample, carry: Any, key: Array) -> tuple[Any, tuple[Array, Array]]:
    """One pass over the samples, in a new order."""
    options = values.options
    chosen = shuffle(key, options.samples)[: options.minibatches * options.minibatch]

    def cut_up(leaf: Array) -> Array:
        return leaf[chosen].reshape(options.minibatches, options.minibatch, *leaf.shape[1:])

    return jax.lax.scan(partial(_gradient_step, values), carry, jax.tree.map(cut_up, samples))


def shuffle(key: Array, count: int) -> Array:
    """The numbers below `count` in random order. One word holds a draw and its number: it sorts four times faster."""
    width = max(1, (count - 1).bit_length())
    if width > 18:  # too few bits would be left for the draw
        return jax.random.permutation(key, count)
    draws = jax.random.bits(key, (count,)) << width
    return (jnp.sort(draws | jnp.arange(count, dtype=jnp.uint32)) & ((1 << width) - 1)).astype(jnp.int32)


def _gradient_step(values: NetworkValues, carry: Any, batch: Sample) -> tuple[Any, tuple[Array, Array]]:
    params, state = carry
    (loss, error), gradient = jax.value_and_grad(partial(batch_loss, values), has_aux=True)(params, batch)
    change, state = gradient_steps(values.options).update(gradient, state, params)
    return (optax.apply_updates(params, change), state), (loss, error)


def batch_loss(values: NetworkValues, params: Weights, batch: Sample) -> tuple[Array, Array]:
    """Half the mean squared TD error of a minibatch, and the mean absolute one. No gradient enters a target."""
    read = values.read_by(params)
    target = batch.target
    if target is None:
        # A table is read twice; a network is run again, on constants, so that no backward pass is made for it.
        ahead = read if values.tabular else values.read_by(jax.lax.stop_gradient(params))
        after = state_value(values.options, jax.lax.stop_gradient(ahead(batch.after, batch.goal)))
        target = one_step(values.options.discount, *values.outcome(batch.after, batch.goal), after)
    taken = jax.nn.one_hot(batch.action, values.reader.actions)[:, None]  # [B, 1, A]
    error = jnp.sum(read(batch.state, batch.goal) * taken, axis=-1) - target  # [B, G]
    return 0.5 * jnp.mean(error**2), jnp.mean(jnp.abs(error))


def gradient_steps(options: Options) -> optax.GradientTransformation:
    """How the weights follow the gradient, over all gradient steps of a training."""
    return gradient_method(max(1, options.gradient_steps), **dataclasses.asdict(options.optimiser))
