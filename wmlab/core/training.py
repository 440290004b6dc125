"""What trainings and fits have in common: who is told while they go on, and how weights follow a gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

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

    def part(self, done: int, total: int, kept: NamedArrays | None = None, resumed: bool = True) -> dict[str, Any]:
        """The hooks, by name, of a part of work that has so many updates before it, of so many in all.

        `kept` goes into each of its partial results; `resumed`: the partial result to go on from is one of these.
        """
        progress, save = self.progress, self.save

        def counted(updates: int, _: int, note: str, numbers: dict[str, float]) -> None:
            assert progress is not None
            progress(done + updates, total, note, numbers)

        def marked(arrays: NamedArrays) -> None:
            assert save is not None
            save({**arrays, **(kept or {})})

        shown, stored = progress and counted, save and marked
        return {**vars(self), "progress": shown, "save": stored, "resume": self.resume if resumed else None}


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
