"""A grid world seen from above: optimal values, walls, and the ways that two policies take."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch, Rectangle

from wmlab.report.data import Cell, GridMap
from wmlab.report.figures.scales import together
from wmlab.report.figures.style import (
    BLUE,
    GREEN,
    INK,
    PURPLE,
    VALUES,
    VERMILLION,
    YELLOW,
    Picture,
    colour_bar,
    picture,
    text,
)

WALL = "#3a3f47"
AVOID: dict[str, Any] = {"facecolor": "wmlab:unsafe", "edgecolor": "wmlab:unsafe_edge", "hatch": "xxx"}
TARGET: dict[str, Any] = {"marker": "*", "linestyle": "", "markerfacecolor": YELLOW, "markeredgecolor": "#000000"}
GOAL: dict[str, Any] = {"marker": "*", "linestyle": "", "markerfacecolor": "#ffffff", "markeredgecolor": INK}
REGIONS = tuple((hatch, f"wmlab:region_{place}") for place, hatch in enumerate((".....", "////", "----", "ooo")))
TALL, SHORT = 3.0, 22  # inches of a map beside which a scale says everything in one line; letters of a line elsewhere
NARROW = 8  # times as long as wide: then cells are not drawn as squares
OFFSET = 0.11  # of a cell: two ways through the same cells run side by side
MANY_CELLS = 2_500  # beyond, cells are drawn as one image
WayStyle = tuple[str, Any, str]  # colour, dashes, label
POLICIES: dict[str, WayStyle] = {
    "optimal": (VERMILLION, (0, (3.2, 1.8)), "optimal policy"),
    "model": (BLUE, "-", "planned in the model"),
}
HALO = [effects.withStroke(linewidth=3.6, foreground="#ffffff")]
THIN_HALO = [effects.withStroke(linewidth=1.6, foreground="#ffffff")]


def map_chart(data: GridMap) -> Picture:
    """Values over the map, with the optimal way dashed and the model's solid."""
    rows, columns = data.shape
    width = 4.3
    height = min(7.0, max(2.2, (width - 1.0) * rows / columns + 0.75))
    label = text(data.label, 60) if height > TALL else textwrap.fill(text(data.label, 60), SHORT)

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        mesh = _values(axes, data)
        _walls(axes, data)
        _regions(axes, data)
        for row, column in data.avoid:
            axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, linewidth=0.8, **AVOID))
        for index, (name, way) in enumerate(data.paths.items()):
            _way(axes, name, way, index, len(data.paths))
        size = max(5.0, min(15, 15 * 11 / columns))
        for row, column in data.goals:
            axes.plot(column, row, markersize=0.6 * size, markeredgewidth=0.7, zorder=5.5, **GOAL)
        for row, column in data.target:
            axes.plot(column, row, markersize=size, markeredgewidth=0.8, zorder=6, **TARGET)
        _signs(axes, data)
        _frame(axes, data)
        below = (mesh.get_array().compressed() < mesh.norm.vmin).any()
        extend = "min" if below else "neither"
        colour_bar(figure, mesh, axes, label, fraction=0.045, extend=extend)
        if handles := _legend(data):
            look: dict[str, Any] = {"ncols": min(len(handles), 3), "columnspacing": 1.2, "handlelength": 2.0}
            figure.legend(handles=handles, loc="outside lower center", **look)

    return picture(paint, (width, height))


def _values(axes: Axes, data: GridMap) -> Any:
    """The values, a cell each; vector graphics while there are few enough."""
    rows, columns = data.shape
    grid = np.full((rows, columns), np.nan)
    cells = np.asarray(data.cells, dtype=int).reshape(-1, 2)
    grid[cells[:, 0], cells[:, 1]] = np.asarray(data.values, dtype=float)
    for row, column in data.avoid:
        grid[row, column] = np.nan
    low, high = _limits(together(data.label, grid[np.isfinite(grid)]), data.from_zero)
    masked = np.ma.masked_invalid(grid)
    if rows * columns > MANY_CELLS:
        return axes.imshow(masked, cmap=VALUES, interpolation="none", vmin=low, vmax=high)
    edges = (np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5)
    return axes.pcolormesh(*edges, masked, cmap=VALUES, edgecolors="#ffffff", linewidth=0.4, vmin=low, vmax=high)


def _limits(known: np.ndarray, from_zero: bool) -> tuple[float, float]:
    """The range of colours; where the goal cannot be reached (V* = 0) a cell falls below the scale."""
    if from_zero:
        return 0.0, float(known.max()) if known.size and known.max() > 0 else 1.0
    positive = known[known > 0]
    known = positive if positive.size and (known >= 0).all() else known
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    return low, high if high > low else low + 1.0


