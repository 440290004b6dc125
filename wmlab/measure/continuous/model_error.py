"""How far a model of a continuous world is from the truth, or from another model.

All figures are over sampled states and every action. An error of a variable is a squared difference, on the circle
where it is periodic; derived variables count like any other. In a stochastic world the means of next states are
compared, and `wm.sd_ratio` and `wm.energy` say how their spread compares.

Shapes: n states, d state variables, D variables with derived ones, A actions, or regions of a box of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.measure.continuous.context import ContinuousContext, ContinuousPair
from wmlab.measure.continuous.logged import errors_in_log
from wmlab.measure.continuous.moves import Sampled, mean_of, over, restricted
from wmlab.registry.metrics import Measured


def model_error(context: ContinuousContext) -> Measured:
    """How far a model is from the world, or from what was logged of it."""
    if context.against_data:
        return errors_in_log(context.logged)
    return errors_of(context.sampled)


def errors_of(sampled: Sampled) -> Measured:
    """wm.nmse: squared error over the variance of the true next state, mean over actions and variables.
    wm.identity_nmse: the same of a model in which nothing moves. wm.delta_nmse: squared error over the variance of
    the true displacement; `_interior` leaves out successors on a bound. wm.mse: mean squared error as it is."""
    squared = sampled.gap.astype(np.float64) ** 2
    still = sampled.truth.astype(np.float64) ** 2
    mse, everywhere = squared.mean(axis=1), np.ones(sampled.interior.shape, bool)
    values = {
        "wm.nmse": metric_of(sampled, over(mse, _variance(sampled.after, everywhere))),
        "wm.identity_nmse": metric_of(sampled, over(still.mean(axis=1), _variance(sampled.after, everywhere))),
        "wm.delta_nmse": metric_of(sampled, over(mse, _variance(sampled.truth, everywhere))),
        "wm.delta_nmse_interior": metric_of(sampled, interior_error(sampled)),
        "wm.mse": metric_of(sampled, mse),
    }
    return values | (_spread(sampled) if sampled.sd is not None else {})


def standing_still(sampled: Sampled) -> float | None:
    """wm.delta_nmse of a model in which nothing ever moves."""
    still = (sampled.truth.astype(np.float64) ** 2).mean(axis=1)
    return mean_of(over(still, _variance(sampled.truth, np.ones(sampled.interior.shape, bool))))


def interior_error(sampled: Sampled) -> np.ndarray:
    """Squared error over the variance of displacements [A, D], where the true successor touches no bound."""
    inside = sampled.interior[..., None]
    count = np.maximum(sampled.interior.sum(axis=1), 1)[:, None]
    mse = np.where(inside, sampled.gap.astype(np.float64) ** 2, 0.0).sum(axis=1) / count
    return over(mse, _variance(sampled.truth, sampled.interior))


def model_distance(sampled: Sampled) -> Measured:
    """The distance between two models, the one that was sampled as truth being the reference: nmse and mse."""
    squared = sampled.gap.astype(np.float64) ** 2
    mse = squared.mean(axis=1)
    everywhere = np.ones(sampled.interior.shape, bool)
    return {
        "nmse": metric_of(sampled, over(mse, _variance(sampled.after, everywhere))),
        "mse": metric_of(sampled, mse),
    }


def comparison(pair: ContinuousPair) -> Measured:
    """The distance between two models and, where the truth is known, how far each is from it."""
    distance, apart = pair.asked.distance, pair.sampled(pair.other, pair.model)
    if pair.world is None:
        return {distance: model_distance(apart)[distance]}
    truth = pair.world.dynamics
    pairs = {
        "each other": apart,
        "this model": pair.sampled(truth, pair.model),
        "the other": pair.sampled(truth, pair.other),
    }
    return closeness(pairs, distance)


def closeness(pairs: Mapping[str, Sampled], distance: str) -> Measured:
    """How far two models are apart, how far each is from the truth, and how many times closer they are to each other.

    `pairs` are `each other`, and `this model` and `the other` beside the truth. The same again, `_interior`, over
    states from which no action leads to a bound: a wall that both models miss brings them together.
    """
    inside = np.all(pairs["this model"].interior, axis=0)  # [n]
    values: Measured = {}
    for tail, kept in (("", np.ones_like(inside)), ("_interior", inside)):
        each = {name: _within(pair, kept, distance) for name, pair in pairs.items()}
        apart = each.pop("each other")
        truth = {name: pair["value"] for name, pair in each.items()}
        times = {name: value / apart["value"] if value and apart["value"] else None for name, value in truth.items()}
        values[f"{distance}{tail}"] = {"value": apart["value"], "by": {**apart["by"], "from the truth": truth}}
        values[f"times_closer{tail}"] = {"value": times["this model"], "by": {"model": times}}
    return values


def _within(pair: Sampled, kept: np.ndarray, distance: str) -> dict[str, Any]:
    return model_distance(restricted(pair, kept))[distance] if kept.any() else {"value": None, "by": {}}


def error_by_state(sampled: Sampled) -> np.ndarray:
    """Squared error of displacements over their variance, mean over actions and variables: [n]."""
    everywhere = np.ones(sampled.interior.shape, bool)
    error = over(sampled.gap.astype(np.float64) ** 2, _variance(sampled.truth, everywhere))
    mean: np.ndarray = error.mean(axis=(0, 2))
    return mean


def error_map(sampled: Sampled, across: tuple[str, str], bins: int = 40) -> Mapping[str, np.ndarray]:
    """Where the error sits: the mean error of displacements over their variance, in bins of two variables."""
    return binned(sampled.space, sampled.states, error_by_state(sampled), across, bins)


def binned(
    space: ContinuousSpace, states: np.ndarray, values: np.ndarray, across: tuple[str, str], bins: int = 40
) -> Mapping[str, np.ndarray]:
    """Means of values [n] at states [n, d], in bins of two variables.

    `error` and `count` [bins, bins], `x` and `y` [bins + 1] the edges; an empty bin is NaN.
    """
    full = space.full(states)
    first, second = (full[:, space.column(name)] for name in across)
    count, x, y = np.histogram2d(first, second, bins)
    total, _, _ = np.histogram2d(first, second, [x, y], weights=values)
    return {"error": np.where(count > 0, total / np.maximum(count, 1), np.nan), "count": count, "x": x, "y": y}


def _spread(sampled: Sampled) -> Measured:
    """wm.sd_ratio: standard deviation of the model's next states over the truth's; wm.energy: their distance."""
    assert sampled.sd is not None and sampled.energy is not None
    variances = (sampled.sd.astype(np.float64) ** 2).mean(axis=2)  # [2, A, D]
    moved = variances[0].mean(axis=0) > 0
    ratio = np.sqrt(over(variances[1], variances[0]))
    names = sampled.names
    by = {"dimension": {name: float(ratio[:, i].mean()) for i, name in enumerate(names) if moved[i]}}
    value = float(ratio[:, moved].mean()) if moved.any() else None
    what, labels = sampled.rows
    action = {name: float(each.mean()) for name, each in zip(labels, sampled.energy, strict=True)}
    energy = {"value": float(sampled.energy.mean(dtype=np.float64)), "by": {what: action}}
    return {"wm.sd_ratio": {"value": value, "by": by}, "wm.energy": energy}


def _variance(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The variance [D] of values [A, n, D] over the actions and states kept [A, n]."""
    if not kept.any():
        return np.full(values.shape[-1], np.nan)
    return np.asarray(values[kept], np.float64).var(axis=0)


def metric_of(sampled: Sampled, errors: np.ndarray) -> dict[str, Any]:
    """The mean of errors [A, D], and its breakdown; none where it has no meaning."""
    dimension = {name: mean_of(errors[:, column]) for column, name in enumerate(sampled.names)}
    what, labels = sampled.rows
    action = {name: mean_of(errors[row]) for row, name in enumerate(labels)}
    return {"value": mean_of(errors), "by": {"dimension": dimension, what: action}}
