"""The kernel that was read out of a tabular world's values, as a matrix for each action."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wmlab.core.finite.space import FiniteSpace
from wmlab.report.content.stored_run import StoredRun
from wmlab.report.data import Panel, Sheet

MOST_STATES, MOST_ACTIONS = 60, 9  # more cannot be told apart
MOST_NAMES = 16  # states that a caption names


def kernels(run: StoredRun) -> Iterator[Sheet]:
    """Where each action leads from each state, with which probability; of a world that is given as a table."""
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
    dense = dense_kernel(found.arrays["successors"], found.arrays["probabilities"], size)
    panels = tuple(
        Panel(action, dense[:, place].T, "probability") for place, action in enumerate(space.actions[:MOST_ACTIONS])
    )
    names = ", ".join(f"{place} {name}" for place, name in enumerate(space.names)) if size <= MOST_NAMES else ""
    left = len(space.actions) - len(panels)
    told = [
        "As it was read out of the values, a panel for each action",
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
        columns=min(3, len(panels)),
    )


def dense_kernel(successors: np.ndarray, probabilities: np.ndarray, size: int) -> np.ndarray:
    """Probabilities [S, A, S] of candidates [S, A, K], those below 0 being none."""
    states, actions, _ = successors.shape
    dense = np.zeros((states, actions, size))
    here = np.nonzero(successors >= 0)
    np.add.at(dense, (here[0], here[1], successors[here]), probabilities[here])
    return dense
