"""What a report is made of: stored results and where they came from, nothing computed.

`results` is the content of `results.json`. Its `failures` are mappings with `label` and `error`, and where known
`seed`, `where` and `traceback`. Its `report` is the spec's section of that name: what to draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wmlab.report.differences import Compared

Cell = tuple[int, int]  # row, column
Results = Mapping[str, Any]
PAGE, RESULTS = "index.html", "results.json"  # files of a report
FIGURES = "figures"  # the folder of its figures
SETTINGS = "settings.json"  # what the spec said, each value with its origin
DRAWINGS = "drawings.json"  # what its figures show, so that they can be drawn on one scale with others


@dataclass(frozen=True)
class ResolvedRow:
    """One setting of the resolved spec, and where it was written."""

    path: str
    value: Any
    source: str  # "specs/a.yaml:12", "--set", "default"
    changed: bool = False  # differs from the paper's profile
    paper_value: Any = None


@dataclass(frozen=True)
class StageRow:
    """One stage of the run."""

    label: str
    kind: str
    state: str  # done, failed, skipped or not run
    seconds: float | None = None
    key: str = ""


@dataclass(frozen=True)
class KindEdge:
    """Stages of one kind that use results of another."""

    source: str
    target: str
    count: int = 1


@dataclass(frozen=True)
class PlanRows:
    """The plan of a run: its stages, and which kinds feed which."""

    stages: tuple[StageRow, ...] = ()
    edges: tuple[KindEdge, ...] = ()


@dataclass(frozen=True, eq=False)
class GridMap:
    """Values over a grid, with the ways that two policies take through it."""

    title: str
    shape: tuple[int, int]  # rows, columns of the whole map
    cells: np.ndarray  # [n, 2] row, column of each cell that is no wall
    walls: tuple[Cell, ...]
    values: np.ndarray  # [n]
    target: tuple[Cell, ...] = ()
    avoid: tuple[Cell, ...] = ()
    goals: tuple[Cell, ...] = ()  # that an agent was trained on
    paths: Mapping[str, tuple[Cell, ...]] = field(default_factory=dict)  # "optimal", "model"
    note: str = ""  # for the caption: returns, start
    label: str = "V*, discounted return"  # what the values are
    from_zero: bool = False  # the scale begins at 0; otherwise 0 means that the goal cannot be reached
    axes: tuple[str, str] = ("row", "column")  # what rows and columns are; no name, no scale
    origin: Cell = (0, 0)  # what the first row and column are called
    signs: Mapping[Cell, str] = field(default_factory=dict)  # arrows in cells that lead one way
    regions: Mapping[str, tuple[Cell, ...]] = field(default_factory=dict)  # parts of the map with a name


@dataclass(frozen=True, eq=False)
class Region:
    """A part of a plane: what is to be reached or avoided, or what an agent was trained to reach."""

    sort: str  # target, unsafe or goal
    inside: np.ndarray  # bool [columns, rows], on a lattice from end to end of both ranges


@dataclass(frozen=True, eq=False, kw_only=True)
class OverTwoVariables:
    """A drawing over two variables of a continuous world."""

    title: str
    x: str  # names of the variables
    y: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    note: str = ""
    powers: bool = False  # scales of powers of ten
    blank: str = ""  # for the caption: why a place is blank
    periods: tuple[float | None, ...] = (None, None)  # of variables that go round in a circle
    regions: tuple[Region, ...] = ()  # of goals; on a sheet, of every panel


@dataclass(frozen=True, eq=False, kw_only=True)
class Plane(OverTwoVariables):
    """Values over two variables, with the ways that two policies take through them."""

    values: np.ndarray  # [columns, rows]: the first variable first; NaN is left blank
    label: str  # what the values are
    paths: Mapping[str, np.ndarray] = field(default_factory=dict)  # "optimal", "model": [T, 2]


@dataclass(frozen=True, eq=False)
class Panel:
    """One plane among several: values in colours, arrows, ways, or several of these."""

    title: str
    values: np.ndarray | None = None  # [columns, rows]; NaN is left blank
    scale: str = ""  # what the values are; panels of the same words share their colours
    signed: bool = False  # colours for less and more than nothing
    arrows: np.ndarray | None = None  # [columns, rows, 2] displacements
    behind: np.ndarray | None = None  # the same, drawn pale behind the arrows
    ways: tuple[tuple[str, np.ndarray], ...] = ()  # "world" or "model", [T, 2]


@dataclass(frozen=True, eq=False, kw_only=True)
class Sheet(OverTwoVariables):
    """Planes over the same two variables, side by side."""

    panels: tuple[Panel, ...]
    columns: int
    whole: bool = False  # both variables are whole numbers


@dataclass(frozen=True, eq=False)
class Explorer:
    """What a page lets one look at, state by state: arrays as a stage stored them, and what their places are called.

    Shapes: S states, A actions, G goals, N next states that are kept.
    """

    states: tuple[str, ...]  # [S] names
    actions: tuple[str, ...]
    cells: np.ndarray  # [S, 2] row, column on the map, or in a list of several rows where there is none
    shape: tuple[int, int]
    goals: tuple[str, ...]
    unseen: tuple[str, ...]
    arrays: Mapping[str, np.ndarray]  # next [S, A, N], q [G, S, A], …
    axes: tuple[str, str] = ("row", "column")  # empty where there is no map
    marks: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)  # unseen goal: reach, avoid
    trained: tuple[tuple[int, ...], ...] = ()  # [G] states of each training goal; empty where they have no place
    place: str = ""  # the point of a sweep
    goals_left_out: int = 0


@dataclass(frozen=True)
class ExplorerAxis:
    """A variable that can be chosen."""

    name: str
    low: float
    high: float
    size: int  # points of the grid along it
    starts: int  # of trajectories, likewise
    column: int  # of the state
    periodic: bool = False


@dataclass(frozen=True, eq=False)
class PlaneExplorer:
    """What a page lets one look at in a continuous world: arrays over a grid of states, as a stage stored them.

    Shapes: P points of the grid, the last axis fastest, G goals, A actions, d state variables.
    """

    axes: tuple[ExplorerAxis, ...]
    variables: tuple[str, ...]  # [d]
    actions: tuple[str, ...]
    goals: tuple[str, ...]
    arrays: Mapping[str, np.ndarray]  # q [G, A, P], v [G, P], move/truth [A, d, P], …
    fixed: Mapping[str, float] = field(default_factory=dict)  # variables that cannot be chosen
    greedy: bool = True  # exact values are the best there are, not those of a uniform policy
    place: str = ""  # the point of a sweep
    goals_left_out: int = 0


@dataclass(frozen=True, eq=False)
class ReportData:
    """All that one report shows."""

    results: Results
    resolved: tuple[ResolvedRow, ...] = ()
    plan: PlanRows = PlanRows()
    maps: tuple[GridMap, ...] = ()
    planes: tuple[Plane, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    kernels: tuple[Sheet, ...] = ()
    others: tuple[Compared, ...] = ()
    explorer: Explorer | PlaneExplorer | str = ""  # or why there is none, where one was wanted
    learning: tuple[Any, ...] = ()  # curves of agents and fits, as `series.MetricCurves`


@dataclass(frozen=True, eq=False)
class SuiteRow:
    """One spec of a suite; `results` is None where it has not been run."""

    name: str
    profile: str
    link: str  # to its report, relative to the suite's page
    results: Results | None = None
    note: str = ""  # why there are no results
