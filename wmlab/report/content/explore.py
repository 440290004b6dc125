"""What the explorer of a page shows, from the stage that stored it."""

from __future__ import annotations

import math

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.select import states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.report.content.goal_states import goal_states
from wmlab.report.content.stored_run import StoredRun
from wmlab.report.data import Explorer, ExplorerAxis, PlaneExplorer
from wmlab.runtime.result import Result
from wmlab.sections.explorer import NothingToExplore

NOT_RUN = "its stage has not been run; `wmlab run` adds it and computes nothing else again"


def explorer(run: StoredRun) -> Explorer | PlaneExplorer | str:
    """The explorer of a run; where there is none, why, or nothing where none is wanted."""
    found = run.result("explore")
    if found is None:
        return why_none(run)
    if isinstance(run.space, ContinuousSpace):
        return of_planes(run, run.space, found)
    return of_states(run, run.space, found)


def why_none(run: StoredRun) -> str:
    """Why a run has no explorer; nothing where none is wanted."""
    try:
        return "" if run.run.point.experiment.explorer is None else NOT_RUN
    except NothingToExplore as reason:
        return str(reason)


def of_planes(run: StoredRun, space: ContinuousSpace, found: Result) -> PlaneExplorer:
    """The explorer of a continuous world."""
    data = found.data
    kept = zip(data["variables"], data["ranges"], data["sizes"], data["starts"], strict=True)
    axes = []
    for name, (low, high), size, starts in kept:
        column = space.names.index(name)
        axes.append(ExplorerAxis(name, low, high, size, starts, column, space.variables[column].periodic))
    return PlaneExplorer(
        axes=tuple(axes),
        variables=space.names,
        actions=space.actions,
        goals=tuple(map(str, data["goals"])),
        arrays=found.arrays,
        fixed=data["fixed"],
        greedy=data["policy"] == "greedy",
        place=run.place,
        goals_left_out=int(data["goals_left_out"]),
    )


def of_states(run: StoredRun, space: FiniteSpace, found: Result) -> Explorer:
    """The explorer of a finite world."""
    data = found.data
    cells, shape, axes = layout_of(space)
    marks = {
        name: {
            "reach": tuple(state for target in goal.targets for state in states_of(target, space, ())),
            "avoid": tuple(states_of(goal.avoid, space, ())),
        }
        for name, goal in run.goals.items()
    }
    return Explorer(
        states=tuple(map(str, space.names)),
        actions=space.actions,
        cells=cells,
        shape=shape,
        axes=axes,
        goals=tuple(map(str, data["goals"])),
        goals_left_out=int(data["goals_left_out"]),
        unseen=tuple(map(str, data["unseen"])),
        arrays=found.arrays,
        marks=marks,
        trained=tuple(goal_states(run.run.point.experiment.goals, space)[: len(data["goals"])]),
        place=run.place,
    )


def layout_of(space: FiniteSpace) -> tuple[np.ndarray, tuple[int, int], tuple[str, str]]:
    """Where each state stands: on its map, or one after the other in rows of equal length."""
    chart = space.chart
    if chart is not None:
        return chart.cells, chart.shape, chart.axes
    across = math.ceil(math.sqrt(space.size))
    place = np.arange(space.size)
    return np.stack([place // across, place % across], axis=1), (math.ceil(space.size / across), across), ("", "")
