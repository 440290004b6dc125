"""Where steps lead on a ring."""

from __future__ import annotations

import numpy as np


def successors(size: int, stride: int) -> np.ndarray:
    """The next state int [S, 2] after a step to the left and to the right."""
    places = np.arange(size)[:, None]
    return (places + np.array([-stride, stride])) % size
