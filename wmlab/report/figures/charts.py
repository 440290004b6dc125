"""Curves over training, bars of returns, of one spec and of several in one grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from wmlab.report.figures.scales import together
from wmlab.report.figures.style import (
    BLUE,
    GREEN,
    HALF,
    INK,
    LINES,
    MARKERS,
    ORANGE,
    Picture,
    page_width,
    picture,
    quiet_grid,
    text,
)
from wmlab.report.series import ERRORS, WIDE_RANGE, Bars, MetricCurves
from wmlab.report.suite import SuiteBars
from wmlab.report.text import SUPERSCRIPTS

ROW, FRAME = 1.35, 0.75  # inches: the height of a row of panels, and of the legend and labels around all of them
MOST_ACROSS = 3  # panels in a row
CROWDED = 30  # points of a line, beyond which not each has a mark
LETTER, HANDLE = 0.073, 0.55  # inches: of an entry of a legend, its letters and what stands before them
LINES_ROW = 2.0  # inches: the height of a row of panels with lines
ENTRY = 0.17  # inches: the height of a row of a legend


def curve_chart(data: MetricCurves) -> Picture:
    """A metric over training with bands of ± one standard error; panels share their scales and their legend."""
    names = list(dict.fromkeys(line.label for line in data.lines))
    down, across = grid_of(len(data.panels))
    stretch = 1.0 if across == 1 else 1.6
    width = page_width() * stretch
    most = int((width - HANDLE) / LETTER)  # letters of an entry that has a row to itself
    labels = [text(name, most) for name in names] + ["R*, optimal"] * (data.reference is not None)
    columns, rows = legend_shape(labels, width, most=3 if across == 1 else 4)

    def paint(figure: Figure) -> None:
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
        for axes, panel in zip(grid, data.panels, strict=False):
            _draw_lines(axes, data, panel, names)
            axes.set_title(text(panel, 40))
        for axes in grid[len(data.panels) :]:
            axes.set_visible(False)
        if data.metric.partition(".")[0] in ERRORS:
            heights = np.concatenate([_floats(line.mean) for line in data.lines])
            scale_errors(grid[0], together(data.metric, heights))
        _name_axes(figure, grid, data)
        if len(labels) > 1:
            figure.legend(
                *_entries(grid, most), loc="outside upper center", ncols=columns, columnspacing=1.2, handlelength=2.2
            )

    height = HALF[1] if down == 1 else FRAME + LINES_ROW * down
    return picture(paint, (HALF[0] * stretch, height + ENTRY * max(0, rows - 2)))


def grid_of(panels: int) -> tuple[int, int]:
    """Rows and columns of panels: two in a row where that leaves no hole, three at most."""
    across = panels if panels < MOST_ACROSS else 2 if panels == 4 else MOST_ACROSS
    return -(-panels // across), across


def _draw_lines(axes: Axes, data: MetricCurves, panel: str, names: list[str]) -> None:
    """The lines of a panel; those of the same name look alike in all of them."""
    for line in data.lines:
        if line.panel != panel:
            continue
        index = names.index(line.label)
        colour, mean = LINES[index % len(LINES)], _floats(line.mean)
        dash, marker = "-" if index < len(LINES) else "--", MARKERS[index % len(MARKERS)]
        every = None if len(line.x) <= CROWDED else len(line.x) // 10  # marks tell lines apart, and hide a long one
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 3.8, "markevery": every}
        axes.plot(line.x, mean, dash, label=line.label, **look)
        axes.fill_between(line.x, _floats(line.low), _floats(line.high), color=colour, alpha=0.18, linewidth=0)
    if data.reference is not None:
        axes.axhline(data.reference, color=INK, linestyle=(0, (4, 3)), linewidth=1.0, label="R*, optimal")
    quiet_grid(axes)


def _name_axes(figure: Figure, grid: np.ndarray, data: MetricCurves) -> None:
    """What goes across and up: beside a single panel, or once for all of them."""
    grid[0].xaxis.set_major_locator(MaxNLocator(5, integer=True))
    grid[0].xaxis.set_major_formatter(FuncFormatter(_short))
    if len(grid) == 1:
        grid[0].set(xlabel=data.x_label, ylabel=text(data.y_label, 40))
    else:
        figure.supxlabel(data.x_label, fontsize=9)
        figure.supylabel(text(data.y_label, 40), fontsize=9)


def _entries(grid: np.ndarray, most: int) -> tuple[list[Any], list[str]]:
    """What a common legend holds: each name once, whichever panels have it, in so many letters at most."""
    found: dict[str, Any] = {}
    for axes in grid:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    return list(found.values()), [text(name, most) for name in found]


def legend_shape(labels: list[str], width: float, most: int = 3) -> tuple[int, int]:
    """Columns and rows of a legend, so that its entries stand beside each other within a width, in inches."""
    longest = max(map(len, labels), default=0)
    columns = max(1, min(most, len(labels), int(width / (HANDLE + LETTER * longest))))
    return columns, -(-len(labels) // columns)


def _floats(values: tuple[float | None, ...]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def scale_errors(axes: Axes, values: np.ndarray) -> None:
    """A logarithmic axis for errors that fall by orders of magnitude; zero keeps its own place at the bottom."""
    known = values[np.isfinite(values)]
    positive = known[known > 0]
    if not positive.size or (known < 0).any() or positive.max() < WIDE_RANGE * positive.min():
        return
    if positive.size == known.size:
        axes.set_yscale("log")
        axes.set_ylim(bottom=positive.min() / 2)
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_yscale("symlog", linthresh=positive.min(), linscale=0.5)
        axes.set_ylim(bottom=0)
        decades = range(math.ceil(np.log10(positive.min())), math.ceil(np.log10(positive.max())) + 1)
        axes.yaxis.set_major_locator(FixedLocator([0.0, *(10.0**power for power in decades)]))
    axes.yaxis.set_major_formatter(FuncFormatter(_power))


def _power(value: float, _: int) -> str:
    """A tick of a logarithmic axis: 10⁻⁴."""
    return f"10{str(round(np.log10(value))).translate(SUPERSCRIPTS)}" if value > 0 else "0"


def _short(value: float, _: int) -> str:
    """8 000 000 as 8M, so that ticks do not run into each other."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:g}"


