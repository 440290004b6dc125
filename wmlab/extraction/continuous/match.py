"""Matched next states as a model: on a grid, or in a network that is fitted to them and polished by gradient.

Shapes: N states, d variables, A actions, G goals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from wmlab.core.continuous.view import ContinuousView
from wmlab.core.randomness import jax_key
from wmlab.errors import StageError
from wmlab.extraction.continuous import estimators, losses
from wmlab.extraction.continuous.extract import NeuralExtraction, conclude, fresh_model, require_values
from wmlab.extraction.continuous.fit import Hooks, descend
from wmlab.extraction.continuous.grids import GridModel, nodes
from wmlab.extraction.continuous.models import NeuralModel
from wmlab.extraction.continuous.residual import sample
from wmlab.extraction.continuous.search import find
from wmlab.extraction.matching import Options

MOST = 2_000_000  # points of a grid whose successors are searched for


def match(view: ContinuousView, options: Options, seed: int, **hooks: Any) -> NeuralExtraction:
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


class Matched(NamedTuple):
    """States whose successors have been found."""

    states: Array  # [N, d]
    after: Array  # [N, A, d]


def _by_network(view: ContinuousView, options: Options, seed: int, hooks: Hooks) -> NeuralExtraction:
    states = sample(view, jax_key(seed, "states to match"), options.samples)
    after, gap = find(view, states, options.search)
    model = fresh_model(view, options, seed)
    notes = {"updates": options.steps, "polish": options.polish, "match": float(gap.mean())}
    first, second = _halves(hooks, options)
    if second is None or second.resume is None:
        key = jax.random.key_data(jax_key(seed, "fit to matched states"))
        model, curve = descend(regression, Matched(states, after), model, options, key, first)
    if second is not None:
        key = jax.random.key_data(jax_key(seed, "polish of matched states"))
        slower = dataclasses.replace(options.optimiser, rate=options.polish_rate)
        gradient = dataclasses.replace(options, steps=options.polish, optimiser=slower)
        model, curve = descend(estimators.objective, view, model, gradient, key, second)
    return conclude(view, model, curve, seed, notes)


def regression(model: NeuralModel, data: Matched, options: Options, key: Array, update: Array) -> tuple[Array, Array]:
    """The distance of a model's next states from the matched ones, in units of the ranges."""
    state_key, action_key = jax.random.split(key)
    index = jax.random.randint(state_key, (options.batch,), 0, data.states.shape[0])
    action = jax.random.randint(action_key, (options.batch,), 0, model.actions)
    state, after = data.states[index], data.after[index, action]
    gap = model.frame.difference(model.predict(state, action), after) / model.frame.span
    loss = losses.size(options, gap).mean()
    return loss, loss


def _halves(hooks: Hooks, fit: Options) -> tuple[Hooks, Hooks | None]:
    """The hooks of the fit, and those of the polish if there is one: progress and partial results run through both."""
    total = fit.steps + fit.polish
    resume = hooks.resume
    polishing = resume is not None and "polishing" in resume

    def shifted(by: int) -> Callable[[int, int, str], None] | None:
        progress = hooks.progress
        return None if progress is None else lambda done, _, note: progress(by + done, total, note)

    def marked(arrays: Mapping[str, np.ndarray]) -> None:
        if hooks.save:
            hooks.save({**arrays, "polishing": np.array(1)})

    first = dataclasses.replace(hooks, progress=shifted(0), resume=None if polishing else resume)
    if not fit.polish:
        return first, None
    save = marked if hooks.save else None
    return first, dataclasses.replace(
        hooks, progress=shifted(fit.steps), save=save, resume=resume if polishing else None
    )
