"""Gradients of the Bellman residual with respect to a model's weights, one function for each estimator.

Each gives a surrogate, whose gradient is the estimate, and the loss that is shown.

Shapes: N states, d variables, J goals per state (1 or G), K horizons, D draws.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.view import ContinuousView
from wmlab.core.memory import ARRAYS_AT_ONCE, BATCH_BYTES
from wmlab.core.programs import fitting_parts
from wmlab.extraction.continuous.models import NeuralModel, log_density
from wmlab.extraction.continuous.options import FitOptions, HorizonSchedule
from wmlab.extraction.continuous.unroll import blurred, returns

held = jax.lax.stop_gradient


class Batch(NamedTuple):
    """What one update is fitted to."""

    state: Array  # [N, d]
    action: Array  # int [N], or components [N, k] of actions from a box
    goal: Array  # int [N, J]
    target: Array  # [N, J]: Q(s, a, g)


def draw(view: ContinuousView, options: FitOptions, key: Array) -> Batch:
    """States of the view's choice, each with a random action, and with one random goal or all."""
    state_key, action_key, goal_key = jax.random.split(key, 3)
    count = options.batch
    state = view.sample(state_key, count)
    if options.goals == "all" or view.goals == 1:
        goal = view.all_goals(count)
    else:
        goal = jax.random.randint(goal_key, (count, 1), 0, view.goals)
    action = drawn_actions(view, options, action_key, state, goal)
    return Batch(state, action, goal, view.value_at(state, action, goal))


def drawn_actions(view: ContinuousView, options: FitOptions, key: Array, state: Array, goal: Array) -> Array:
    """An action for each state [N, d]: any, or of a box one around what the agent does for a goal of [N, J]."""
    if view.controls is None or options.actions == "anywhere":
        return view.any_action(key, state.shape[0])
    goal_key, act_key, noise_key = jax.random.split(key, 3)
    if goal.shape[1] > 1:
        goal = jax.random.randint(goal_key, (state.shape[0], 1), 0, view.goals)
    return view.controls.around(noise_key, view.choose(act_key, state, goal), options.around)


