"""What changes as training goes on: exploration and the learning rate."""

from __future__ import annotations

import jax.numpy as jnp
import optax
from jax import Array

from wmlab.agents.pqn.options import Explore, Optimiser, Options


def epsilon(options: Options, update: Array) -> Array:
    """The chance of a random action in an update: linear from `from` to `to` over its part of the training."""
    if options.policy == "uniform":
        return jnp.float32(1.0)
    return falling(options.explore, update, options.updates)


def falling(explore: Explore, update: Array, updates: int) -> Array:
    """ε in an update of so many: linear from `from` to `to` over its part of them, then constant."""
    span = explore.over * updates
    progress = jnp.clip(update / span, 0.0, 1.0) if span > 0 else 1.0
    return jnp.float32(explore.from_ + (explore.to - explore.from_) * progress)


def learning_rate(optimiser: Optimiser, gradient_steps: int) -> optax.Schedule:
    """The learning rate of each gradient step."""
    if optimiser.decay == "linear":
        return optax.linear_schedule(optimiser.rate, 0.0, gradient_steps)
    if optimiser.decay == "cosine":
        return optax.cosine_decay_schedule(optimiser.rate, gradient_steps)
    return optax.constant_schedule(optimiser.rate)


def optimiser(options: Options) -> optax.GradientTransformation:
    """RAdam or Adam after a clip of the global norm, at the scheduled rate."""
    chosen = options.optimiser
    rate = learning_rate(chosen, max(1, options.gradient_steps))
    method = {"radam": optax.radam, "adam": optax.adam}[chosen.kind](rate, eps=chosen.epsilon)
    return method if chosen.clip is None else optax.chain(optax.clip_by_global_norm(chosen.clip), method)
