"""Gradient descent on tables in JAX, float64: on probabilities until nothing moves, and on a softmax table by samples.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, K candidates, B draws.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from wmlab.core.finite.view import FiniteView
from wmlab.core.programs import exact
from wmlab.extraction.finite.problem import Extraction, candidates, conclude, kernel_of

BLOCK = 100  # steps between two looks at whether anything still moves
LOOKS = 100  # at most, at the loss of a fit by samples, on its way


class Descent(NamedTuple):
    """Where a descent on tables stands."""

    table: jax.Array  # [N, K]
    steps: jax.Array
    move: jax.Array  # by the last step, of any entry
    losses: jax.Array  # [steps / BLOCK]  after each block; nan where it was over before


@exact()
@functools.partial(jax.jit, static_argnames=("steps", "project"))
def descend(
    columns: jax.Array,
    valid: jax.Array,
    targets: jax.Array,
    guess: jax.Array,
    rate: float,
    tolerance: float,
    steps: int,
    project: bool,
) -> Descent:
    """Steps from a first guess [N, K].

    Columns [N, R, K] are each pair's own, or [R, K] the same for all; `valid` [N, K], `targets` [N, R]. Steps
    come in blocks, each a scan, until one moves nothing or the budget is spent.
    """

    def error(table: jax.Array) -> jax.Array:
        if columns.ndim == 2:
            return table @ columns.T - targets
        return jnp.einsum("nrk,nk->nr", columns, table) - targets

    def gradient(table: jax.Array) -> jax.Array:
        if columns.ndim == 2:
            return error(table) @ columns
        return jnp.einsum("nrk,nr->nk", columns, error(table))

    def step(table: jax.Array, allowed: jax.Array) -> tuple[jax.Array, jax.Array]:
        new = jnp.where(valid, table - rate * gradient(table), 0.0)
        new = project_on_simplex(new, valid) if project else new
        new = jnp.where(allowed, new, table)
        return new, jnp.where(allowed, jnp.abs(new - table).max(), jnp.nan)

    def block(state: Descent) -> Descent:
        allowed = state.steps + jnp.arange(BLOCK) < steps
        table, moves = jax.lax.scan(step, state.table, allowed)
        count = allowed.sum()
        losses = state.losses.at[state.steps // BLOCK].set(half_square(error(table)))
        return Descent(table, state.steps + count, moves[count - 1], losses)

    def unfinished(state: Descent) -> jax.Array:
        return (state.steps < steps) & ((state.move > tolerance) | (tolerance == 0))

    blocks = -(-steps // BLOCK)
    start = Descent(guess, jnp.zeros((), jnp.int64), jnp.asarray(jnp.inf), jnp.full(blocks, jnp.nan))
    return jax.lax.while_loop(unfinished, block, start)


def half_square(error: jax.Array) -> jax.Array:
    """What a fit lowers: half the mean square of its residuals, over pairs and rows."""
    return 0.5 * (error**2).mean()


@exact()
def nearest_in_simplex(points: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex for each of points [N, K], once."""
    return np.array(_project(points, valid))


def project_on_simplex(points: jax.Array, valid: jax.Array) -> jax.Array:
    """The nearest point of the simplex, in the Euclidean distance, for each of points [N, K]; 0 where not valid."""
    falling = -jnp.sort(jnp.where(valid, -points, jnp.inf), axis=-1)
    ranks = jnp.arange(1, points.shape[-1] + 1)
    excess = jnp.cumsum(jnp.where(jnp.isfinite(falling), falling, 0.0), axis=-1) - 1.0
    kept = (falling * ranks > excess).sum(axis=-1, keepdims=True)
    shift = jnp.take_along_axis(excess, kept - 1, axis=-1) / kept
    return jnp.where(valid, jnp.maximum(points - shift, 0.0), 0.0)


_project = jax.jit(project_on_simplex)


# --- a softmax table P(s' | s, a), trained by sampled gradients ------------------------------------------------------


class Tables(NamedTuple):
    """What the samples are looked up in."""

    allowed: jax.Array  # int [N, K], -1 is padding
    targets: jax.Array  # [N, R]  Q(s, a, row)
    reward: jax.Array  # [R, S]
    ahead: jax.Array  # [R, S]  gamma D
    policy: jax.Array  # [R, S, A]
    q: jax.Array  # [R, S, A]
    backup: jax.Array  # [R, S]


def tables(view: FiniteView, allowed: np.ndarray) -> Tables:
    """What samples of a view are looked up in, with candidates int [N, K] for each pair."""
    ahead = view.discount[:, None] * view.continues
    flat = view.q.reshape(view.rows, -1).T
    arrays = (allowed.astype(np.int32), flat, view.reward, ahead, view.policy, view.q, view.backup)
    return Tables(*(jnp.asarray(array) for array in arrays))


@exact()
def extract(view: FiniteView, train: Callable[[Tables], tuple[jax.Array, jax.Array]], updates: int) -> Extraction:
    """The softmax model that a training of so many updates leaves, as a kernel, and its losses on the way."""
    allowed = candidates(view)
    weights, losses = map(np.array, train(tables(view, allowed)))
    kernel = kernel_of(view, np.where(allowed >= 0, weights, 0.0))
    return conclude(view, kernel, {"updates": updates}, losses[~np.isnan(losses)])


