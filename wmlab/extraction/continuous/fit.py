"""P-learning from a view to a model: all updates of a fit, with progress, partial results and resumption.

Python comes in between chunks of updates only. A chunk is compiled once, whatever its length, the agent and the seed;
every update derives its own key from its number, so that where a fit is interrupted changes no bit.

Shapes: N states, d variables, A actions, G goals, D draws.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.memory import ARRAYS_AT_ONCE, BATCH_BYTES, WORKER_BYTES
from wmlab.core.programs import largest_array, map_in_batches, map_in_chunks, named_leaves, tree_of
from wmlab.core.randomness import jax_key
from wmlab.core.training import Hooks, NamedArrays, gradient_method
from wmlab.errors import StageError
from wmlab.extraction.continuous import estimators
from wmlab.extraction.continuous.models import NeuralModel, WorldModel, fresh
from wmlab.extraction.continuous.options import FitOptions
from wmlab.extraction.residuals import still_falling, unexplained

# (model, data, options, key, update) -> what is differentiated, and the loss that is shown
Objective = Callable[[NeuralModel, Any, Any, Array, Array], tuple[Array, Array]]
STATES = 4096  # held out
DRAWS = 32  # of a stochastic model's next state
ROWS = 4096  # states that are looked at together, at most
DURING, AFTER = 20, 32  # bytes for each residual, while they are computed and where they are averaged
POINTS = 200  # of the curve of losses, at most


class State(NamedTuple):
    """All that a fit carries from one update to the next."""

    model: NeuralModel
    optimiser: Any  # optax's state
    key: Array  # uint32 [2]: never changes
    update: Array  # int32: updates done


class ChunkStats(NamedTuple):
    """What a chunk of updates says of itself; of an ensemble, of each member [K]."""

    loss: Array  # sum over its updates
    broken: Array  # int32: the first update after which something was not finite; 0: none


def descend(
    objective: Objective, data: Any, state: State, options: Any, hooks: Hooks, advancing: Any = None
) -> tuple[NeuralModel, np.ndarray]:
    """The model after all updates, and the mean loss of each chunk of them. `options` has optimiser and steps."""
    curve: list[float] = []
    if hooks.resume is not None:
        state, curve = restore(state, hooks.resume)
    chunk = -(-options.steps // POINTS)
    done, kept = int(state.update), time.monotonic()
    while done < options.steps:
        count = min(chunk, options.steps - done)
        state, stats = (advancing or advance)(state, data, jnp.int32(count), objective, options)
        if (broken := np.ravel(stats.broken)).any():
            raise StageError(
                f"P-learning diverged in update {broken[broken > 0].min()} of {options.steps}: its loss or weights are"
                " no longer finite; lower optimiser.rate, or set optimiser.clip"
            )
        done += count
        curve.append(float(np.mean(stats.loss)) / count)
        if hooks.progress:
            hooks.progress(done, options.steps, f"loss {curve[-1]:.2e}", {"loss": curve[-1]})
        if hooks.save and done < options.steps and time.monotonic() - kept >= hooks.save_every:
            hooks.save(keep(state, curve))
            kept = time.monotonic()
    return state.model, np.array(curve)


def begin(model: NeuralModel, options: Any, key: Array) -> State:
    """A fit before its first update. `descend` eats its state, so nothing of it is shared with the caller."""
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


# --- from a view to a model, with how well it fits -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NeuralExtraction:
    """A world model, how it came about, and how far it is from the agent's values."""

    model: WorldModel
    curve: np.ndarray  # mean loss of each chunk of updates
    states: np.ndarray  # [N, d] held out
    errors: np.ndarray  # [N, A, G]: E[M(s', g)] - Q(s, a, g) there
    notes: dict[str, Any]  # JSON

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """The model's arrays by name; those of an ensemble have an axis of members in front."""
        network: Any = self.model.members if isinstance(self.model, Ensemble) else self.model
        return {name: np.asarray(array) for name, array in network.weights.items()}


def extract(view: ContinuousView, options: FitOptions, seed: int, **hooks: Any) -> NeuralExtraction:
    """Fit a fresh model. A seed fixes every bit of the result, also where the fit was interrupted."""
    require_values(view, seed)
    model = fresh_model(view, options, seed)
    state = begin(model, options, jax.random.key_data(jax_key(seed, "p-learning")))
    model, curve = descend(estimators.objective, view, state, options, Hooks(**hooks))
    return conclude(view, model, curve, seed, {"updates": options.steps})


def fresh_model(view: ContinuousView, options: FitOptions, seed: int, member: int = 0) -> NeuralModel:
    key = jax_key(seed, "first weights of the model")
    own = jax.random.fold_in(key, member) if member else key
    return fresh(own, view.frame, view.actions, options.model, view.controls)