def bar_chart(data: Bars) -> Picture:
    """R* against the return of the policy planned in the extracted model."""

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        paint_bars(axes, data)
        axes.set_xlabel(text(data.x_label))
        axes.set_ylabel("discounted return")
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.4, handlelength=1.6)

    return picture(paint)


def paint_bars(axes: Axes, data: Bars) -> None:
    """Bars side by side with their errors; a return that is missing says so."""
    groups = [("R*, optimal policy", data.best), ("Rᵂᴹ, planned in the model", data.model), *data.beside]
    place, width = np.arange(len(data.labels)), 0.72 / len(groups)
    for position, (name, pairs) in enumerate(groups):
        shift, colour = (position - (len(groups) - 1) / 2) * width, ("#b4b9c0", BLUE, GREEN, ORANGE)[position]
        heights = _floats(tuple(mean for mean, _ in pairs))
        errors = np.nan_to_num(_floats(tuple(error for _, error in pairs)))
        shown, spread = np.nan_to_num(heights), np.where(errors > 1e-12, errors, np.nan)
        ends: dict[str, Any] = {"ecolor": INK, "capsize": 2.5, "error_kw": {"elinewidth": 0.9}}
        axes.bar(place + shift, shown, width * 0.94, yerr=spread, color=colour, label=name, **ends)
        for x, value in zip(place + shift, heights, strict=True):
            if np.isnan(value):
                axes.annotate("none", (x, 0), ha="center", va="bottom", fontsize=7.5, rotation=90)
    axes.set_xticks(place, [text(label, 18) for label in data.labels])
    if max(map(len, data.labels)) * len(data.labels) > 48:
        axes.tick_params(axis="x", rotation=30)
    quiet_grid(axes)


def suite_chart(data: SuiteBars) -> Picture:
    """A row of panels for each spec; panels of a row share their scale."""
    across = min(MOST_ACROSS, max(map(len, data.rows)))

    def paint(figure: Figure) -> None:
        grid = figure.subplots(len(data.rows), across, squeeze=False, sharey="row")
        for line, name, charts in zip(grid, data.names, data.rows, strict=True):
            for axes, chart in zip(line, charts, strict=False):
                paint_bars(axes, chart)
                axes.set_title(text(chart.goal, 24))
            for axes in line[len(charts) :]:
                axes.set_visible(False)
            line[0].set_ylabel(text(name, 18))
        figure.supxlabel(text(data.x_label), fontsize=9)
        figure.supylabel("discounted return", fontsize=9)
        handles, names = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=2, columnspacing=1.4, handlelength=1.6)

    return picture(paint, (HALF[0] * (1.0 if across < MOST_ACROSS else 1.5), FRAME + ROW * len(data.rows)))
