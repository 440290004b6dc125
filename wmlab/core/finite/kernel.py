"""Transition kernels of finite worlds, true or extracted.

Shapes: S states, A actions, K successors with a probability of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Kernel:
    """P(s' | s, a), as K possible successors per state and action.

    Every index is a state. Successors with a probability are unique per (s, a); padding repeats the first of
    them with probability 0, so reading needs no mask, and writing into a table must add, never assign.
    An extracted model may be a pseudo-world: negative probabilities, rows that do not sum to one.
    """

    successors: np.ndarray  # int32 [S, A, K]
    probabilities: np.ndarray  # float64 [S, A, K]

    @classmethod
    def deterministic(cls, successor: np.ndarray) -> Kernel:
        """The kernel that always goes to `successor` [S, A]."""
        successors = np.asarray(successor, np.int32)[..., None]
        return cls(successors, np.ones(successors.shape))

    @classmethod
    def dense(cls, probabilities: np.ndarray) -> Kernel:
        """The kernel of a full table [S, A, S]; entries that are exactly 0 are left out."""
        table = np.asarray(probabilities, np.float64)
        return cls(*_listed(np.broadcast_to(np.arange(table.shape[-1]), table.shape), table))

    @classmethod
    def merged(cls, successors: np.ndarray, probabilities: np.ndarray) -> Kernel:
        """The kernel of lists [S, A, K] in which a successor may come up twice, or be -1 for none."""
        weights = np.where(np.asarray(successors) < 0, 0.0, np.asarray(probabilities, np.float64))
        order = np.argsort(successors, axis=-1, kind="stable")
        states = np.take_along_axis(np.asarray(successors, np.int32), order, axis=-1)
        weights = np.take_along_axis(weights, order, axis=-1)
        first = np.concatenate([np.ones_like(states[..., :1], bool), states[..., 1:] != states[..., :-1]], axis=-1)
        runs = np.cumsum(first) - 1  # the run of equal successors that each entry belongs to
        totals = np.bincount(runs, weights.ravel())[runs].reshape(weights.shape)
        return cls(*_listed(states, np.where(first, totals, 0.0)))

    @property
    def size(self) -> int:
        return self.successors.shape[0]

    @property
    def actions(self) -> int:
        return self.successors.shape[1]

    @property
    def width(self) -> int:
        """The greatest number of successors, K."""
        return self.successors.shape[2]

    @property
    def is_local(self) -> bool:
        """Whether working with lists of successors is cheaper than with a full table."""
        return 4 * self.width < self.size

    def to_dense(self) -> np.ndarray:
        """The full table [S, A, S]."""
        table = np.zeros((self.size, self.actions, self.size))
        states, actions = np.ogrid[: self.size, : self.actions]
        np.add.at(table, (states[..., None], actions[..., None], self.successors), self.probabilities)
        return table

    def expect(self, values: np.ndarray) -> np.ndarray:
        """The mean of `values` [..., S] after each state and action: [..., S, A]."""
        if not self.is_local:
            return np.einsum("xay,...y->...xa", self.to_dense(), values)
        rows = values.reshape(-1, self.size)
        means = np.empty((len(rows), self.size * self.actions))
        for mean, row in zip(means, rows, strict=True):  # never [..., S, A, K] at once
            mean[:] = self.sparse @ row
        return means.reshape(*values.shape[:-1], self.size, self.actions)

    @cached_property
    def sparse(self) -> Any:
        """All transitions as a SciPy array [S A, S]: a successor may come up twice in a row."""
        from scipy.sparse import csr_array

        pairs = self.size * self.actions
        entries = self.probabilities.ravel(), self.successors.ravel(), row_ends(pairs, self.width)
        return csr_array(entries, (pairs, self.size))

    def clipped(self) -> Kernel:
        """The nearest thing to a world that one can plan in.

        Negative probabilities become 0 and each row is divided by its sum; a row without positive entries
        becomes uniform over the successors that it lists.
        """
        positive = np.maximum(self.probabilities, 0.0)
        totals = positive.sum(axis=-1, keepdims=True)
        empty = np.where(totals > 0, 0.0, 1.0 / self.width)
        return Kernel(self.successors, np.where(totals > 0, positive / np.where(totals > 0, totals, 1.0), empty))


def row_ends(rows: int, width: int) -> np.ndarray:
    """Where rows of so many entries each begin and end; short numbers make products with sparse arrays quicker."""
    return np.arange(rows + 1, dtype=np.int32) * np.int32(width)


def _listed(successors: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Successors and weights [S, A, K] with the present ones in front; what is left repeats the first successor."""
    present = weights != 0
    width = max(1, int(present.sum(axis=-1).max(initial=0)))
    front = np.argsort(~present, axis=-1, kind="stable")[..., :width]
    states, weights = (np.take_along_axis(each, front, axis=-1) for each in (successors, weights))
    return np.where(weights != 0, states, np.maximum(states[..., :1], 0)).astype(np.int32), weights
