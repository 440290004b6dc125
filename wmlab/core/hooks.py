"""Who is told of long work while it goes on, and what is kept of it: the same for trainings and for fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

NamedArrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Hooks:
    """What is called between updates. Nothing of it changes a result."""

    progress: Callable[[int, int, str], None] | None = None  # updates done, updates in all, a note
    save: Callable[[NamedArrays], None] | None = None  # takes a partial result
    save_every: float = 60.0  # seconds between two partial results
    resume: Mapping[str, np.ndarray] | None = None  # the partial result to go on from
