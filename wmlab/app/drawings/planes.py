"""Planes for a report on a continuous world: two of its variables, and what is known over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from wmlab.app.drawings.drawn import Drawn, drawn
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.graph.compile import Plan
from wmlab.graph.drawing import asked_maps
from wmlab.graph.key import Key
from wmlab.report.data import Plane
from wmlab.runtime.result import Result
from wmlab.runtime.store import Store
from wmlab.spec.check.kind_checks import space_of

ERROR = "squared error / variance of moves"
UNMEASURED = "no state there was measured"


def planes(plan: Plan, keys: Mapping[str, Key], store: Store) -> Iterator[Plane]:
    """The planes of one run, over the first two variables."""
    run = drawn(plan, keys, store)
    space = None if run is None else space_of(run.run.point.data)
    if run is None or not isinstance(space, ContinuousSpace) or space.size < 2:
        return
    drawing = Drawing(run, space, f"At {run.place}." if run.place else "")
    yield from drawing.visits()
    yield from drawing.errors()
    for goal in run.goals:
        if goal in (asked_maps(plan.resolved).get("goals") or (goal,)):
            yield from drawing.ways(goal)


class Drawing:
    """One run, to be drawn over the first two variables of its world."""

    def __init__(self, run: Drawn, space: ContinuousSpace, note: str):
        self.run, self.space, self.note = run, space, note

    def plane(self, title: str, values: np.ndarray, label: str, **more: object) -> Plane:
        x, y = self.space.variables[:2]
        settings = {"x_range": x.scale, "y_range": y.scale, "note": self.note, **more}
        return Plane(title=title, x=x.name, y=y.name, values=values, label=label, **settings)  # type: ignore[arg-type]

    def visits(self) -> Iterator[Plane]:
        """Where the agent has been, whatever the other variables were."""
        found = self.run.result("train")
        if found is None or "visits" not in found.arrays:
            return
        counts = found.arrays["visits"].astype(float)
        counts = counts.sum(axis=tuple(range(2, counts.ndim)))  # over all but the first two variables
        shares = np.where(counts > 0, counts / max(1.0, counts.sum()), np.nan)
        blank = "it has never been there"
        yield self.plane("where the agent has been", shares, "share of its steps", powers=True, blank=blank)

    def errors(self) -> Iterator[Plane]:
        """Where the model is wrong, on average over the other variables and the actions."""
        found = self.run.result("measure")
        if found is None or "map/error" not in found.arrays:
            return
        arrays = found.arrays
        ranges = {f"{axis}_range": (float(arrays[f"map/{axis}"][0]), float(arrays[f"map/{axis}"][-1])) for axis in "xy"}
        title, values = "where the model is wrong", arrays["map/error"]
        yield self.plane(title, values, ERROR, powers=True, blank=UNMEASURED, **ranges)

    def ways(self, goal: str) -> Iterator[Plane]:
        """V* of an unseen goal with the optimal way and the model's, where two variables are the whole state."""
        oracle, plan = self.run.result(f"oracle {goal}"), self.run.result(f"plan {goal}")
        if f"oracle {goal}" not in self.run.run.stages and plan is not None and "value" in plan.arrays:
            yield from self.promised(goal, plan)
        if oracle is None or plan is None or "value" not in oracle.arrays or self.space.size != 2:
            return
        metrics = plan.data["metrics"]
        note = f"R* {metrics['r_star']['value']:.4g}, the model's policy {metrics['r_wm']['value']:.4g}. {self.note}"
        paths = {"optimal": oracle.arrays["path"], "model": plan.arrays["path"]}
        yield self.plane(goal, oracle.arrays["value"], "V*, discounted return", note=note.strip(), paths=paths)

    def promised(self, goal: str, plan: Result) -> Iterator[Plane]:
        """The model's own values of an unseen goal, where there is no true world to hold them against."""
        if self.space.size == 2:
            promise = plan.data["metrics"]["r_believed"]["value"]
            note = f"The extracted model promises {promise:.4g}; there is no truth to try it in. {self.note}".strip()
            yield self.plane(goal, plan.arrays["value"], "V in the extracted model", note=note)
