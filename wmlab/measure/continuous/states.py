"""Which states of a continuous world are looked at.

Shapes: N states, d variables.
"""

from __future__ import annotations

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.randomness import generator

STARTS = 512  # where a spec says where evaluation starts, and not how often


def states_of(said: str | int, space: ContinuousSpace, count: int, purpose: str) -> np.ndarray:
    """States [N, d] as a spec says: `uniform` or `reset`, `count` of them, or a number of resets.

    They are the same for every seed: what is compared, is compared on the same states.
    """
    number = count if isinstance(said, str) else said
    return space.sample(generator(0, purpose), number, "uniform" if said == "uniform" else "reset")