def wanted(options: FitOptions, update: Array) -> Array:
    """The horizons that an update is fitted at, bool [K]: entry k - 1 is a horizon of k steps."""
    lengths = jnp.arange(1, options.reach + 1)
    horizon = options.horizon
    if isinstance(horizon, HorizonSchedule):
        stages = abs(horizon.to - horizon.from_) + 1
        stage = jnp.minimum((update * stages) // max(1, round(horizon.over * options.steps)), stages - 1)
        now = horizon.from_ + stage * (1 if horizon.to >= horizon.from_ else -1)
        return (lengths == now) | jnp.isin(lengths, jnp.array([*horizon.beside], int))
    return jnp.isin(lengths, jnp.array([horizon] if isinstance(horizon, int) else [*horizon]))


def objective(
    model: NeuralModel, view: ContinuousView, options: FitOptions, key: Array, update: Array
) -> tuple[Array, Array]:
    """The surrogate [] and the loss [] of an update, int []; in parts, where its states do not fit into a batch."""
    parts = parts_of(model, view, options, key, update)
    if parts == 1:
        return of_states(model, view, options, key, update)
    part = dataclasses.replace(options, batch=options.batch // parts)

    @jax.checkpoint  # what a part leaves on its way is computed again for its gradient, and not kept beside the others'
    def of_part(key: Array) -> tuple[Array, Array]:
        return of_states(model, view, part, key, update)

    surrogate, loss = jax.lax.map(of_part, jax.random.split(key, parts))
    return surrogate.mean(), loss.mean()


def parts_of(model: NeuralModel, view: ContinuousView, options: FitOptions, key: Array, update: Array) -> int:
    """In how many equal parts an update is computed: one, wherever all of its states fit into a batch."""
    widest = max((leaf.shape[-1] for leaf in jax.tree.leaves(view) if leaf.ndim > 1), default=1)
    goals = view.goals if options.goals == "all" else 1
    each = max(goals * widest, view.goals * view.actions)  # numbers that the agent's values take in a state, at most
    few = 4 * options.batch * 2 * options.draws * view.beside * each <= BATCH_BYTES
    listed = view.controls is None
    if few and listed:
        return 1  # by far: no need to look closer

    def program(count: int) -> Any:
        part = dataclasses.replace(options, batch=view.beside * count)

        def loss_of(weights: Any) -> Array:
            return of_states(dataclasses.replace(model, weights=weights), view, part, key, update)[0]

        return jax.make_jaxpr(jax.grad(loss_of))(model.weights)

    # A gradient holds what each of many critics left on its way. Where there is one network it is cut by its largest
    # array alone, as it always was: in other parts the last bits of a result are others.
    return fitting_parts(program, options.batch, None if listed else ARRAYS_AT_ONCE * BATCH_BYTES)


def of_states(
    model: NeuralModel, view: ContinuousView, options: FitOptions, key: Array, update: Array
) -> tuple[Array, Array]:
    """The surrogate [] and the loss [] of an update at all of its states together."""
    draw_key, estimate_key = jax.random.split(key)
    batch = draw(view, options, draw_key)
    if options.estimator == "score":
        return score_function(model, view, options, estimate_key, batch)
    if options.estimator == "evolution":
        return evolution(model, view, options, estimate_key, batch)
    chance = view.policy == "uniform" and options.reach > 1  # actions are drawn along the way
    if model.stochastic or chance:
        return reparameterised(model, view, options, estimate_key, batch, wanted(options, update))
    return deterministic(model, view, options, estimate_key, batch, wanted(options, update))


def deterministic(
    model: NeuralModel, view: ContinuousView, options: FitOptions, key: Array, batch: Batch, horizons: Array
) -> tuple[Array, Array]:
    """The gradient through rewards and values at the predicted states, or around them; `horizons` are bool [K]."""
    slopes = view
    if options.blur:
        slopes = blurred(view, jax.random.fold_in(key, 0), options.blur, options.draws)
    after = model.predict(batch.state, batch.action)
    unrolled = returns(view, model.sample, key, after, batch.goal, horizons, slopes)  # [K, N, J]
    loss = _over_horizons(size(options, unrolled - batch.target), horizons)
    return loss, loss


def reparameterised(
    model: NeuralModel, view: ContinuousView, options: FitOptions, key: Array, batch: Batch, horizons: Array
) -> tuple[Array, Array]:
    """The gradient through next states that are drawn, from two independent sets; `horizons` are bool [K]."""
    draw_key, walk_key = jax.random.split(key)
    after = model.samples(draw_key, batch.state, batch.action, 2 * options.draws)  # [2 D, N, d]
    goal = jnp.tile(batch.goal, (2 * options.draws, 1))
    flat = after.reshape(-1, model.frame.size)
    unrolled = returns(view, model.sample, walk_key, flat, goal, horizons)  # [K, 2 D N, J]
    error = unrolled.reshape(len(horizons), 2, options.draws, *batch.target.shape) - batch.target
    first, second = error.mean(axis=2)[:, 0], error.mean(axis=2)[:, 1]  # [K, N, J]
    if not options.independent:
        first = second
    surrogate = _over_horizons(paired(options, first, second), horizons)
    return surrogate, _over_horizons(size(options, 0.5 * (first + second)), horizons)


def score_function(
    model: NeuralModel, view: ContinuousView, options: FitOptions, key: Array, batch: Batch
) -> tuple[Array, Array]:
    """Algorithm 1: the residual of one sample times that of another, times the gradient of its log-density.

    The agent's next action enters by its expectation, which is exact. Several draws are averaged in each set.
    """
    mean, sd = model.moments(batch.state, batch.action)
    if sd is None:
        raise ValueError("the score function needs a stochastic model")
    noise = jax.random.normal(key, (2 * options.draws, *mean.shape))
    value = held(mean + sd * noise)  # [2 D, N, d]
    flat = model.settle(value).reshape(-1, mean.shape[1])
    goal = jnp.tile(batch.goal, (2 * options.draws, 1))
    error = view.backup(flat, goal).reshape(2, options.draws, *batch.target.shape) - batch.target  # [2, D, N, J]
    error = held(error)
    density = log_density(value, mean, sd).reshape(2, options.draws, -1)  # [2, D, N]
    other = slope(options, error.mean(axis=1))[:: -1 if options.independent else 1, None]  # of a set, [2, 1, N, J]
    surrogate = ((other * error).mean(axis=-1) * density).mean()
    return surrogate, size(options, error.mean(axis=(0, 1))).mean()


def evolution(
    model: NeuralModel, view: ContinuousView, options: FitOptions, key: Array, batch: Batch
) -> tuple[Array, Array]:
    """Evolution strategies around the predicted state: rewards and values are only ever evaluated.

    Mirrored trials give the gradient of the smoothed loss with respect to the predicted state, and the model's own
    gradient, which always exists, takes it to the weights.
    """
    mean, _ = model.moments(batch.state, batch.action)
    step = options.spread * model.frame.span
    noise = jax.random.normal(key, (options.draws, *mean.shape))
    trials = held(mean) + step * jnp.stack([noise, -noise])  # [2, D, N, d]
    flat = model.settle(trials).reshape(-1, mean.shape[1])
    goal = jnp.tile(batch.goal, (2 * options.draws, 1))
    error = held(view.backup(flat, goal)).reshape(2, options.draws, *batch.target.shape) - batch.target
    loss = size(options, error).mean(axis=-1)  # [2, D, N]
    pull = ((loss[0] - loss[1])[..., None] * noise / (2 * step)).mean(axis=0)  # [N, d]
    return (held(pull) * mean).sum(axis=-1).mean(), loss.mean()


def _over_horizons(loss: Array, horizons: Array) -> Array:
    """The mean over horizons that are wanted, of losses [K, N, J]."""
    return (loss.mean(axis=(1, 2)) * horizons).sum() / horizons.sum()


# --- the size of a residual --------------------------------------------------------------------------------------


def size(options: FitOptions, error: Array) -> Array:
    """The loss [...] of each residual [...]; l2 is half its square, as in the Bellman residual."""
    if options.loss == "l1":
        return jnp.abs(error)
    if options.loss == "l2":
        return 0.5 * error**2
    inside = jnp.minimum(jnp.abs(error), options.huber)
    return inside * (jnp.abs(error) - 0.5 * inside) / options.huber


def slope(options: FitOptions, error: Array) -> Array:
    """The derivative [...] of `size` at residuals [...]."""
    if options.loss == "l1":
        return jnp.sign(error)
    if options.loss == "l2":
        return error
    return jnp.clip(error / options.huber, -1.0, 1.0)


def paired(options: FitOptions, first: Array, second: Array) -> Array:
    """A surrogate [...] whose gradient is the slope at one estimate of a residual times the gradient of the other.

    The two estimates are independent: with one of them in both places the gradient would also shrink the variance
    of the samples. For l2 its expectation is the gradient of half the squared mean residual.
    """
    return 0.5 * (held(slope(options, first)) * second + held(slope(options, second)) * first)
