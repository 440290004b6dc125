"""What an extraction believes of P before it looks at any value.

Shapes: N = S A pairs, K candidates.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from wmlab.core.randomness import generator

Guess = Literal["uniform", "random", "zero"]


def first_guess(initial: str, valid: np.ndarray, seed: int) -> np.ndarray:
    """Where an extraction starts, [N, K]: 0 outside the support."""
    if initial == "zero":
        return np.zeros(valid.shape)
    weights = np.ones(valid.shape)
    if initial == "random":
        weights = generator(seed, "first guess of P").exponential(size=valid.shape)
    weights = np.where(valid, weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)
