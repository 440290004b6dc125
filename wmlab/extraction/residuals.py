"""How much of an agent's values a model leaves unexplained, on a scale that needs no knowledge of their units."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-13  # of how large values are: errors below this are no errors


def unexplained(errors: np.ndarray, spread: np.ndarray, level: float = 0.0) -> float | None:
    """The root mean square of Bellman errors over that of the values' spread: 0 is all explained, 1 is nothing.

    `errors` of any shape; `spread` [R] is the standard deviation of each row's values over states and actions, `level`
    how large they are. None where values do not vary and yet there are errors.
    """
    size, scale = (float(np.sqrt((np.asarray(each, np.float64) ** 2).mean())) for each in (errors, spread))
    if size <= ROUNDING * level:
        return 0.0
    return size / scale if scale > 0 else None


def explained_share(left: float, still: float) -> float | None:
    """1 less a residual over that of standing still; None where standing still leaves nothing to explain."""
    return 1 - left / still if still > 0 else None


def still_falling(curve: np.ndarray) -> float | None:
    """By which share the loss [C] fell from the fifth before the last to the last; None of a short or absent fit."""
    fifth = len(curve) // 5
    if fifth < 2:
        return None
    before, last = (float(np.median(part)) for part in (curve[-2 * fifth : -fifth], curve[-fifth:]))
    return 1 - last / before if before > 0 else 0.0
