"""States at which expressions are tried before anything runs: ends and middle of the ranges, 0, and many between.

Shapes: n states, d variables.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.randomness import generator

BETWEEN = 1024  # states drawn anywhere in the ranges
MOST = 1024  # combinations of remarkable values


def probes(space: ContinuousSpace) -> np.ndarray:
    """States [n, d], float32 as agents see them; a variable without a range is tried where it usually lies."""
    columns = [remarkable(variable) for variable in space.variables]
    if math.prod(map(len, columns)) <= MOST:
        corners = np.array(list(itertools.product(*columns)))
    else:  # one remarkable value at a time, the others in the middle
        corners = np.array([[column[0] for column in columns]] * sum(map(len, columns)))
        for row, (position, value) in enumerate((i, value) for i, column in enumerate(columns) for value in column):
            corners[row, position] = value
    box = np.array([variable.scale for variable in space.variables])
    between = generator(0, "states to try").uniform(box[:, 0], box[:, 1], (BETWEEN, space.size))
    return np.concatenate([corners, between]).astype(np.float32)


def remarkable(variable: Variable) -> list[float]:
    """The middle, the ends (one of them on a circle, where they are the same) and 0 where it lies between them."""
    low, high = variable.scale
    ends = [low] if variable.periodic else [low, high]
    return list(dict.fromkeys([(low + high) / 2, *ends, *([0.0] if low < 0 < high else [])]))


def place(space: ContinuousSpace, state: np.ndarray) -> str:
    """A state [d] as messages name it: position=0, velocity=0.07."""
    return ", ".join(f"{name}={value:.4g}" for name, value in zip(space.names, state.tolist(), strict=True))
