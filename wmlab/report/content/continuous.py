"""Planes and sheets for a report on a continuous world: what is known over two of its variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.report.content.regions import PlaneStates, targets, trained, untold
from wmlab.report.content.stored_run import StoredRun
from wmlab.report.content.worst import WorstRun, without_rounding
from wmlab.report.data import Panel, Plane, Sheet
from wmlab.runtime.result import Result
from wmlab.sections.spec import Compare
from wmlab.spec.compose.axes import Axis

ERROR = "squared error / variance of moves"
DOUBT = "variance among members / variance of moves"
UNMEASURED = "no state there was measured"
UNLOOKED = "no state there was looked at"
MOST_PANELS = 24  # more cannot be told apart


def planes(run: StoredRun, wrong: WorstRun, space: ContinuousSpace, goals: Sequence[str]) -> Iterator[Plane]:
    """The planes of one run, over the first two variables; errors are those of the run where they are greatest."""
    if space.size < 2:
        return
    drawing = PlaneDrawing(run, space)
    yield from drawing.visits()
    of_errors = PlaneDrawing(wrong.run, space, wrong.note)
    yield from of_errors.errors()
    yield from of_errors.doubts()
    yield from drawing.ranks()
    for goal in goals:
        yield from drawing.ways(goal)


class PlaneDrawing:
    """One run, to be drawn over the first two variables of its world."""

    def __init__(self, run: StoredRun, space: ContinuousSpace, note: str | None = None):
        self.run, self.space = run, space
        self.note = note if note is not None else f"At {run.place}." if run.place else ""

    def plane(self, title: str, values: np.ndarray, label: str, goal: Any = None, **more: Any) -> Plane:
        """Values over the two variables with the goals of the training; of an unseen goal, with what it reaches and
        avoids."""
        x, y = self.space.variables[:2]
        periods = tuple(variable.period if variable.periodic else None for variable in (x, y))
        settings = {"x_range": x.scale, "y_range": y.scale, "periods": periods, "note": self.note, **more}
        plane = PlaneStates(self.space, (0, 1), settings["x_range"], settings["y_range"])
        trained_on = self.run.run.point.experiment.goals
        regions = tuple(trained(trained_on, plane) if goal is None else targets(goal, plane))
        if goal is not None and (words := untold(goal, regions)):
            settings["note"] = f"{settings['note']} {words}".strip()
        return Plane(title=title, x=x.name, y=y.name, values=values, label=label, regions=regions, **settings)

    def visits(self) -> Iterator[Plane]:
        """Where the agent has been, whatever the other variables were."""
        result = self.run.result("train")
        if result is None or "visits" not in result.arrays:
            return
        counts = result.arrays["visits"].astype(float)
        counts = counts.sum(axis=tuple(range(2, counts.ndim)))  # over all but the first two variables
        shares = np.where(counts > 0, counts / max(1.0, counts.sum()), np.nan)
        blank = "it has never been there"
        yield self.plane("where the agent has been", shares, "share of its steps", powers=True, blank=blank)

    def errors(self) -> Iterator[Plane]:
        """Where the model is wrong, on average over the other variables and the actions."""
        result = self.run.result("measure")
        if result is None or "map/error" not in result.arrays:
            return
        title, (values, rounding) = "where the model is wrong", without_rounding(result.arrays["map/error"])
        more = {"note": " ".join(part for part in (self.note, rounding) if part), "powers": not rounding}
        yield self.plane(title, values, ERROR, blank=UNMEASURED, **more, **mapped_ranges(result))

    def doubts(self) -> Iterator[Plane]:
        """Where the members of an ensemble disagree, likewise, and what that says of its errors."""
        result = self.run.result("measure")
        if result is None or "doubt/error" not in result.arrays:
            return
        title, (values, rounding) = "where the ensemble disagrees", without_rounding(result.arrays["doubt/error"])
        rank = result.data["metrics"].get("wm.disagreement_rank", {}).get("value")
        told = "" if rank is None else f"Its rank correlation with the true error, over states, is {rank:.2f}."
        more = {"note": " ".join(part for part in (told, self.note, rounding) if part), "powers": not rounding}
        yield self.plane(title, values, DOUBT, blank=UNMEASURED, **more, **mapped_ranges(result, "doubt"))

    def ranks(self) -> Iterator[Plane]:
        """How many directions of a next state values tell apart, on average over the other variables."""
        result = self.run.result("identify")
        if result is None or "rank/error" not in result.arrays:
            return
        title, label = "what the values tell", f"directions of a next state told apart, of {self.space.size}"
        usual = result.data["metrics"]["ident.local_rank"]["value"]
        note = " ".join(part for part in (f"At most states {usual:.0f}.", self.averaged, self.note) if part)
        values = result.arrays["rank/error"]
        yield self.plane(title, values, label, blank=UNLOOKED, **{"note": note}, **mapped_ranges(result, "rank"))

    def ways(self, goal: str) -> Iterator[Plane]:
        """V* of an unseen goal with the optimal way and the model's, on average over other variables.

        Where there is no true world to hold them against, the model's own values.
        """
        oracle, plan = self.run.result("oracle", goal), self.run.result("plan", goal)
        if plan is None:
            return
        note = " ".join(part for part in (f"{self.run.returns(plan, goal)}.", self.averaged, self.note) if part)
        more: dict[str, Any] = {"goal": self.run.goals[goal], "note": note}
        if not self.run.knows_best(goal) and "value" in plan.arrays:
            yield self.plane(goal, over_two(plan.arrays["value"]), "V in the extracted model", **more)
        elif oracle is not None and "value" in oracle.arrays:
            paths = {"optimal": oracle.arrays["path"][:, :2], "model": plan.arrays["path"][:, :2]}
            yield self.plane(goal, over_two(oracle.arrays["value"]), "V*, discounted return", paths=paths, **more)

    @property
    def averaged(self) -> str:
        """Over which variables values are means, in words."""
        others = " and ".join(self.space.names[2:])
        return f"Mean over {others}." if others else ""


def over_two(values: np.ndarray) -> np.ndarray:
    """Values over all variables as those over the first two: [columns, rows]."""
    mean: np.ndarray = values.mean(axis=tuple(range(2, values.ndim)))
    return mean


# --- the agent and its model beside the truth ------------------------------------------------------------------


def sheets(run: StoredRun, space: ContinuousSpace, others: Mapping[str, Compare]) -> Iterator[Sheet]:
    """What was looked at closely in one run; `others` are the specs that it is compared with."""
    look = run.result("look")
    if look is not None:
        drawing = LookDrawing(run, space, look, others)
        yield drawing.values()
        yield drawing.changes()
        yield drawing.arrows()


class LookDrawing:
    """The stored result of a closer look, to be drawn."""

    def __init__(self, run: StoredRun, space: ContinuousSpace, look: Result, others: Mapping[str, Compare]):
        self.arrays, self.data, self.others = look.arrays, look.data, others
        columns = [space.names.index(name) for name in self.data["across"]]
        variables = [space.variables[column] for column in columns]
        x_range, y_range = self.data["ranges"]
        plane = PlaneStates(space, (columns[0], columns[1]), tuple(x_range), tuple(y_range), self.data["fixed"])
        experiment = run.run.point.experiment
        only = experiment.evaluate.look.goal if experiment.evaluate.look is not None else 0
        self.regions = tuple(trained(experiment.goals, plane, only))
        self.periods = tuple(variable.period if variable.periodic else None for variable in variables)
        fixed = ", ".join(f"{name} = {value:g}" for name, value in self.data["fixed"].items())
        places = [f"At {run.place}" if run.place else "", f"seed {run.run.seed}", f"with {fixed}" if fixed else ""]
        place = ", ".join(part for part in places if part)
        self.place = f"{place[:1].upper()}{place[1:]}."

    def sheet(self, title: str, panels: list[Panel], columns: int, note: str) -> Sheet:
        x, y = self.data["across"]
        x_range, y_range = map(tuple, self.data["ranges"])
        over: dict[str, Any] = {"title": title, "x": x, "y": y, "x_range": x_range, "y_range": y_range}
        note = f"{note} {self.place}".strip()
        more: dict[str, Any] = {"periods": self.periods, "regions": self.regions}
        return Sheet(**over, panels=tuple(panels), columns=columns, note=note, **more)

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
        ways = []
        for name in ("world", "model"):
            if f"way/{name}" in self.arrays:
                steps = self.arrays[f"steps/{name}"].astype(int)
                states = self.arrays[f"way/{name}"]
                ways += [(name, states[: steps[start] + 1, start]) for start in range(states.shape[1])]
        return tuple(ways)

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
            spec = PurePosixPath(self.others[name].with_).stem
            panels.append(Panel(f"model of {spec}", arrows=self.arrays[f"arrow/{name}"], behind=truth))
        pale = " Pale arrows are the world’s." if truth is not None else ""
        note = f"Action {self.data['action']}; arrows share one scale, and point where a step leads.{pale}"
        return self.sheet("models as arrows", panels, min(3, len(panels)), note)


def every_error(runs: Sequence[StoredRun], axes: Sequence[Axis]) -> Iterator[Sheet]:
    """Where the model is wrong at each point of a sweep, in common colours; `runs` are of one seed."""
    results = [(run, result) for run in runs if (result := run.result("measure")) is not None]
    maps = [(run, result) for run, result in results if "map/error" in result.arrays][:MOST_PANELS]
    if not maps:
        return
    drawn, rounding = without_rounding(np.stack([result.arrays["map/error"] for _, result in maps]))
    panels = [
        Panel(title_of(run, result.data), values, ERROR) for (run, result), values in zip(maps, drawn, strict=True)
    ]
    run, result = maps[0]
    assert isinstance(run.space, ContinuousSpace)
    columns = len(axes[-1].labels) if axes else 1
    columns = columns if 2 <= columns <= 4 else min(3, len(panels))
    over = "actions and other variables" if run.space.size > 2 else "actions"
    note = f"Mean over {over}; beside each name, the error over all states (wm.delta_nmse). Seed {run.run.seed}."
    note = f"{note} {rounding}".strip()
    x, y = result.data["across"]
    ranges = mapped_ranges(result)
    columns_of = (run.space.names.index(x), run.space.names.index(y))
    plane = PlaneStates(run.space, columns_of, ranges["x_range"], ranges["y_range"])
    goals = tuple(trained(run.run.point.experiment.goals, plane))
    place: dict[str, Any] = {"title": "where each model is wrong", "x": x, "y": y, "regions": goals, **ranges}
    yield Sheet(**place, panels=tuple(panels), columns=columns, note=note, powers=not rounding, blank=UNMEASURED)


def mapped_ranges(result: Result, of: str = "map") -> dict[str, tuple[float, float]]:
    """From where to where errors, or doubts, were mapped along both variables."""
    edges = {axis: result.arrays[f"{of}/{axis}"] for axis in "xy"}
    return {f"{axis}_range": (float(along[0]), float(along[-1])) for axis, along in edges.items()}


def title_of(run: StoredRun, data: Mapping[str, Any]) -> str:
    error = data["metrics"].get("wm.delta_nmse", {}).get("value")
    place = ", ".join(str(label) for label in run.run.point.where.values())
    return place if error is None else f"{place}: {error:.2g}"
