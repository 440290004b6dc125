"""The kernel that was read out of a tabular world's values beside the true one, as matrices for each action."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wmlab.core.finite.space import FiniteSpace
from wmlab.report.content.stored_run import StoredRun
from wmlab.report.data import Panel, Sheet

MOST_STATES, MOST_ACTIONS = 60, 9  # more cannot be told apart
MOST_NAMES = 16  # states that a caption names


def kernels(run: StoredRun) -> Iterator[Sheet]:
    """Where each action leads from each state, with which probability, in the world and in the model; of a world that
    is given as a table."""
    found = run.result("extract")
    if (
        found is None
        or run.run.point.experiment.mdp.data["kind"] != "tabular"
        or not isinstance(run.space, FiniteSpace)
    ):
        return
    space, size = run.space, run.space.size
    if size > MOST_STATES or "successors" not in found.arrays:
        return
    model = dense_kernel(found.arrays["successors"], found.arrays["probabilities"], size)
    truth, left_out = true_kernel(run, size)
    sides = {"the model": model} if truth is None else {"the world": truth, "the model": model}
    shown = space.actions[:MOST_ACTIONS]
    panels = tuple(
        Panel(f"{action}, {side}" if truth is not None else action, kernel[:, place].T, "probability")
        for place, action in enumerate(shown)
        for side, kernel in sides.items()
    )
    names = ", ".join(f"{place} {name}" for place, name in enumerate(space.names)) if size <= MOST_NAMES else ""
    left = len(space.actions) - len(shown)
    beside = "The true kernel, and as it was read out of the values, side by side for each action"
    told = [
        beside if truth is not None else "As it was read out of the values, a panel for each action",
        "Of the world, the likeliest next states are drawn" if left_out else "",
        f"States: {names}" if names else "",
        f"{left} further actions not drawn" if left else "",
        f"At {run.place}" if run.place else "",
    ]
    ends = (-0.5, size - 0.5)
    yield Sheet(
        title="where actions lead",
        x="next state",
        y="state",
        x_range=ends,
        y_range=ends,
        note=". ".join(part for part in told if part) + ".",
        panels=panels,
        whole=True,
        columns=min(3, len(panels)) if truth is None else 2 if len(shown) < 2 else 4,
    )


def true_kernel(run: StoredRun, size: int) -> tuple[np.ndarray | None, bool]:
    """The true probabilities [S, A, S] as the explorer keeps them, and whether it left any out; None where the world is
    not known, or nothing was kept of it."""
    kept = run.result("explore")
    if kept is None or "truth" not in kept.arrays:
        return None, False
    return dense_kernel(kept.arrays["next"], kept.arrays["truth"], size), bool(kept.arrays["left_out"].any())


def dense_kernel(successors: np.ndarray, probabilities: np.ndarray, size: int) -> np.ndarray:
    """Probabilities [S, A, S] of candidates [S, A, K], those below 0 being none."""
    states, actions, _ = successors.shape
    dense = np.zeros((states, actions, size))
    here = np.nonzero(successors >= 0)
    np.add.at(dense, (here[0], here[1], successors[here]), probabilities[here])
    return dense
