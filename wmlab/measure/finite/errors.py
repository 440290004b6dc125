"""Errors of models and values in a finite world.

Each function gives metrics by name: `{"wm.mse": {"value": 0.1, "by": {"action": {"up": 0.2, …}}}}`.

Shapes: R rows (goal x discount x policy), S states, A actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wmlab.core.finite.space import FiniteSpace
from wmlab.extraction.residuals import explained_share
from wmlab.measure.finite.context import FiniteContext, FinitePair, differences, starts_of
from wmlab.planning.finite.values import optimal_values
from wmlab.registry.metrics import Measured


def model_error(context: FiniteContext) -> Measured:
    """How far a model is from the world.

    wm.mse: mean over s, a, s' of the squared difference of probabilities. wm.tv: mean over s, a of half the l1
    distance (`by.max`: the greatest). wm.l1_max: the greatest l1 distance over s, a.
    """
    squared, absolute = context.differences
    space = context.truth.space
    worst = divmod(int(absolute.argmax()), absolute.shape[1])
    return {
        "wm.mse": _mse(squared, space),
        "wm.tv": _tv(absolute, space),
        "wm.l1_max": {
            "value": float(absolute.max()),
            "by": {"at": f"{space.names[int(worst[0])]} {space.actions[worst[1]]}"},
        },
    }


def comparison(pair: FinitePair) -> Measured:
    """The distance between two models, mse or tv."""
    squared, absolute = differences(pair.other, pair.model)
    distance = pair.asked.distance
    return {distance: _mse(squared, pair.space) if distance == "mse" else _tv(absolute, pair.space)}


def _mse(squared: np.ndarray, space: FiniteSpace) -> dict[str, Any]:
    mse = squared / space.size
    return {"value": float(mse.mean()), "by": {"action": _by_action(mse, space)}}


def _tv(absolute: np.ndarray, space: FiniteSpace) -> dict[str, Any]:
    by = {"max": float(absolute.max() / 2), "action": _by_action(absolute / 2, space)}
    return {"value": float(absolute.mean() / 2), "by": by}


def value_error(context: FiniteContext) -> Measured:
    """How far the agent's values are from exact ones in the true world.

    q.max_error: the greatest |Q - Q*|. q.nmse: mean squared error against Q^pi of the agent's own policy, over the
    variance of that Q^pi. q.l1_max: the greatest over s, a of the l1 distance to Q^pi, over all rows.
    """
    view, labels = context.view, context.labels
    _, best = optimal_values(context.truth.kernel, view.reward, view.continues, view.discount)
    own = context.own_values
    gap = view.q - own
    off = np.abs(view.q - best).max(axis=(1, 2))
    nmse: dict[str, Any] = {"value": _ratio(float((gap**2).mean()), float(own.var()))}
    worst: dict[str, Any] = {"value": float(off.max())}
    if labels is not None:
        apart = zip((gap**2).mean(axis=(1, 2)), own.var(axis=(1, 2)), strict=True)
        nmse["by"] = {"goal": {name: _ratio(*map(float, pair)) for name, pair in zip(labels, apart, strict=True)}}
        worst["by"] = {"goal": {name: float(error) for name, error in zip(labels, off, strict=True)}}
    return {"q.max_error": worst, "q.nmse": nmse, "q.l1_max": {"value": context.l1_error}}


def fit(context: FiniteContext) -> Measured:
    """The Bellman residual |M P - Q| that a model leaves: mean, root mean square, greatest. It needs no truth."""
    assert context.model is not None
    residual = np.abs(context.model.expect(context.view.backup) - context.view.q)
    still = np.abs(context.view.backup[:, :, None] - context.view.q)  # of a model in which nothing moves
    return {
        "fit.residual": {"value": float(residual.mean())},
        "fit.explained": {"value": explained_share(float(residual.mean()), float(still.mean()))},
        "fit.residual_rms": {"value": float(np.sqrt((residual**2).mean()))},
        "fit.residual_max": {"value": float(residual.max())},
    }


def agent_return(context: FiniteContext) -> Measured:
    """agent.return: the mean over rows and starts of the policy's discounted return in the true world, exactly.

    Starts are uniform, or the world's resets; states that end the episode of a goal are no starts for it.
    """
    each = returns_of(context, context.view.policy, context.own_values)
    gained: dict[str, Any] = {"value": _known_mean(each)}
    if context.labels is not None:
        gained["by"] = {"goal": {name: float(one) for name, one in zip(context.labels, each, strict=True)}}
    return {"agent.return": gained}


def returns_of(context: FiniteContext, policy: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mean return [R] over starts of a policy [R, S, A] with these values [R, S, A]; NaN where none is a start."""
    world, asked = context.truth, context.asked.return_
    assert asked is not None
    starts = starts_of(asked.starts, world)
    value = (policy * values).sum(axis=-1)
    weights = (np.ones(world.kernel.size) if starts is None else starts) * context.view.continues
    total = weights.sum(axis=-1)
    return np.where(total > 0, (weights * value).sum(axis=-1) / np.where(total > 0, total, 1.0), np.nan)


def _known_mean(each: np.ndarray) -> float | None:
    return float(np.nanmean(each)) if np.isfinite(each).any() else None


def _ratio(error: float, variance: float) -> float | None:
    """An error over a variance; none where nothing varies and yet there is an error."""
    return error / variance if variance > 0 else (0.0 if error == 0 else None)


def _by_action(errors: np.ndarray, space: FiniteSpace) -> dict[str, float]:
    return {name: float(error) for name, error in zip(space.actions, errors.mean(axis=0), strict=True)}