def conclude(
    view: ContinuousView, model: WorldModel, curve: np.ndarray, seed: int, notes: dict[str, Any]
) -> NeuralExtraction:
    """The record for a fitted model; `curve` [C] is the mean loss of each chunk of updates."""
    states = held_out(view, seed)
    errors = explained(view, model, states, seed)
    spread = np.asarray(_values(view, states)).std(axis=(0, 2))  # [G]
    summary = {
        "residual": float(np.abs(errors).mean()),
        "residual_max": float(np.abs(errors).max()),
        "unexplained": unexplained(errors, spread),
        "still_falling": still_falling(curve),
    }
    by_goal = [float(size) for size in np.abs(errors).mean(axis=(0, 1))]
    return NeuralExtraction(model, curve, np.asarray(states), errors, {**notes, **summary, "residual_by_goal": by_goal})


def evaluation_bytes(view: ContinuousView) -> int:
    """About how much memory it takes to hold a model against all values of an agent at held-out states.

    A batch has as many states as the budget allows, and one at least. Beside it are residuals, and later on copies of
    them in float64.
    """
    size, actions = view.frame.size, view.actions
    state, after = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((1, size), (1, 1, actions, size)))
    one = largest_array(jax.make_jaxpr(residuals)(view, state, after).jaxpr)
    batch = ARRAYS_AT_ONCE * max(one, min(BATCH_BYTES, ROWS * one))
    residual = STATES * view.actions * view.goals
    return WORKER_BYTES + max(batch + DURING * residual, AFTER * residual)


def require_values(view: ContinuousView, seed: int) -> None:
    """Stops at the first value that is no number, by its place."""
    states = held_out(view, seed, 256)
    values = np.asarray(_values(view, states))
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        state, goal, action = (int(index) for index in bad[0])
        place = ", ".join(f"{number:.4g}" for number in np.asarray(states[state]))
        raise StageError(
            f"Q is {values[state, goal, action]} at state ({place}), goal {goal}, action {action}"
            f" ({len(bad)} of {values.size} entries are not finite)"
        )


@jax.jit
def _values(view: ContinuousView, states: Array) -> Array:
    """Q [N, G, A] of states [N, d]."""
    return map_in_chunks(view.values, states)


# --- the Bellman residual at held-out states: how well successors explain values -------------------------------------
# With a model's own predictions this is its fit, for which no truth is needed; with the true successors it is the
# agent's TD error, the floor below which a residual says nothing about the model.


def held_out(view: ContinuousView, seed: int, count: int | None = None) -> Array:
    """States [count, d] that no update has seen."""
    return _unseen(view, jax_key(seed, "held-out states"), count or STATES)


@partial(jax.jit, static_argnames="count")
def _unseen(view: ContinuousView, key: Array, count: int) -> Array:
    return view.unseen(key, count)


@partial(jax.jit, static_argnames="count")
def sample(view: ContinuousView, key: Array, count: int) -> Array:
    """States [count, d] of the view's choice."""
    return view.sample(key, count)


@jax.jit
def residuals(view: ContinuousView, state: Array, after: Array, weights: Array | None = None) -> Array:
    """E[M(s', g)] - Q(s, a, g), [N, A, G], for successors [D, N, A, d], each as likely or with weights [D]."""

    def one(at: tuple[Array, Array]) -> Array:
        state, after = at  # [d], [D, A, d]
        backup = view.backup(after.reshape(-1, after.shape[-1]), view.all_goals(after.shape[0] * after.shape[1]))
        values = view.values(state[None])[0]  # [G, A]
        backup = backup.reshape(*after.shape[:2], -1)
        mean = backup.mean(axis=0) if weights is None else jnp.tensordot(weights, backup, 1)
        return mean - values.T

    return map_in_batches(one, (state, jnp.moveaxis(after, 1, 0)), max(1, ROWS // after.shape[0]))


@partial(jax.jit, static_argnames="draws")
def successors(view: ContinuousView, model: WorldModel, state: Array, key: Array, draws: int) -> Array:
    """Next states [D, N, A, d] under every action; of a box, under those that are listed."""
    count = state.shape[0]
    states = jnp.tile(state, (draws * view.actions, 1))
    action = jnp.tile(jnp.repeat(jnp.arange(view.actions), count), draws)
    noise = jax.random.normal(key, (states.shape[0], model.noise))
    rows = states, action if view.controls is None else view.controls.listed[action], noise
    after = map_in_chunks(lambda part: model.step(*part), rows)
    return jnp.swapaxes(after.reshape(draws, view.actions, count, -1), 1, 2)


def explained(view: ContinuousView, model: WorldModel, state: Array, seed: int) -> np.ndarray:
    """The residuals [N, A, G] of a model at given states."""
    draws = DRAWS if model.stochastic else 1
    after = successors(view, model, state, jax_key(seed, "draws at held-out states"), draws)
    return np.asarray(residuals(view, state, after))
