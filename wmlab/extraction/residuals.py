"""How much of an agent's values a model leaves unexplained, on a scale that needs no knowledge of their units."""

from __future__ import annotations

import numpy as np


def unexplained(errors: np.ndarray, spread: np.ndarray) -> float | None:
    """The root mean square of Bellman errors over that of the values' spread: 0 is all explained, 1 is nothing.

    `errors` of any shape; `spread` [R] is the standard deviation of each row's values over states and actions. None
    where values do not vary and yet there are errors.
    """
    size, scale = (float(np.sqrt((np.asarray(each, np.float64) ** 2).mean())) for each in (errors, spread))
    return size / scale if scale > 0 else (0.0 if size == 0 else None)
