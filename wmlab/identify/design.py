"""Which goal to add: what exact values of a further goal would tell, for many candidates at once.

A candidate adds rows to M and to Q, and so cuts the kernels that fit. What the present goals leave open is found once;
where that is a single kernel, a further goal changes nothing, and only the other pairs are worked on.

Shapes: R rows of the present goals, C candidates, r rows of each, S states, A actions, u open pairs, n problems,
K candidates for a next state, B worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.identify.fitting import FittingKernels, fitting_kernels, fitting_of
from wmlab.identify.guarantee import UncertainWorlds, bounds
from wmlab.identify.width import intervals
from wmlab.planning.finite.values import Tasks, returns

KNOWN = 1e-6  # probability that may lie beyond the successors of a kernel which counts as known
BATCH = 50_000  # open pairs that are worked on at once, those of all candidates counted


@dataclass(frozen=True, eq=False)
class PresentGoals:
    """What exact values of the present goals leave open."""

    view: FiniteView
    slack: float
    fitting: FittingKernels
    problem: np.ndarray  # int [S, A]
    known: np.ndarray  # bool [n] problems that a single kernel explains

    @classmethod
    def of(cls, view: FiniteView, slack: float) -> PresentGoals:
        fitting, problem = fitting_of(view, slack)
        return cls(view, slack, fitting, problem, only_one(fitting))

    @property
    def alone(self) -> UncertainWorlds:
        """The world that they leave open, without a further goal."""
        return UncertainWorlds(self.fitting, self.fitting.allowed, self.fitting.weights, self.problem[None])

    @property
    def batch(self) -> int:
        """How many candidates are worked on at once."""
        return max(1, BATCH // max(1, int((~self.known[self.problem]).sum())))

    def with_each(self, further: FiniteView, count: int) -> UncertainWorlds:
        """The worlds [C] that are left with one more goal each, of `count` goals whose rows stand one after the other.

        Pairs that ask the same of a candidate are one problem; the known ones, which all of them share, come last.
        """
        state, action = np.nonzero(~self.known[self.problem])  # [u] both
        before = self.view.backup
        added = further.backup.reshape(count, -1, before.shape[1])  # [C, r, S]
        backups = np.concatenate([np.broadcast_to(before, (count, *before.shape)), added], axis=1)
        told = np.moveaxis(further.q.reshape(*added.shape, -1)[:, :, state, action], 1, 2)  # [C, u, r]
        own = np.broadcast_to(self.problem[state, action], told.shape[:2])  # [C, u]
        whose = np.broadcast_to(np.arange(count)[:, None], told.shape[:2])
        asked = np.concatenate([whose[..., None], own[..., None], told], axis=2).reshape(own.size, 2 + told.shape[2])
        _, first, place = np.unique(asked, axis=0, return_index=True, return_inverse=True)
        earlier = own.ravel()[first]
        wanted = np.concatenate([self.fitting.targets[earlier], asked[first, 2:]], axis=1)
        fitting = fitting_kernels(backups, whose.ravel()[first], self.fitting.allowed[earlier], wanted, self.slack)
        last = (fitting.count + np.cumsum(self.known) - 1)[self.problem]  # [S, A] where known problems stand
        problem = np.broadcast_to(last, (count, *last.shape)).copy()
        problem[:, state, action] = place.reshape(own.shape)
        shared = self.fitting.allowed[self.known], self.fitting.weights[self.known]
        allowed, weights = (np.concatenate(two) for two in zip((fitting.allowed, fitting.weights), shared, strict=True))
        return UncertainWorlds(fitting, allowed, weights, problem)


def only_one(fitting: FittingKernels) -> np.ndarray:
    """Problems that a single kernel explains, bool [n]: no probability can lie beyond the successors of a vertex.

    Columns of M in a basis are affinely independent, so that other weights on the same successors would not fit.
    """
    beyond = ((fitting.weights <= 0) & (fitting.allowed >= 0)).astype(float)
    return fitting.greatest(beyond, np.arange(fitting.count), fitting.basis).value <= KNOWN


def certain_returns(worlds: UncertainWorlds, tasks: Sequence[Tasks], starts: np.ndarray | None) -> np.ndarray:
    """The return that is certain in each world, mean over tasks: [B]."""
    each = [returns(bounds(worlds, task, -1).value, task, starts) for task in tasks]
    return np.mean(each, axis=0)


def mean_widths(worlds: UncertainWorlds) -> np.ndarray:
    """The widest interval of a probability, mean over states and actions: [B]."""
    low, high = intervals(worlds.fitting)
    widest = np.zeros(len(worlds.weights))  # a known kernel leaves no interval
    widest[: worlds.fitting.count] = (high - low).max(axis=1)
    return widest[worlds.problem].mean(axis=(1, 2))
