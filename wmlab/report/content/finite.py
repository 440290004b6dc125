"""Maps for a report: plans for unseen goals, where the agent has been, where its model is wrong, what stays open.

Shapes: S states, A actions, K candidates, n cells of a map, H states in one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wmlab.core.finite.chart import Chart
from wmlab.core.finite.select import states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.report.content.goal_states import goal_states
from wmlab.report.content.stored_run import StoredRun
from wmlab.report.content.worst import WorstRun, without_rounding
from wmlab.report.data import Cell, GridMap
from wmlab.sections.experiment import UnseenGoal

Arrays = Mapping[str, np.ndarray]


def maps(run: StoredRun, wrong: WorstRun, goals: Sequence[str]) -> Iterator[GridMap]:
    """The maps of one run, in a world that has a map; errors are those of the run where they are greatest."""
    drawing, of_errors = drawing_of(run), drawing_of(wrong.run)
    if drawing is None or of_errors is None:
        return
    for name in goals:
        yield from drawing.plan(name, run.goals[name])
        yield from drawing.guarantee(name, run.goals[name])
    for kind, array, title, label, read, together in VALUES:
        drawn, note = (
            (of_errors, wrong.note) if kind == "measure" else (drawing, f"At {run.place}." if run.place else "")
        )
        result = drawn.run.result(kind)
        if result is not None and array in result.arrays:
            values, rounding = without_rounding(read(result.arrays))
            trained = drawn.trained()
            everywhere = "Every cell is a goal of the training." if len(trained) == drawn.places else ""
            words = " ".join(part for part in (drawn.told(together), note, rounding, everywhere) if part)
            marked = () if everywhere else trained
            yield drawn.map(title, values, together, note=words, label=label, goals=marked, from_zero=True)


def drawing_of(run: StoredRun) -> MapDrawing | None:
    """What the run's world is drawn on, if it has a map."""
    if not isinstance(run.space, FiniteSpace) or run.space.chart is None:
        return None
    return MapDrawing(run, run.space, run.space.chart)


Together = Literal["mean", "sum", "max"]  # what a cell shows of several states in it
TAKEN: dict[Together, Any] = {"mean": np.nanmean, "sum": np.nansum, "max": np.nanmax}

# A number for each state: the stage and the array of it that there must be, title, what the values are, the values.
VALUES: tuple[tuple[str, str, str, str, Callable[[Arrays], np.ndarray], Together], ...] = (
    (
        *("train", "visits", "where the agent has been", "share of its steps"),
        *(lambda arrays: arrays["visits"] / max(1, arrays["visits"].sum()), "sum"),
    ),
    (
        *("measure", "tv", "where the model is wrong", "total variation, mean over actions"),
        *(lambda arrays: arrays["tv"].mean(axis=1), "mean"),
    ),
    (
        *("identify", "high", "what the values leave open", "widest identified interval"),
        *(lambda arrays: (arrays["high"] - arrays["low"]).max(axis=(1, 2)), "max"),
    ),
)


@dataclass(frozen=True, eq=False)
class MapDrawing:
    """A map to draw on, and the run that is drawn."""

    run: StoredRun
    space: FiniteSpace
    chart: Chart

    def map(self, title: str, values: np.ndarray, together: Together = "mean", **more: Any) -> GridMap:
        """Values [S] over the map: of several states in one cell their mean, sum or maximum."""
        table = self.chart.states()  # [rows, columns, H]
        free = (table >= 0).any(axis=-1)
        padded = np.where(table >= 0, np.asarray(values, float)[table], np.nan)[free]  # [n, H]
        world = self.run.run.point.experiment.mdp
        return GridMap(
            title=title,
            shape=self.chart.shape,
            cells=np.argwhere(free),
            walls=tuple((int(row), int(column)) for row, column in np.argwhere(~free)),
            values=TAKEN[together](padded, axis=-1),
            axes=self.chart.axes,
            origin=self.chart.origin,
            signs=world.traits.signs(world.options, self.space),
            regions={name: self.at(states) for name, states in self.space.regions.items()},
            **more,
        )

    def told(self, together: Together = "mean") -> str:
        """How the variables that the map does not show were taken together, in words."""
        others, words = " and ".join(self.chart.others), {"mean": "Mean", "sum": "Sum", "max": "Greatest"}
        return f"{words[together]} over {others}." if others else ""

    def at(self, states: Any) -> tuple[Cell, ...]:
        return tuple((int(row), int(column)) for row, column in self.chart.cells[list(states)].tolist())

    @property
    def places(self) -> int:
        """How many cells there are."""
        return len(np.unique(self.chart.cells, axis=0))

    def trained(self) -> tuple[Cell, ...]:
        """The cells of the goals that the agent was trained on; none where these have no place on the map."""
        each = goal_states(self.run.run.point.experiment.goals, self.space)
        return tuple(dict.fromkeys(self.at([state for states in each for state in states])))

    def marked(self, states: Sequence[int]) -> tuple[Cell, ...]:
        """The cells of some states, each once; none where they lie all over the map, for other variables tell them."""
        cells = tuple(dict.fromkeys(self.at(states)))
        everywhere = self.chart.others and len(cells) == self.places
        return () if everywhere else cells

    def plan(self, name: str, goal: UnseenGoal) -> Iterator[GridMap]:
        """V* with the optimal way and the model's, for one unseen goal; without a true world, the model's values."""
        oracle, plan = self.run.result("oracle", name), self.run.result("plan", name)
        if plan is None or (oracle is None and self.run.knows_best(name)):
            return
        more = self.of_goal(goal, self.run.returns(plan, name))
        if oracle is None:
            yield self.map(name, plan.arrays["value"], label="V in the extracted model", **more)
        else:
            paths = {"optimal": self.at(oracle.arrays["path"]), "model": self.at(plan.arrays["path"])}
            yield self.map(name, oracle.arrays["value"], paths=paths, **more)

    def of_goal(self, goal: UnseenGoal, note: str) -> dict[str, Any]:
        """What every map of an unseen goal has: its caption, what to reach and what to avoid."""
        note = f"{note} ({self.run.place})" if self.run.place else note
        return {
            "note": f"{note}. {self.told()}" if self.told() else note,
            "target": self.marked([state for target in goal.targets for state in states_of(target, self.space, ())]),
            "avoid": self.marked(states_of(goal.avoid, self.space, ())),
        }

    def guarantee(self, name: str, goal: UnseenGoal) -> Iterator[GridMap]:
        """Where the guarantee is lost: what is certain, beside the optimal values or what is possible."""
        found = self.run.result("guarantee", name)
        if found is None:
            return
        metrics, arrays = found.data["metrics"], found.arrays
        returns = {"Certain": "r_certain", "possible": "r_possible", "cautious policy": "r_cautious"}
        told = ", ".join(f"{word} {metrics[key]['value']:.4g}" for word, key in returns.items() if key in metrics)
        above, word = ("best", "V*") if "best" in arrays else ("possible", "what is possible")
        step = "What a step of the cautious policy is worth in the best of the kernels that fit, less in the worst"
        for title, values, label, note in (
            ("where the guarantee is lost", arrays[above] - arrays["certain"], f"{word} less what is certain", told),
            ("what its steps leave open", arrays["open"], "value that one step leaves open", step),
        ):
            drawn, rounding = without_rounding(np.maximum(values, 0.0))
            more = self.of_goal(goal, f"{note}. {rounding.rstrip('.')}" if rounding else note)
            yield self.map(f"{name}: {title}", drawn, label=label, from_zero=True, **more)
