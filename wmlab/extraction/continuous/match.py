"""Matched next states as a model: on a grid, or in a network that is fitted to them and polished by gradient.

Shapes: N states, d variables, A actions, G goals, C candidates, B of them that are followed up.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.controls import cloud
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import fitting_batch
from wmlab.core.randomness import jax_key
from wmlab.core.training import Hooks
from wmlab.errors import StageError
from wmlab.extraction.continuous import estimators
from wmlab.extraction.continuous.fit import (
    NeuralExtraction,
    begin,
    conclude,
    descend,
    fresh_model,
    require_values,
    sample,
)
from wmlab.extraction.continuous.match_options import MatchOptions, Search
from wmlab.extraction.continuous.models import GridModel, NeuralModel, nodes

ROWS = 65_536  # candidates whose values are asked for together, at most
CLEARLY = 0.5  # the part of a gap that a wider search may leave at most
POLISHING = "polishing"  # among partial results of the polish
MOST = 2_000_000  # points of a grid whose successors are searched for


def match(view: ContinuousView, options: MatchOptions, seed: int, **hooks: Any) -> NeuralExtraction:
    """Search for next states, and make a model of them."""
    require_values(view, seed)
    if options.store == "network":
        return _by_network(view, options, seed, Hooks(**hooks))
    points = options.grid**view.frame.size
    if points > MOST:
        raise StageError(
            f"a grid of {options.grid} points along {view.frame.size} variables has {points} points; at most {MOST}"
        )
    states = nodes(view.frame, options.grid)
    after, gap = find(view, states, options.search)
    change = view.frame.difference(after, states[:, None]) / view.frame.span
    model = GridModel({"change": change}, view.frame, view.actions, options.grid, options.between)
    return conclude(view, model, np.zeros(0), seed, {"grid": options.grid, "match": float(gap.mean())})


class MatchedStates(NamedTuple):
    """States whose successors have been found."""

    states: Array  # [N, d]
    after: Array  # [N, A, d]


def _by_network(view: ContinuousView, options: MatchOptions, seed: int, hooks: Hooks) -> NeuralExtraction:
    states = sample(view, jax_key(seed, "states to match"), options.samples)
    after, gap = find(view, states, options.search)
    model = fresh_model(view, options, seed)
    notes = {"updates": options.steps, "polish": options.polish, "match": float(gap.mean())}
    total, polishing = options.steps + options.polish, hooks.resume is not None and POLISHING in hooks.resume
    if not polishing:
        key, first = jax.random.key_data(jax_key(seed, "fit to matched states")), Hooks(**hooks.part(0, total))
        model, curve = descend(regression, MatchedStates(states, after), begin(model, options, key), options, first)
    if options.polish:
        key = jax.random.key_data(jax_key(seed, "polish of matched states"))
        slower = dataclasses.replace(options.optimiser, rate=options.polish_rate)
        gradient = dataclasses.replace(options, steps=options.polish, optimiser=slower)
        second = Hooks(**hooks.part(options.steps, total, {POLISHING: np.array(1)}, polishing))
        model, curve = descend(estimators.objective, view, begin(model, gradient, key), gradient, second)
    return conclude(view, model, curve, seed, notes)


def regression(
    model: NeuralModel, data: MatchedStates, options: MatchOptions, key: Array, update: Array
) -> tuple[Array, Array]:
    """The distance of a model's next states from the matched ones, in units of the ranges."""
    state_key, action_key = jax.random.split(key)
    index = jax.random.randint(state_key, (options.batch,), 0, data.states.shape[0])
    action = jax.random.randint(action_key, (options.batch,), 0, model.actions)
    state, after = data.states[index], data.after[index, action]
    gap = model.frame.difference(model.predict(state, action), after) / model.frame.span
    loss = estimators.size(options, gap).mean()
    return loss, loss


# --- the search: candidates around a state, then around the best of them, and so on -------------------------------


def find(view: ContinuousView, states: Array, search: Search) -> tuple[Array, Array]:
    """For states [N, d] the best next states [N, A, d] found, and how far M there is from Q, [N, A].

    A wider search replaces what a nearer one found only where it leaves less than `CLEARLY` of the gap: many far states
    look alike in a few values, and an action seldom leads far.
    """
    near, *wider = [_within(view, states, search, radius) for radius in search.radii]
    after, gap = near
    for further, less in wider:
        better = less < CLEARLY * gap
        after, gap = jnp.where(better[..., None], further, after), jnp.where(better, less, gap)
    return after, gap


def _within(view: ContinuousView, states: Array, search: Search, radius: float) -> tuple[Array, Array]:
    """The same with one radius, in batches."""
    search = dataclasses.replace(search, radius=radius)

    def batch_of(size: int) -> Any:
        return jax.make_jaxpr(partial(_find, search=search))(
            view, jax.ShapeDtypeStruct((size, states.shape[1]), states.dtype)
        )

    rows = fitting_batch(batch_of, max(1, ROWS // (search.candidates * view.actions)))
    count = states.shape[0]
    padded = jnp.pad(states, ((0, -count % rows), (0, 0)), mode="edge")
    parts = [_find(view, part, search) for part in jnp.split(padded, len(padded) // rows)]
    after, distance = (jnp.concatenate(batches)[:count] for batches in zip(*parts, strict=True))
    return after, distance


@partial(jax.jit, static_argnames="search")
def _find(view: ContinuousView, states: Array, search: Search) -> tuple[Array, Array]:
    """One batch. The first round's candidates are common to all actions."""
    target = jnp.swapaxes(view.values(states), 1, 2)  # [N, A, G]
    (radius,) = search.radii
    offsets = radius * cloud(search.candidates, view.frame.size)
    near = view.frame.confine(states[:, None] + jnp.asarray(offsets, jnp.float32) * view.frame.span)  # [N, C, d]
    gaps = _distance(backups(view, near)[:, None], target[:, :, None], search)  # [N, A, C]
    near = jnp.broadcast_to(near[:, None], (*gaps.shape, view.frame.size))
    best, gap = _best(near, gaps, search.beam)
    local = cloud(search.candidates // search.beam, view.frame.size)
    for turn in range(1, search.rounds):
        step = jnp.asarray(radius * search.shrink**turn * local, jnp.float32) * view.frame.span
        near = view.frame.confine(best[:, :, :, None] + step)  # [N, A, B, C / B, d]
        near = near.reshape(*near.shape[:2], -1, near.shape[-1])
        best, gap = _best(near, _distance(backups(view, near), target[:, :, None], search), search.beam)
    return best[:, :, 0], gap[:, :, 0]


def backups(view: ContinuousView, states: Array) -> Array:
    """M [..., G] of states [..., d]."""
    flat = states.reshape(-1, states.shape[-1])
    return view.backup(flat, view.all_goals(flat.shape[0])).reshape(*states.shape[:-1], -1)


def _distance(backup: Array, target: Array, search: Search) -> Array:
    gap = backup - target
    return jnp.abs(gap).sum(axis=-1) if search.norm == "l1" else jnp.sqrt((gap**2).sum(axis=-1))


def _best(near: Array, gaps: Array, count: int) -> tuple[Array, Array]:
    """The candidates [..., C, d] of least gap [..., C], the best first; of equals the one nearer to its centre."""
    gap, index = jax.lax.top_k(-gaps, count)
    return jnp.take_along_axis(near, index[..., None], axis=-2), -gap
