"""Maps for a report: plans for unseen goals, where the agent has been, where its model is wrong, what stays open.

Shapes: S states, A actions, K candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.core.finite.select import states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.report.content.stored_run import StoredRun
from wmlab.report.content.worst import WorstRun, without_rounding
from wmlab.report.data import Cell, GridMap
from wmlab.sections.experiment import UnseenGoal

Arrays = Mapping[str, np.ndarray]


def maps(run: StoredRun, wrong: WorstRun, goals: Sequence[str]) -> Iterator[GridMap]:
    """The maps of one run, in a world that has a map; errors are those of the run where they are greatest."""
    if not all(isinstance(each.space, FiniteSpace) and each.space.cells is not None for each in (run, wrong.run)):
        return
    drawing = drawing_of(run)
    for name in goals:
        yield from drawing.plan(name, run.goals[name])
    for kind, array, title, label, read in VALUES:
        drawn, note = (wrong.run, wrong.note) if kind == "measure" else (run, f"At {run.place}." if run.place else "")
        result = drawn.result(kind)
        if result is not None and array in result.arrays:
            values, rounding = without_rounding(read(result.arrays))
            note = " ".join(part for part in (note, rounding) if part)
            yield drawing_of(drawn).map(title, values, note=note, label=label, from_zero=True)


def drawing_of(run: StoredRun) -> MapDrawing:
    space = run.space
    assert isinstance(space, FiniteSpace) and space.cells is not None and space.shape is not None
    return MapDrawing(run, space, space.cells, space.shape)


# A number for each state: the stage and the array of it that there must be, title, what the values are, the values.
VALUES: tuple[tuple[str, str, str, str, Callable[[Arrays], np.ndarray]], ...] = (
    (
        *("train", "visits", "where the agent has been", "share of its steps"),
        lambda arrays: arrays["visits"] / max(1, arrays["visits"].sum()),
    ),
    (
        *("measure", "tv", "where the model is wrong", "total variation, mean over actions"),
        lambda arrays: arrays["tv"].mean(axis=1),
    ),
    (
        *("identify", "high", "what the values leave open", "widest identified interval"),
        lambda arrays: (arrays["high"] - arrays["low"]).max(axis=(1, 2)),
    ),
)


@dataclass(frozen=True, eq=False)
class MapDrawing:
    """A map to draw on, and the run that is drawn."""

    run: StoredRun
    space: FiniteSpace
    cells: np.ndarray  # [S, 2]
    shape: tuple[int, int]

    def map(self, title: str, values: np.ndarray, **more: Any) -> GridMap:
        free = {tuple(cell) for cell in self.cells.tolist()}
        walls = tuple(cell for cell in np.ndindex(self.shape) if cell not in free)
        return GridMap(title=title, shape=self.shape, cells=self.cells, walls=walls, values=values, **more)

    def at(self, states: Any) -> tuple[Cell, ...]:
        return tuple((int(self.cells[state][0]), int(self.cells[state][1])) for state in states)

    def plan(self, name: str, goal: UnseenGoal) -> Iterator[GridMap]:
        """V* with the optimal way and the model's, for one unseen goal; without a true world, the model's values."""
        oracle, plan = self.run.result("oracle", name), self.run.result("plan", name)
        if plan is None or (oracle is None and self.run.knows_best(name)):
            return
        note = self.run.returns(plan, name)
        more: dict[str, Any] = {
            "note": f"{note} ({self.run.place})" if self.run.place else note,
            "target": self.at(state for target in goal.targets for state in states_of(target, self.space, ())),
            "avoid": self.at(states_of(goal.avoid, self.space, ())),
        }
        if oracle is None:
            yield self.map(name, plan.arrays["value"], label="V in the extracted model", **more)
        else:
            paths = {"optimal": self.at(oracle.arrays["path"]), "model": self.at(plan.arrays["path"])}
            yield self.map(name, oracle.arrays["value"], paths=paths, **more)
