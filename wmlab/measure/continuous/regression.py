"""A model fitted to transitions: what the data that an agent saw could have given, without its values.

It has the form of the extracted model, and as many updates on batches as large; rates that are to be found it finds by
itself. A normal model is fitted by its
likelihood, any other by squared errors in units of how much each variable moves.

Shapes: M transitions, N of a batch, d variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.view import ContinuousView, Frame
from wmlab.core.randomness import jax_key
from wmlab.core.training import Hooks
from wmlab.extraction.continuous.fit import NeuralExtraction, begin, conclude, descend, fresh_model
from wmlab.extraction.continuous.models import NeuralModel, log_density
from wmlab.extraction.continuous.options import FitOptions
from wmlab.extraction.continuous.rates import read_with_rates
from wmlab.measure.continuous.context import ContinuousContext
from wmlab.measure.continuous.logged import errors_in_log, logged_moves, standing_still_in_log
from wmlab.measure.continuous.model_error import errors_of, standing_still
from wmlab.registry.metrics import Measured

LEAST = 1e-6  # of a range: less than this counts as no motion at all


class SeenTransitions(NamedTuple):
    """Transitions, and how much each variable moves in them."""

    state: Array  # [M, d]
    action: Array  # int32 [M]
    after: Array  # [M, d]
    scale: Array  # [d]: root mean square of the moves

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], frame: Frame) -> SeenTransitions:
        """Transitions `state`, `action` and `after`, as a training keeps them."""
        state, action, after = (jnp.asarray(arrays[name]) for name in ("state", "action", "after"))
        moved = jnp.sqrt((frame.difference(after, state) ** 2).mean(axis=0))
        return cls(state, action, after, jnp.maximum(moved, LEAST * frame.span))


def regress(
    view: ContinuousView, transitions: Mapping[str, np.ndarray], options: FitOptions, seed: int, **hooks: Any
) -> NeuralExtraction:
    """A model of the transitions; of the agent's values it knows nothing, and is held against them in the end."""
    seen = SeenTransitions.of(transitions, view.frame)

    def read(view: ContinuousView, options: FitOptions, seed: int, **hooks: Any) -> NeuralExtraction:
        key = jax.random.key_data(jax_key(seed, "fit to transitions"))
        state = begin(fresh_model(view, options, seed), options, key)
        model, curve = descend(distance, seen, state, options, Hooks(**hooks))
        return conclude(view, model, curve, seed, {"updates": options.steps, "transitions": len(seen.action)})

    return read_with_rates(read, view, options, seed, **hooks)


def distance(
    model: NeuralModel, seen: SeenTransitions, options: FitOptions, key: Array, update: Array
) -> tuple[Array, Array]:
    """How far a model is from a batch of transitions, twice: it is differentiated as it is."""
    index = jax.random.randint(key, (options.batch,), 0, seen.action.shape[0])
    state, action, after = seen.state[index], seen.action[index], seen.after[index]
    mean, sd = model.moments(state, action)
    gap = model.frame.difference(after, mean) / seen.scale  # [N, d]
    sizes = 0.5 * gap**2 if sd is None else -log_density(gap, jnp.zeros_like(gap), sd / seen.scale)
    loss = sizes.mean()
    return loss, loss


def regression_error(context: ContinuousContext) -> Measured:
    """wm.regression_*: the errors of the model of the data, where those of the extracted model are taken.
    wm.identity_delta_nmse: and of one in which nothing moves."""
    regressed = context.regressed
    assert regressed is not None
    if context.against_data:
        moves = logged_moves(context.agent.space, regressed, context.held_out)
        errors, still = errors_in_log(moves), standing_still_in_log(moves)
    else:
        errors, still = errors_of(context.sampled_of(regressed)), standing_still(context.sampled)
    made = {f"wm.regression_{name}": errors[f"wm.{name}"] for name in ("nmse", "delta_nmse", "delta_nmse_interior")}
    return made | {"wm.identity_delta_nmse": {"value": still}}
