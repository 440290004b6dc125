"""What a training leaves behind, whole or in part.

Shapes: n seeds that train together, C checkpoints, G goals, U updates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wmlab.agents.learning import Course
from wmlab.agents.pqn.learner import Metrics
from wmlab.core.training import NamedArrays
from wmlab.errors import StageError

CURVES = ("loss", "td_error", "return")


@dataclass(frozen=True)
class Trained:
    """An agent as it was at each checkpoint, and how it got there."""

    checkpoints: tuple[NamedArrays, ...]  # the network's weights by name, at each checkpoint or at the last alone
    steps: np.ndarray  # int [C]: environment steps done by then
    returns: np.ndarray  # [C, G]: mean discounted return of the learnt policy, from the world's resets
    curves: NamedArrays  # loss, td_error, return (of training episodes), each [U]; nan where no episode ended
    visits: np.ndarray  # int [places]: how often each place was acted from; empty where places are not counted
    transitions: NamedArrays = field(default_factory=dict)  # state, action, after, each [M]; none where not asked for


class Record:
    """The part of the results that is known so far; every array begins with an axis of seeds [n]."""

    def __init__(self, options: Course, seeds: Sequence[int]):
        self.options, self.seeds, self.done = options, seeds, 0
        shape = (len(seeds), options.updates)
        self.curves = {name: np.full(shape, np.nan, np.float32) for name in CURVES}  # [n, U]
        self.checkpoints: list[NamedArrays] = []
        self.returns: list[np.ndarray] = []  # each [n, G]
        self.diverged = np.zeros(len(seeds), int)  # [n]: in which update; 0: not

    def note(self, metrics: Metrics) -> None:
        """Add what an update says of itself; `metrics` [n]."""
        for name, values in zip(CURVES, (metrics.loss, metrics.td_error, metrics.gain), strict=True):
            self.curves[name][:, self.done] = values
        self.done += 1
        broken = ~(np.asarray(metrics.finite) & np.isfinite(metrics.loss))
        self.diverged = np.where(broken & (self.diverged == 0), self.done, self.diverged)

    def latest(self, name: str) -> float:
        """The newest finite point of a curve, over the seeds."""
        values = self.curves[name][:, : self.done]
        values = values[np.isfinite(values)]
        return float(values[-1]) if values.size else float("nan")

    def progress(self, updates: int, seconds: float) -> str:
        """How far it is and how fast, where so many updates took so many seconds."""
        per_update = self.options.envs * self.options.rollout * len(self.seeds)
        steps, rate = (f"{n:,.0f}".replace(",", " ") for n in (self.done * per_update, updates * per_update / seconds))
        left = (self.options.updates - self.done) * seconds / updates
        gain, loss = self.latest("return"), self.latest("loss")  # of the training episodes that ended last
        return f"{steps} steps, {rate}/s, return {gain:.3g}, loss {loss:.2e}, {left:.0f} s left"

    def numbers(self) -> dict[str, float]:
        """The newest points of its curves."""
        return {name: self.latest(name) for name in ("return", "loss")}

    def arrays(self, learner: NamedArrays) -> NamedArrays:
        """A partial result: this record and the learner's state, as named arrays."""
        named = {f"learner/{name}": array for name, array in learner.items()}
        named |= {f"curves/{name}": curve[:, : self.done] for name, curve in self.curves.items()}
        named |= {f"returns/{index}": values for index, values in enumerate(self.returns)}
        for index, weights in enumerate(self.checkpoints):
            named |= {f"checkpoints/{index}/{name}": array for name, array in weights.items()}
        return named | {"diverged": self.diverged}

    def restore(self, partial: Mapping[str, np.ndarray]) -> None:
        """Take up where a partial result left off."""
        for name in CURVES:
            curve = partial[f"curves/{name}"]
            self.done = curve.shape[1]
            self.curves[name][:, : self.done] = curve
        self.diverged = np.array(partial["diverged"])
        self.returns = [partial[f"returns/{index}"] for index in range(len(_below(partial, "returns/")))]
        kept = {name.partition("/")[0] for name in _below(partial, "checkpoints/")}
        self.checkpoints = [_below(partial, f"checkpoints/{index}/") for index in range(len(kept))]

    def results(self, visits: np.ndarray, kept: NamedArrays) -> list[Trained | StageError]:
        """What each seed comes to; `visits` [n, places], and the transitions that were kept, each [n, M]."""
        return [
            StageError(self.failure(index)) if self.diverged[index] else self._trained(index, visits[index], kept)
            for index in range(len(self.seeds))
        ]

    def _trained(self, index: int, visits: np.ndarray, kept: NamedArrays) -> Trained:
        per_update = self.options.envs * self.options.rollout
        return Trained(
            tuple({name: array[index] for name, array in weights.items()} for weights in self.checkpoints),
            np.array(self.options.checkpoint_updates) * per_update,
            np.stack(self.returns)[:, index],
            {name: curve[index] for name, curve in self.curves.items()},
            visits,
            {name: array[index] for name, array in kept.items()},
        )

    def failure(self, index: int) -> str:
        """Why a seed has no result, and which seeds have one."""
        fine = [str(seed) for seed, update in zip(self.seeds, self.diverged, strict=True) if update == 0]
        others = f"; fine: seeds {', '.join(fine)}" if fine else ""
        return (
            f"training of seed {self.seeds[index]} diverged in update {self.diverged[index]} of"
            f" {self.options.updates}: its loss or weights are no longer finite; {self.options.remedy}{others}"
        )


def _below(arrays: Mapping[str, np.ndarray], prefix: str) -> NamedArrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
