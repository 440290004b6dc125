"""Errors of models and values in a finite world.

Each function gives metrics by name: `{"wm.mse": {"value": 0.1, "by": {"action": {"up": 0.2, …}}}}`.

Shapes: R rows (goal x discount x policy), S states, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.planning.finite.values import optimal_values, policy_values

Metrics = dict[str, dict[str, Any]]


def model_error(world: Kernel, model: Kernel, space: FiniteSpace) -> Metrics:
    """How far a model is from the world.

    wm.mse: mean over s, a, s' of the squared difference of probabilities. wm.tv: mean over s, a of half the l1
    distance (`by.max`: the greatest). wm.l1_max: the greatest l1 distance over s, a.
    """
    squared, absolute = differences(world, model)
    mse = squared / world.size
    worst = np.unravel_index(absolute.argmax(), absolute.shape)
    return {
        "wm.mse": {"value": float(mse.mean()), "by": {"action": _by_action(mse, space)}},
        "wm.tv": {
            "value": float(absolute.mean() / 2),
            "by": {"max": float(absolute.max() / 2), "action": _by_action(absolute / 2, space)},
        },
        "wm.l1_max": {
            "value": float(absolute.max()),
            "by": {"at": f"{space.names[worst[0]]} {space.actions[worst[1]]}"},
        },
    }


def differences(world: Kernel, model: Kernel) -> tuple[np.ndarray, np.ndarray]:
    """The squared and the absolute differences of two kernels, summed over successors: both [S, A]."""
    if world.is_local and model.is_local:
        successors = np.concatenate([world.successors, model.successors], axis=-1)
        gap = Kernel.merged(successors, np.concatenate([world.probabilities, -model.probabilities], axis=-1))
        between = gap.probabilities
    else:
        between = world.to_dense() - model.to_dense()
    return (between**2).sum(axis=-1), np.abs(between).sum(axis=-1)


def value_error(view: FiniteView, world: Kernel, labels: Sequence[str] | None = None) -> Metrics:
    """How far the agent's values are from exact ones in the true world.

    q.max_error: the greatest |Q - Q*|. q.nmse: mean squared error against Q^pi of the agent's own policy, over the
    variance of that Q^pi. q.l1_max: the greatest over s, a of the l1 distance to Q^pi, over all rows.
    `labels` name the rows for the breakdown.
    """
    asked = (view.reward, view.continues, view.discount)
    _, best = optimal_values(world, *asked)
    own = policy_values(world, view.policy, *asked)
    gap = view.q - own
    off = np.abs(view.q - best).max(axis=(1, 2))
    nmse: dict[str, Any] = {"value": _ratio(float((gap**2).mean()), float(own.var()))}
    worst: dict[str, Any] = {"value": float(off.max())}
    if labels is not None:
        apart = zip((gap**2).mean(axis=(1, 2)), own.var(axis=(1, 2)), strict=True)
        nmse["by"] = {"goal": {name: _ratio(*map(float, pair)) for name, pair in zip(labels, apart, strict=True)}}
        worst["by"] = {"goal": {name: float(error) for name, error in zip(labels, off, strict=True)}}
    l1_max = {"value": float(np.abs(gap).sum(axis=0).max())}
    return {"q.max_error": worst, "q.nmse": nmse, "q.l1_max": l1_max}


def fit(view: FiniteView, model: Kernel) -> Metrics:
    """The Bellman residual |M P - Q| that a model leaves: mean, root mean square, greatest. It needs no truth."""
    residual = np.abs(model.expect(view.backup) - view.q)
    return {
        "fit.residual": {"value": float(residual.mean())},
        "fit.residual_rms": {"value": float(np.sqrt((residual**2).mean()))},
        "fit.residual_max": {"value": float(residual.max())},
    }


def agent_return(
    view: FiniteView, world: Kernel, starts: np.ndarray | None = None, labels: Sequence[str] | None = None
) -> Metrics:
    """agent.return: the mean over rows and starts of the policy's discounted return in the true world, exactly.

    `starts` is a distribution [S], uniform by default; states that end the episode of a goal are no starts for it.
    """
    own = policy_values(world, view.policy, view.reward, view.continues, view.discount)
    value = (view.policy * own).sum(axis=-1)
    weights = (np.ones(world.size) if starts is None else starts) * view.continues
    total = weights.sum(axis=-1)
    each = np.where(total > 0, (weights * value).sum(axis=-1) / np.where(total > 0, total, 1.0), np.nan)
    found: dict[str, Any] = {"value": float(np.nanmean(each)) if (total > 0).any() else None}
    if labels is not None:
        found["by"] = {"goal": {name: float(one) for name, one in zip(labels, each, strict=True)}}
    return {"agent.return": found}


def _ratio(error: float, variance: float) -> float | None:
    """An error over a variance; none where nothing varies and yet there is an error."""
    return error / variance if variance > 0 else (0.0 if error == 0 else None)


def _by_action(errors: np.ndarray, space: FiniteSpace) -> dict[str, float]:
    return {name: float(error) for name, error in zip(space.actions, errors.mean(axis=0), strict=True)}
