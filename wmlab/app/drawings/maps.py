"""Maps for a report: plans for unseen goals, where the agent has been, where its model is wrong, what stays open.

Shapes: S states, A actions, K candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.app.drawings.drawn import Drawn, drawn
from wmlab.core.finite.select import states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.graph.compile import Plan
from wmlab.graph.drawing import asked_maps
from wmlab.graph.key import Key
from wmlab.report.data import Cell, GridMap
from wmlab.runtime.store import Store
from wmlab.spec.check.kind_checks import space_of

Stored = Mapping[str, np.ndarray]


def maps(plan: Plan, keys: Mapping[str, Key], store: Store) -> Iterator[GridMap]:
    """The maps of one run, in a world that has a map."""
    run = drawn(plan, keys, store)
    space = None if run is None else space_of(run.run.point.data)
    if run is None or not isinstance(space, FiniteSpace) or space.cells is None or space.shape is None:
        return
    sheet = Sheet(run, space, space.cells, space.shape)
    for name, goal in run.goals.items():
        if name in (asked_maps(plan.resolved).get("goals") or (name,)):
            yield from sheet.plan(name, goal)
    yield from sheet.values("train", "visits", "where the agent has been", "share of its steps", shares)
    yield from sheet.values("measure", "tv", "where the model is wrong", "total variation, mean over actions", mean)
    yield from sheet.values("identify", "high", "what the values leave open", "widest identified interval", widest)


def shares(stored: Stored) -> np.ndarray:
    return stored["visits"] / max(1, stored["visits"].sum())


def mean(stored: Stored) -> np.ndarray:
    return np.asarray(stored["tv"].mean(axis=1))


def widest(stored: Stored) -> np.ndarray:
    return np.asarray((stored["high"] - stored["low"]).max(axis=(1, 2)))


@dataclass(frozen=True, eq=False)
class Sheet:
    """A map to draw on, and the run that is drawn."""

    run: Drawn
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

    def plan(self, name: str, goal: Mapping[str, Any]) -> Iterator[GridMap]:
        """V* with the optimal way and the model's, for one unseen goal; without a true world, the model's values."""
        oracle, plan = self.run.result(f"oracle {name}"), self.run.result(f"plan {name}")
        unknown = f"oracle {name}" not in self.run.run.stages
        if plan is None or (oracle is None and not unknown):
            return
        metrics = plan.data["metrics"]
        if oracle is None:
            note = f"The extracted model promises {metrics['r_believed']['value']:.4g}; there is no truth to try it in"
            drawn: dict[str, Any] = {"values": plan.arrays["value"], "label": "V in the extracted model"}
        else:
            note = f"R* {metrics['r_star']['value']:.4g}, the model's policy {metrics['r_wm']['value']:.4g}"
            paths = {"optimal": self.at(oracle.arrays["path"]), "model": self.at(plan.arrays["path"])}
            drawn = {"values": oracle.arrays["value"], "paths": paths}
        targets = [goal["reach"]] if goal.get("reach") is not None else goal["reach_any"]
        yield GridMap(
            title=name,
            shape=self.shape,
            cells=self.cells,
            walls=self.walls,
            target=self.at(state for said in targets for state in states_of(said, self.space, ())),
            avoid=self.at(states_of(goal.get("avoid"), self.space, ())),
            note=f"{note} ({self.run.place})" if self.run.place else note,
            **drawn,
        )

    def values(self, role: str, array: str, title: str, label: str, read: Any) -> Iterator[GridMap]:
        """A number for each state, from the arrays of a stage that has them."""
        found = self.run.result(role)
        if found is None or array not in found.arrays:
            return
        yield GridMap(
            title=title,
            shape=self.shape,
            cells=self.cells,
            walls=self.walls,
            values=read(found.arrays),
            note=f"At {self.run.place}." if self.run.place else "",
            label=label,
            from_zero=True,
        )
