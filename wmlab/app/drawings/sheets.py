"""Sheets for a report on a continuous world: the agent and its model beside the truth, over two variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab.app.drawings.drawn import Drawn, drawn
from wmlab.app.drawings.planes import ERROR, UNMEASURED
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.graph.compile import Plan
from wmlab.graph.drawing import asked_maps
from wmlab.graph.key import Key
from wmlab.report.data import Panel, Sheet
from wmlab.runtime.store import Store
from wmlab.spec.check.kind_checks import space_of

MOST_PANELS = 24  # more cannot be told apart


def sheets(plan: Plan, keys: Mapping[str, Key], store: Store) -> Iterator[Sheet]:
    """What was looked at closely in one run, and where the models of all points are wrong."""
    run = drawn(plan, keys, store)
    space = None if run is None else space_of(run.run.point.data)
    if run is None or not isinstance(space, ContinuousSpace):
        return
    looked = run.result("look")
    if looked is not None:
        others = plan.resolved.data.get("compare", {})
        yield from Looked(run, space, looked.arrays, looked.data, others).sheets()
    if asked_maps(plan.resolved).get("errors") == "every_point":
        yield from every_error(plan, keys, store)


class Looked:
    """The stored result of a closer look, to be drawn."""

    def __init__(
        self,
        run: Drawn,
        space: ContinuousSpace,
        arrays: Mapping[str, np.ndarray],
        data: Mapping[str, Any],
        others: Mapping[str, Any],
    ):
        self.arrays, self.data, self.others = arrays, data, others
        variables = [space.variables[space.names.index(name)] for name in data["across"]]
        self.periods = tuple(variable.period if variable.periodic else None for variable in variables)
        fixed = ", ".join(f"{name} = {value:g}" for name, value in data["fixed"].items())
        places = [f"At {run.place}" if run.place else "", f"seed {run.run.seed}", f"with {fixed}" if fixed else ""]
        place = ", ".join(part for part in places if part)
        self.place = f"{place[:1].upper()}{place[1:]}."

    def sheet(self, title: str, panels: list[Panel], columns: int, note: str) -> Sheet:
        x, y = self.data["across"]
        x_range, y_range = (tuple(pair) for pair in self.data["ranges"])
        note = f"{note} {self.place}".strip()
        return Sheet(title, x, y, x_range, y_range, tuple(panels), columns, note, periods=self.periods)  # type: ignore[arg-type]

    def sheets(self) -> Iterator[Sheet]:
        yield self.values()
        yield self.changes()
        yield self.arrows()

    def values(self) -> Sheet:
        """The learnt V with ways through it, beside the exact one."""
        arrays, scale = self.arrays, "V, discounted return"
        panels = [Panel("the agent’s values", arrays["value"], scale, ways=self.ways())]
        if "exact" in arrays:
            panels.append(Panel("exact values", arrays["exact"], scale))
        names = " and ".join(name for name in ("world", "model") if f"way/{name}" in arrays)
        note = f"Goal {self.data['goal']}; the agent’s own policy is followed in the {names} from the same starts."
        return self.sheet("values and ways", panels, 2, note)

    def ways(self) -> tuple[tuple[str, np.ndarray], ...]:
        found = []
        for name in ("world", "model"):
            if f"way/{name}" in self.arrays:
                steps = self.arrays[f"steps/{name}"].astype(int)
                ways = self.arrays[f"way/{name}"]
                found += [(name, ways[: steps[start] + 1, start]) for start in range(ways.shape[1])]
        return tuple(found)

    def changes(self) -> Sheet:
        """What one action does to each of the two variables, in the world and in the model."""
        panels = []
        for column, variable in enumerate(self.data["across"]):
            for name, title in (("truth", "the world"), ("model", "the model")):
                if f"change/{name}" in self.arrays:
                    values = self.arrays[f"change/{name}"][..., column]
                    panels.append(Panel(f"Δ {variable}, {title}", values, f"Δ {variable}", signed=True))
        note = f"Action {self.data['action']}: the change of state in one step."
        return self.sheet("what an action does", panels, 2, note)

    def arrows(self) -> Sheet:
        """The same as arrows, for this model and for those of other specs that it is compared with."""
        truth = self.arrays.get("arrow/truth")
        panels = [] if truth is None else [Panel("the world", arrows=truth)]
        panels.append(Panel("this model", arrows=self.arrays["arrow/model"], behind=truth))
        for name in self.data["others"]:
            title = f"model of {stem(self.others[name]['with'])}"
            panels.append(Panel(title, arrows=self.arrays[f"arrow/{name}"], behind=truth))
        pale = " Pale arrows are the world’s." if truth is not None else ""
        note = f"Action {self.data['action']}; arrows share one scale, and point where a step leads.{pale}"
        return self.sheet("models as arrows", panels, min(3, len(panels)), note)


def stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".yaml")


def every_error(plan: Plan, keys: Mapping[str, Key], store: Store) -> Iterator[Sheet]:
    """Where the model is wrong at each point of a sweep, in common colours; first seed."""
    first = plan.resolved.seeds[0]
    runs = [Drawn(run, keys, store) for run in plan.runs if run.seed == first]
    found = [(run, result) for run in runs if (result := run.result("measure")) is not None]
    maps = [(run, result) for run, result in found if "map/error" in result.arrays][:MOST_PANELS]
    if not maps:
        return
    panels = [Panel(title_of(run, result.data), result.arrays["map/error"], ERROR) for run, result in maps]
    result = maps[0][1]
    x_range, y_range = (
        (float(edges[0]), float(edges[-1])) for edges in (result.arrays[f"map/{axis}"] for axis in "xy")
    )
    x, y = result.data["across"]
    columns = len(plan.resolved.axes[-1].labels) if plan.resolved.axes else 1
    columns = columns if 2 <= columns <= 4 else min(3, len(panels))
    over = "actions and other variables" if more_than_two(maps[0][0]) else "actions"
    note = f"Mean over {over}; beside each name, the error over all states (wm.delta_nmse). Seed {first}."
    title, shown = "where each model is wrong", tuple(panels)
    yield Sheet(title, x, y, x_range, y_range, shown, columns, note, powers=True, blank=UNMEASURED)


def title_of(run: Drawn, data: Mapping[str, Any]) -> str:
    metric = data.get("metrics", {}).get("wm.delta_nmse", {}).get("value")
    place = ", ".join(str(label) for label in run.run.point.where.values())
    return f"{place}: {metric:.2g}" if metric is not None else place


def more_than_two(run: Drawn) -> bool:
    space = space_of(run.run.point.data)
    return isinstance(space, ContinuousSpace) and space.size > 2
