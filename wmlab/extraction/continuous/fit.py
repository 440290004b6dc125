"""All updates of a fit, with progress, partial results and resumption.

Python comes in between chunks of updates only. A chunk is compiled once, whatever its length, the agent and the seed;
every update derives its own key from its number, so that where a fit is interrupted changes no bit.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from wmlab.core.programs import named_leaves, tree_of
from wmlab.core.training import Hooks, NamedArrays, gradient_method
from wmlab.errors import StageError
from wmlab.extraction.continuous.models import NeuralModel

# (model, data, options, key, update) -> what is differentiated, and the loss that is shown
Objective = Callable[[NeuralModel, Any, Any, Array, Array], tuple[Array, Array]]
POINTS = 200  # of the curve of losses, at most


class State(NamedTuple):
    """All that a fit carries from one update to the next."""

    model: NeuralModel
    optimiser: Any  # optax's state
    key: Array  # uint32 [2]: never changes
    update: Array  # int32: updates done


class ChunkStats(NamedTuple):
    """What a chunk of updates says of itself."""

    loss: Array  # sum over its updates
    broken: Array  # int32: the first update after which something was not finite; 0: none


def descend(
    objective: Objective, data: Any, model: NeuralModel, options: Any, key: Array, hooks: Hooks
) -> tuple[NeuralModel, np.ndarray]:
    """The model after all updates, and the mean loss of each chunk of them. `options` has optimiser and steps."""
    state = begin(model, options, key)
    curve: list[float] = []
    if hooks.resume is not None:
        state, curve = restore(state, hooks.resume)
    chunk = -(-options.steps // POINTS)
    done, kept = int(state.update), time.monotonic()
    while done < options.steps:
        count = min(chunk, options.steps - done)
        state, stats = advance(state, data, jnp.int32(count), objective, options)
        if stats.broken:
            raise StageError(
                f"P-learning diverged in update {int(stats.broken)} of {options.steps}: its loss or weights are no"
                " longer finite; lower optimiser.rate, or set optimiser.clip"
            )
        done += count
        curve.append(float(stats.loss) / count)
        if hooks.progress:
            hooks.progress(done, options.steps, f"loss {curve[-1]:.2e}")
        if hooks.save and done < options.steps and time.monotonic() - kept >= hooks.save_every:
            hooks.save(keep(state, curve))
            kept = time.monotonic()
    return state.model, np.array(curve)


def begin(model: NeuralModel, options: Any, key: Array) -> State:
    """A fit before its first update. `advance` eats its state, so nothing of it is shared with the caller."""
    state = State(model, gradient_steps(options).init(model.weights), key, jnp.int32(0))
    return jax.tree.map(jnp.array, state)


@partial(jax.jit, static_argnames=("objective", "options"), donate_argnums=0)
def advance(state: State, data: Any, count: Array, objective: Objective, options: Any) -> tuple[State, ChunkStats]:
    """`count` updates, int []: the state after them, and what they say of themselves."""
    method = gradient_steps(options)
    key = jax.random.wrap_key_data(state.key, impl="threefry2x32")

    def loss_of(weights: Any, model: NeuralModel, update: Array) -> tuple[Array, Array]:
        model = dataclasses.replace(model, weights=weights)
        return objective(model, data, options, jax.random.fold_in(key, update), update)

    def update(_: Array, carry: tuple[State, ChunkStats]) -> tuple[State, ChunkStats]:
        state, stats = carry
        model = state.model
        gradient, loss = jax.grad(loss_of, has_aux=True)(model.weights, model, state.update)
        change, memory = method.update(gradient, state.optimiser, model.weights)
        weights = optax.apply_updates(model.weights, change)
        fine = jnp.isfinite(loss) & jnp.isfinite(sum(leaf.sum() for leaf in weights.values()))
        number = state.update + 1
        broken = jnp.where((stats.broken == 0) & ~fine, number, stats.broken)
        model = dataclasses.replace(model, weights=weights)
        return State(model, memory, state.key, number), ChunkStats(stats.loss + loss, broken)

    return jax.lax.fori_loop(0, count, update, (state, ChunkStats(jnp.float32(0), jnp.int32(0))))


def gradient_steps(options: Any) -> optax.GradientTransformation:
    """How the weights follow the gradient, over all updates of a fit."""
    return gradient_method(options.steps, **dataclasses.asdict(options.optimiser))


def keep(state: State, curve: list[float]) -> NamedArrays:
    """A partial result as named arrays."""
    leaves = named_leaves(state, np.asarray)
    return {f"fit/{name}": leaf for name, leaf in leaves.items()} | {"curve": np.array(curve)}


def restore(state: State, partial: Mapping[str, np.ndarray]) -> tuple[State, list[float]]:
    """The state that a partial result holds, in the shape of a fresh one."""
    return tree_of(state, partial, "fit/", jnp.array), [float(point) for point in partial["curve"]]
