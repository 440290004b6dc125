"""The same small problem for every state and action (which successors explain Q(s, a)?), and its answer.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, K candidates, n pairs of one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.view import FiniteView
from wmlab.core.randomness import generator
from wmlab.errors import StageError
from wmlab.extraction.residuals import unexplained

MISFIT = 1e-6  # a residual above this, relative to the spread of M, is reported as a misfit
Guess = Literal["uniform", "random", "zero"]
CHUNK = 250_000  # numbers per chunk of columns: large enough to amortise, small enough for the cache


@dataclass(frozen=True, eq=False)
class Pairs:
    """Some pairs with the columns of M that may explain them."""

    rows: slice  # which of the N pairs
    columns: np.ndarray  # [n, R, K]; padding repeats column 0
    valid: np.ndarray  # [n, K] bool; False is padding
    targets: np.ndarray  # [n, R]  Q(s, a)

    @property
    def spread(self) -> np.ndarray:
        """How far apart the columns of each pair are, summed over rows: [n]."""
        return np.asarray(np.ptp(self.columns, axis=2).sum(axis=1))

    @property
    def rounding(self) -> np.ndarray:
        """By how much the sums behind a residual and its bound may be off in float64: [n].

        A sum of n products is off by at most n eps times the sum of their sizes; a residual sums over K columns whose
        weights sum to one, and its bound over R prices of at most one. Nothing below this tells two fits apart.
        """
        size = np.maximum(np.abs(self.columns).max(axis=2), np.abs(self.targets)).sum(axis=1)
        rows, width = self.columns.shape[1:]
        return np.asarray(2 * (rows + width) * np.finfo(float).eps * size)


def candidates(view: FiniteView) -> np.ndarray:
    """The states that may follow each pair, int [N, K] padded with -1."""
    require_numbers(view)
    states, actions = view.q.shape[1:]
    if view.support is None:
        return np.broadcast_to(np.arange(states), (states * actions, states))
    support = np.asarray(view.support)
    if support.max(initial=-1) >= states or support.min(initial=0) < -1:
        raise StageError(f"the support names state {support.max()}, and there are {states}")
    if support.ndim == 2:
        support = np.repeat(support[:, None], actions, axis=1)
    empty = np.argwhere((support < 0).all(axis=-1))
    if len(empty):
        state, action = empty[0]
        where = f"state {view.space.names[state]}, action {view.space.actions[action]}"
        raise StageError(f"the support is empty at {where}: no state may follow")
    return support.reshape(states * actions, -1)


def targets(view: FiniteView) -> np.ndarray:
    """Q(s, a) over rows, [N, R]."""
    return np.ascontiguousarray(view.q.reshape(view.rows, -1).T, dtype=np.float64)


def chunks(view: FiniteView, size: int = CHUNK) -> Iterator[Pairs]:
    """All pairs, a few at a time, so that [N, R, K] never exists whole."""
    allowed, wanted = candidates(view), targets(view)
    backup = np.asarray(view.backup, np.float64)
    step = max(1, size // (backup.shape[0] * allowed.shape[1]))
    for start in range(0, len(allowed), step):
        rows = slice(start, start + step)
        columns = np.moveaxis(backup[:, np.maximum(allowed[rows], 0)], 0, 1)
        yield Pairs(rows, columns, allowed[rows] >= 0, wanted[rows])


def kernel_of(view: FiniteView, probabilities: np.ndarray) -> Kernel:
    """The kernel that gives the candidates of each pair these probabilities [N, K]."""
    states, actions = view.q.shape[1:]
    table = probabilities.reshape(states, actions, -1)
    if view.support is None:
        return Kernel.dense(table)
    return Kernel.merged(candidates(view).reshape(states, actions, -1), table)


def first_guess(initial: str, valid: np.ndarray, seed: int) -> np.ndarray:
    """What an extraction believes of P before it looks at any value, [N, K]; 0 where not `valid` [N, K]."""
    if initial == "zero":
        return np.zeros(valid.shape)
    weights = np.ones(valid.shape)
    if initial == "random":
        weights = generator(seed, "first guess of P").exponential(size=valid.shape)
    weights = np.where(valid, weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


# --- what an extraction gives back, and how well it fits -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Extraction:
    """A world model, how far it is from the agent's values, and what the method has to say about it."""

    kernel: Kernel
    residual: np.ndarray  # [S, A]  ||M P(s, a) - Q(s, a)||_1 over rows
    notes: dict[str, Any]  # JSON
    curve: np.ndarray | None = None  # [C]  how a fit in steps went: half the mean square of M P - Q, at equal distances


def conclude(view: FiniteView, kernel: Kernel, notes: Mapping[str, Any], curve: np.ndarray | None = None) -> Extraction:
    """The record for a kernel: its residual, and where it fits worst."""
    errors = kernel.expect(view.backup) - view.q
    residual = np.abs(errors).sum(axis=0)
    left = unexplained(errors, view.q.std(axis=(1, 2)), float(np.abs(view.q).max(initial=0.0)))
    told = {"misfit": misfit(view, residual), "unexplained": left}
    return Extraction(kernel, residual, {**notes, **told}, curve)


def misfit(view: FiniteView, residual: np.ndarray) -> dict[str, Any]:
    """At how many pairs no allowed kernel was found that explains the values, and at which one it is worst."""
    tolerance = MISFIT * max(1.0, float(np.ptp(view.backup, axis=1).sum()))
    state, action = (int(index) for index in np.unravel_index(residual.argmax(), residual.shape))
    return {
        "pairs": int((residual > tolerance).sum()),
        "of": int(residual.size),
        "tolerance": tolerance,
        "worst": {
            "state": view.space.names[state],
            "action": view.space.actions[action],
            "residual": float(residual[state, action]),
        },
    }


def require_numbers(view: FiniteView) -> None:
    """Stops at the first value that is no number, by its name."""
    for noun, array in (("Q", view.q), ("the policy", view.policy)):
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            row, state, action = (int(index) for index in bad[0])
            raise StageError(
                f"{noun} is {array[row, state, action]} at goal {row}, state {view.space.names[state]}, "
                f"action {view.space.actions[action]} ({len(bad)} of {array.size} entries are not finite)"
            )
    bad = np.argwhere(~np.isfinite(view.backup))
    if len(bad):
        row, state = (int(index) for index in bad[0])
        raise StageError(f"the reward is {view.reward[row, state]} at goal {row}, state {view.space.names[state]}")
