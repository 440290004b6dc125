"""What an extraction gives back, and how well it fits.

Shapes: R rows (goal x discount x policy), S states, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.view import FiniteView
from wmlab.errors import StageError

MISFIT = 1e-6  # a residual above this, relative to the spread of M, is reported as a misfit


@dataclass(frozen=True, eq=False)
class Extraction:
    """A world model, how far it is from the agent's values, and what the method has to say about it."""

    kernel: Kernel
    residual: np.ndarray  # [S, A]  ||M P(s, a) - Q(s, a)||_1 over rows
    notes: dict[str, Any]  # JSON


def conclude(view: FiniteView, kernel: Kernel, notes: Mapping[str, Any]) -> Extraction:
    """The record for a kernel: its residual, and where it fits worst."""
    residual = np.abs(kernel.expect(view.backup) - view.q).sum(axis=0)
    return Extraction(kernel, residual, {**notes, "misfit": misfit(view, residual)})


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
