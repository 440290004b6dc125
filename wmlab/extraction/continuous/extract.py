"""P-learning from a view to a model, with how well it fits.

Shapes: N states, d variables, A actions, G goals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from wmlab.core.continuous.view import ContinuousView
from wmlab.core.randomness import jax_key
from wmlab.core.training import Hooks
from wmlab.errors import StageError
from wmlab.extraction.continuous import estimators, residual
from wmlab.extraction.continuous.fit import descend
from wmlab.extraction.continuous.models import NeuralModel, WorldModel, fresh
from wmlab.extraction.continuous.options import FitOptions


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
        """The model's arrays by name."""
        return {name: np.asarray(array) for name, array in self.model.weights.items()}


def extract(view: ContinuousView, options: FitOptions, seed: int, **hooks: Any) -> NeuralExtraction:
    """Fit a fresh model. A seed fixes every bit of the result, also where the fit was interrupted."""
    require_values(view, seed)
    model = fresh_model(view, options, seed)
    key = jax.random.key_data(jax_key(seed, "p-learning"))
    model, curve = descend(estimators.objective, view, model, options, key, Hooks(**hooks))
    return conclude(view, model, curve, seed, {"updates": options.steps})


def fresh_model(view: ContinuousView, options: FitOptions, seed: int) -> NeuralModel:
    return _fresh(jax_key(seed, "first weights of the model"), view.frame, view.actions, options.model)


_fresh = jax.jit(fresh, static_argnums=(2, 3))


def conclude(
    view: ContinuousView, model: WorldModel, curve: np.ndarray, seed: int, notes: dict[str, Any]
) -> NeuralExtraction:
    """The record for a fitted model; `curve` [C] is the mean loss of each chunk of updates."""
    states = residual.held_out(view, seed)
    errors = residual.explained(view, model, states, seed)
    summary = {"residual": float(np.abs(errors).mean()), "residual_max": float(np.abs(errors).max())}
    by_goal = [float(size) for size in np.abs(errors).mean(axis=(0, 1))]
    return NeuralExtraction(model, curve, np.asarray(states), errors, {**notes, **summary, "residual_by_goal": by_goal})


def require_values(view: ContinuousView, seed: int) -> None:
    """Stops at the first value that is no number, by its place."""
    states = residual.held_out(view, seed, 256)
    values = np.asarray(_values(view, states))
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        state, goal, action = (int(index) for index in bad[0])
        place = ", ".join(f"{number:.4g}" for number in np.asarray(states[state]))
        raise StageError(
            f"Q is {values[state, goal, action]} at state ({place}), goal {goal}, action {action}"
            f" ({len(bad)} of {values.size} entries are not finite)"
        )


_values = jax.jit(lambda view, states: view.values(states))
