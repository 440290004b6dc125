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
from wmlab.report.data import Cell, GridMap
from wmlab.sections.experiment import UnseenGoal

Arrays = Mapping[str, np.ndarray]


def maps(run: StoredRun, space: FiniteSpace, goals: Sequence[str]) -> Iterator[GridMap]:
    """The maps of one run, in a world that has a map."""
    if space.cells is None or space.shape is None:
        return
    drawing = MapDrawing(run, space, space.cells, space.shape)
    for name in goals:
        yield from drawing.plan(name, run.goals[name])
    yield from drawing.values("train", "visits", "where the agent has been", "share of its steps", shares)
    yield from drawing.values("measure", "tv", "where the model is wrong", "total variation, mean over actions", mean)
    yield from drawing.values("identify", "high", "what the values leave open", "widest identified interval", widest)


def shares(arrays: Arrays) -> np.ndarray:
    return arrays["visits"] / max(1, arrays["visits"].sum())


def mean(arrays: Arrays) -> np.ndarray:
    return np.asarray(arrays["tv"].mean(axis=1))


def widest(arrays: Arrays) -> np.ndarray:
    return np.asarray((arrays["high"] - arrays["low"]).max(axis=(1, 2)))


@dataclass(frozen=True, eq=False)
class MapDrawing:
    """A map to draw on, and the run that is drawn."""

    run: StoredRun
    space: FiniteSpace
    cells: np.ndarray  # [S, 2]
    shape: tuple[int, int]

    @property
    def walls(self) -> tuple[Cell, ...]:
        free = {tuple(cell) for cell in self.cells.tolist()}
        rows, columns = self.shape
        return tuple((r, c) for r in range(rows) for c in range(columns) if (r, c) not in free)

    def at(self, states: Any) -> tuple[Cell, ...]:
        return tuple((int(self.cells[state][0]), int(self.cells[state][1])) for state in states)

    def plan(self, name: str, goal: UnseenGoal) -> Iterator[GridMap]:
        """V* with the optimal way and the model's, for one unseen goal; without a true world, the model's values."""
        oracle, plan = self.run.result("oracle", name), self.run.result("plan", name)
        if plan is None or (oracle is None and self.run.knows_best(name)):
            return
        metrics = plan.data["metrics"]
        if oracle is None:
            note = f"The extracted model promises {metrics['r_believed']['value']:.4g}; there is no truth to try it in"
            values: dict[str, Any] = {"values": plan.arrays["value"], "label": "V in the extracted model"}
        else:
            note = f"R* {metrics['r_star']['value']:.4g}, the model's policy {metrics['r_wm']['value']:.4g}"
            paths = {"optimal": self.at(oracle.arrays["path"]), "model": self.at(plan.arrays["path"])}
            values = {"values": oracle.arrays["value"], "paths": paths}
        targets = goal.targets
        yield GridMap(
            title=name,
            shape=self.shape,
            cells=self.cells,
            walls=self.walls,
            target=self.at(state for target in targets for state in states_of(target, self.space, ())),
            avoid=self.at(states_of(goal.avoid, self.space, ())),
            note=f"{note} ({self.run.place})" if self.run.place else note,
            **values,
        )

    def values(
        self, kind: str, array: str, title: str, label: str, read: Callable[[Arrays], np.ndarray]
    ) -> Iterator[GridMap]:
        """A number for each state, from the arrays of a stage that has them."""
        result = self.run.result(kind)
        if result is None or array not in result.arrays:
            return
        yield GridMap(
            title=title,
            shape=self.shape,
            cells=self.cells,
            walls=self.walls,
            values=read(result.arrays),
            note=f"At {self.run.place}." if self.run.place else "",
            label=label,
            from_zero=True,
        )