def _walls(axes: Axes, data: GridMap) -> None:
    rows, columns = data.shape
    if rows * columns > MANY_CELLS:
        walls = np.zeros((rows, columns))
        for row, column in data.walls:
            walls[row, column] = 1
        dark = LinearSegmentedColormap.from_list("wall", [WALL, WALL])
        axes.imshow(np.ma.masked_equal(walls, 0), cmap=dark, interpolation="none")
        return
    for row, column in data.walls:
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=WALL, edgecolor=WALL, linewidth=0.4))


def _regions(axes: Axes, data: GridMap) -> None:
    """Named parts of the map, each with lines of its own over the values."""
    for index, cells in enumerate(data.regions.values()):
        for row, column in cells:
            axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, linewidth=0, **_region_look(index)))


def _region_look(index: int) -> dict[str, Any]:
    hatch, colour = REGIONS[index % len(REGIONS)]
    return {"facecolor": "none", "edgecolor": colour, "hatch": hatch}


def _signs(axes: Axes, data: GridMap) -> None:
    """Arrows in cells that can be left in some directions alone."""
    look: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "zorder": 7, "path_effects": THIN_HALO}
    size = max(4.0, min(11.0, 130 / max(data.shape)))
    for (row, column), sign in data.signs.items():
        axes.text(column, row, sign, fontsize=size, **look)


def _way(axes: Axes, name: str, way: Sequence[Cell], index: int, count: int) -> None:
    """One trajectory: a line through neighbouring cells, a dotted arc where it jumps."""
    if not way:
        return
    colour, dash, _ = _look(name, index)
    shift = OFFSET * (2 * index - (count - 1)) / max(1, count - 1) if count > 1 else 0.0
    points = np.asarray(way, dtype=float) + shift
    jumps = np.flatnonzero(np.abs(np.diff(points, axis=0)).sum(axis=1) > 1.5)
    line: dict[str, Any] = {"color": colour, "zorder": 4, "path_effects": HALO}
    joints: dict[str, Any] = {"solid_joinstyle": "round", "dash_joinstyle": "round"}
    for part in np.split(points, jumps + 1):
        axes.plot(part[:, 1], part[:, 0], linestyle=dash, linewidth=1.9, **line, **joints)
    for jump in jumps:
        start, end = tuple(points[jump][::-1]), tuple(points[jump + 1][::-1])
        arc: dict[str, Any] = {"connectionstyle": "arc3,rad=0.25", "arrowstyle": "-|>", "mutation_scale": 9}
        axes.add_patch(FancyArrowPatch(start, end, linestyle=":", linewidth=1.4, **arc, **line))
    edge: dict[str, Any] = {"markeredgecolor": "#ffffff", "markeredgewidth": 0.8}
    axes.plot(points[0, 1], points[0, 0], "o", color=colour, markersize=4.5, zorder=5, **edge)


def _look(name: str, index: int) -> WayStyle:
    return POLICIES.get(name) or ((GREEN, PURPLE)[index % 2], "-.", text(name, 28))


def _frame(axes: Axes, data: GridMap) -> None:
    (rows, columns), (across, along) = data.shape, data.axes
    narrow = max(rows, columns) > NARROW * min(rows, columns)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="auto" if narrow else "equal")
    axes.set(xlabel=text(along, 40), ylabel=text(across, 40))
    for axis, length, first, name in ((axes.xaxis, columns, 1, along), (axes.yaxis, rows, 0, across)):
        ticks = range(0, length, max(1, length // 6)) if name else ()
        axis.set_ticks(list(ticks), [str(tick + data.origin[first]) for tick in ticks])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _legend(data: GridMap) -> list[Line2D | Patch]:
    handles: list[Line2D | Patch] = []
    for index, name in enumerate(data.paths):
        colour, dash, label = _look(name, index)
        handles.append(Line2D([], [], color=colour, linestyle=dash, linewidth=1.9, label=label))
    if data.target:
        handles.append(Line2D([], [], markersize=10, label="target", **TARGET))
    if data.goals:
        handles.append(Line2D([], [], markersize=7, markeredgewidth=0.7, label="training goal", **GOAL))
    for index, name in enumerate(data.regions):
        handles.append(Patch(label=text(name, 28), linewidth=0.4, **_region_look(index)))
    if data.avoid:
        handles.append(Patch(label="unsafe", **AVOID))
    if data.paths:
        handles.append(Line2D([], [], marker="o", linestyle="", markersize=4.5, color=INK, label="start"))
    return handles