@functools.partial(jax.jit, static_argnames=("steps", "draws", "independent"))
def train_by_scores(
    key: jax.Array, table: Tables, rate: float, steps: int, draws: int, independent: bool = True
) -> tuple[jax.Array, jax.Array]:
    """Probabilities [N, K] after so many updates from two samples each, and losses on the way."""

    def gradient(key: jax.Array, logits: jax.Array) -> jax.Array:
        return score_gradient(key, logits, table, draws, independent)

    return _descend(key, gradient, table, rate, steps)


@functools.partial(jax.jit, static_argnames=("steps", "mirrored"))
def train_by_trials(
    key: jax.Array, table: Tables, rate: float, spread: float, steps: int, mirrored: int
) -> tuple[jax.Array, jax.Array]:
    """Probabilities [N, K] after so many updates from mirrored trials, and losses on the way."""

    def gradient(key: jax.Array, logits: jax.Array) -> jax.Array:
        return trial_gradient(key, logits, table, spread, mirrored)

    return _descend(key, gradient, table, rate, steps)


def _descend(
    key: jax.Array, gradient: Callable[[jax.Array, jax.Array], jax.Array], table: Tables, rate: float, steps: int
) -> tuple[jax.Array, jax.Array]:
    """Adam from the uniform model, with a rate that falls to 0; of the losses [steps], nan where nobody looked."""
    optimiser = optax.adam(optax.linear_schedule(rate, 0.0, steps))
    columns = columns_of(table)
    every = -(-steps // LOOKS)

    def model(logits: jax.Array) -> jax.Array:
        return jax.nn.softmax(masked(logits, table), axis=-1)

    def loss(logits: jax.Array) -> jax.Array:
        return half_square(residuals(columns, model(logits), table))

    def update(state: Any, now: tuple[jax.Array, jax.Array]) -> tuple[Any, jax.Array]:
        logits, memory = state
        number, step_key = now
        change, memory = optimiser.update(gradient(step_key, logits), memory)
        logits = optax.apply_updates(logits, change)
        looks = (number + 1) % every == 0
        return (logits, memory), jax.lax.cond(looks, loss, lambda _: jnp.full((), jnp.nan), logits)

    start = jnp.zeros(table.allowed.shape)
    numbered = (jnp.arange(steps), jax.random.split(key, steps))
    (logits, _), losses = jax.lax.scan(update, (start, optimiser.init(start)), numbered)
    return model(logits), losses


def columns_of(table: Tables) -> jax.Array:
    """What arriving in each candidate is worth, [R, N, K]; 0 in padding."""
    return jnp.where(table.allowed >= 0, table.backup[:, table.allowed], 0.0)


def residuals(columns: jax.Array, model: jax.Array, table: Tables) -> jax.Array:
    """M P - Q of a model [N, K], [N, R]."""
    return jnp.einsum("rnk,nk->nr", columns, model) - table.targets


def masked(logits: jax.Array, table: Tables) -> jax.Array:
    """Logits [N, K], minus infinity in padding."""
    return jnp.where(table.allowed >= 0, logits, -jnp.inf)


def score_gradient(key: jax.Array, logits: jax.Array, table: Tables, draws: int, independent: bool = True) -> jax.Array:
    """An estimate, [N, K], of the gradient of half the mean squared residual over rows.

    It is unbiased where the two samples are independent. With one in both places it is the gradient of half the mean
    squared TD error.
    """
    pairs, rows = table.targets.shape
    chance = jax.random.uniform(key, (5, draws, pairs))  # one call: most of the time to compile goes into these
    row = (chance[0] * rows).astype(jnp.int32)
    model = jax.nn.softmax(masked(logits, table), axis=-1)

    def sample(of_state: jax.Array, of_action: jax.Array) -> tuple[jax.Array, jax.Array]:
        slot = _drawn(of_state, model)
        state = table.allowed[jnp.arange(pairs), slot]
        action = _drawn(of_action, table.policy[row, state])
        value = table.reward[row, state] + table.ahead[row, state] * table.q[row, state, action]
        return slot, value - table.targets[jnp.arange(pairs), row]

    slot, second = sample(chance[1], chance[2])
    first = sample(chance[3], chance[4])[1] if independent else second
    score = jax.nn.one_hot(slot, logits.shape[1]) - model
    return ((first * second)[..., None] * score).mean(axis=0)


def _drawn(chance: jax.Array, probabilities: jax.Array) -> jax.Array:
    """Which of K is drawn, int [B, N], by numbers [B, N] between 0 and 1; probabilities [N, K] or [B, N, K]."""
    below = (chance[..., None] >= jnp.cumsum(probabilities, axis=-1)).sum(axis=-1)
    possible = jnp.where(probabilities > 0, jnp.arange(probabilities.shape[-1]), 0).max(axis=-1)
    return jnp.minimum(below, possible)  # sums may end a last bit below 1


def trial_gradient(key: jax.Array, logits: jax.Array, table: Tables, spread: float, mirrored: int) -> jax.Array:
    """The same gradient [N, K] at logits [N, K] from mirrored trials, every pair judged by its own residual."""
    columns = columns_of(table)

    def loss(trial: jax.Array) -> jax.Array:
        model = jax.nn.softmax(masked(trial, table), axis=-1)
        return 0.5 * (residuals(columns, model, table) ** 2).mean(axis=1)

    def one(noise: jax.Array) -> jax.Array:
        rise = loss(logits + spread * noise) - loss(logits - spread * noise)
        return rise[:, None] * noise / (2.0 * spread)

    return jax.vmap(one)(jax.random.normal(key, (mirrored, *logits.shape))).mean(axis=0)
