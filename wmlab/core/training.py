"""What trainings and fits have in common: who is told while they go on, and how weights follow a gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import optax

NamedArrays = dict[str, np.ndarray]
Decay = Literal["cosine", "linear", "constant"]


# Takes updates done, updates in all, a note, and numbers to draw curves of.
Progress = Callable[[int, int, str, dict[str, float]], None]


@dataclass(frozen=True)
class Hooks:
    """What is called between updates. Nothing of it changes a result."""

    progress: Progress | None = None
    save: Callable[[NamedArrays], None] | None = None  # takes a partial result
    save_every: float = 60.0  # seconds between two partial results
    resume: Mapping[str, np.ndarray] | None = None  # the partial result to go on from


def rate_schedule(rate: float, decay: Decay, steps: int) -> optax.Schedule:
    """The learning rate of each of so many steps: it falls to 0, or stays."""
    if decay == "linear":
        return optax.linear_schedule(rate, 0.0, steps)
    return optax.cosine_decay_schedule(rate, steps) if decay == "cosine" else optax.constant_schedule(rate)


def gradient_method(
    steps: int, kind: Literal["adam", "radam"], rate: float, decay: Decay, clip: float | None, epsilon: float = 1e-8
) -> optax.GradientTransformation:
    """Adam or RAdam at a rate that falls to 0 over `steps`, after a clip of the global norm if there is one."""
    method = {"adam": optax.adam, "radam": optax.radam}[kind](rate_schedule(rate, decay, steps), eps=epsilon)
    return method if clip is None else optax.chain(optax.clip_by_global_norm(clip), method)
