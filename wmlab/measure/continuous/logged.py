"""A model, an agent's values and its rewards, held against logged transitions.

Every transition counts once, whichever action it is of; an error is a squared difference, on the circle where a
variable is periodic. What was logged is what happened: where chance had a hand in it, no model is without error.

Shapes: n transitions, d state variables, D variables with derived ones, A actions, G goals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.goals import ContinuousGoals
from wmlab.core.continuous.log import Log
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import map_in_batches
from wmlab.measure.continuous.moves import mean_of, over, touches
from wmlab.registry.metrics import Measured

ROWS = 4096  # transitions that are looked at together, at most


@dataclass(frozen=True, eq=False)
class LoggedMoves:
    """What happened in transitions, and what a model makes of the same states and actions."""

    space: ContinuousSpace
    states: np.ndarray  # [n, d]
    action: np.ndarray  # int [n]
    truth: np.ndarray  # float64 [n, D] displacements
    after: np.ndarray  # float64 [n, D] next states
    gap: np.ndarray  # float64 [n, D] model minus truth
    interior: np.ndarray  # bool [n] the next state touches no bound


def logged_moves(space: ContinuousSpace, model: Dynamics, log: Log) -> LoggedMoves:
    """A model beside what was logged; of a stochastic one, without its noise."""
    guess = np.asarray(_predicted(model, jnp.asarray(log.state), jnp.asarray(log.action)), np.float64)
    here, after, predicted = (space.full(np.asarray(part, np.float64)) for part in (log.state, log.after, guess))
    return LoggedMoves(
        space,
        log.state,
        log.action,
        space.difference(after, here),
        after,
        space.difference(predicted, after),
        ~touches(space, after),
    )


@jax.jit
def _predicted(model: Dynamics, states: Array, actions: Array) -> Array:
    return model.step(states, actions, jnp.zeros((states.shape[0], model.noise)))


def errors_in_log(moves: LoggedMoves) -> Measured:
    """wm.*: the same errors as against a world, over the transitions of a log."""
    squared, still, inside = moves.gap**2, moves.truth**2, moves.interior
    spread, moved = moves.after.var(axis=0), moves.truth.var(axis=0)
    moved_inside = moves.truth[inside].var(axis=0) if inside.any() else np.full(len(moved), np.nan)
    everywhere = np.ones(len(inside), bool)
    return {
        "wm.nmse": _metric(moves, squared, spread, everywhere),
        "wm.identity_nmse": _metric(moves, still, spread, everywhere),
        "wm.delta_nmse": _metric(moves, squared, moved, everywhere),
        "wm.delta_nmse_interior": _metric(moves, squared, moved_inside, inside),
        "wm.mse": _metric(moves, squared, np.ones(len(moved)), everywhere),
    }


def _metric(moves: LoggedMoves, squared: np.ndarray, variance: np.ndarray, kept: np.ndarray) -> dict[str, Any]:
    """Squared errors [n, D] over variances [D], mean over the transitions that are kept and over variables."""
    names = [variable.name for variable in moves.space.everything]
    each = over(squared[kept].mean(axis=0), variance) if kept.any() else np.full(len(names), np.nan)  # [D]
    rows = {name: kept & (moves.action == number) for number, name in enumerate(moves.space.actions)}
    action = {
        name: mean_of(over(squared[some].mean(axis=0), variance)) if some.any() else None for name, some in rows.items()
    }
    dimension = {name: mean_of(each[column : column + 1]) for column, name in enumerate(names)}
    return {"value": mean_of(each), "by": {"dimension": dimension, "action": action}}


def standing_still_in_log(moves: LoggedMoves) -> float | None:
    """wm.delta_nmse of a model in which nothing ever moves."""
    return mean_of(over((moves.truth**2).mean(axis=0), moves.truth.var(axis=0)))


def error_by_transition(moves: LoggedMoves) -> np.ndarray:
    """Squared error of displacements over their variance, mean over variables: [n]."""
    mean: np.ndarray = over(moves.gap**2, moves.truth.var(axis=0)).mean(axis=-1)
    return mean


# --- the agent's own values, and what its goals pay ---------------------------------------------------------------


def td_errors(view: ContinuousView, log: Log) -> np.ndarray:
    """M(s', g) - Q(s, a, g) in logged transitions, float64 [n, G]."""
    parts = (jnp.asarray(log.state), jnp.asarray(log.action), jnp.asarray(log.after))
    return np.asarray(_td_errors(view, parts), np.float64)


@jax.jit
def _td_errors(view: ContinuousView, transitions: tuple[Array, Array, Array]) -> Array:
    def one(transition: tuple[Array, Array, Array]) -> Array:
        state, action, after = transition
        return view.backup(after[None], view.all_goals(1))[0] - view.values(state[None])[0, :, action]

    return map_in_batches(one, transitions, ROWS)


def reward_errors(goals: ContinuousGoals, log: Log) -> np.ndarray:
    """What goals pay in logged transitions less what was paid, float64 [n]."""
    assert log.goal is not None and log.reward is not None
    paid = _rewards(goals, jnp.asarray(log.after), jnp.asarray(log.goal))
    return np.asarray(paid, np.float64) - log.reward


@jax.jit
def _rewards(goals: ContinuousGoals, after: Array, wanted: Array) -> Array:
    return jax.vmap(lambda state, features: goals.reward_of(state, features)[0])(after, wanted)
