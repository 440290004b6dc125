"""Heatmaps over two axes of a sweep, and relations across its points: no mean without its error and n."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from wmlab.report.figures.charts import scale_errors
from wmlab.report.figures.scales import together
from wmlab.report.figures.style import (
    HALF,
    HEAT,
    INK,
    LABELS,
    MARKERS,
    Picture,
    cell_letters,
    colour_bar,
    picture,
    quiet_grid,
    text,
)
from wmlab.report.relations import Scatter, ScatterPanel, ScatterPoint
from wmlab.report.series import ERRORS, Heat, HeatCell, in_powers_of_ten
from wmlab.report.text import SUPERSCRIPTS, number

CELL = (0.62, 0.5)  # inches
PANEL = 2.35  # inches
DARKEST = 0.25  # of the scale of labels: bars of errors, which have no outline, are seen on a dark page, too


def heat_chart(data: Heat) -> Picture:
    """A metric over two axes: each cell with its mean, standard error and n; a hole says why it is one."""
    values = np.array([[np.nan if cell.mean is None else cell.mean for cell in row] for row in data.cells])
    norm = _norm(data.metric, together(data.metric, values))

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        masked = np.ma.masked_invalid(values)
        mesh = axes.pcolormesh(masked, cmap=HEAT, norm=norm, edgecolors="#ffffff", linewidth=0.8)
        for row, cells in enumerate(data.cells):
            for column, cell in enumerate(cells):
                if cell.mean is None:
                    hatch = {"fill": False, "hatch": "///", "edgecolor": "#b4b9c0", "linewidth": 0}
                    axes.add_patch(Rectangle((column, row), 1, 1, **hatch))  # type: ignore[arg-type]
                dark = cell.mean is not None and float(norm(cell.mean)) < 0.55
                colour = "#ffffff" if dark else INK if cell.mean is None else "#000000"
                centre = (column + 0.5, row + 0.5)
                look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": cell_letters(), "linespacing": 1.15}
                axes.text(*centre, cell_text(cell), color=colour, **look)
        axes.set_xticks(np.arange(len(data.columns)) + 0.5, [text(label, 12) for label in data.columns])
        axes.set_yticks(np.arange(len(data.rows)) + 0.5, [text(label, 12) for label in data.rows])
        axes.set(xlabel=text(data.column_axis), ylabel=text(data.row_axis))
        axes.set(xlim=(0, len(data.columns)), ylim=(0, len(data.rows)))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        colour_bar(figure, mesh, axes, text(data.label, 40), powers=isinstance(norm, LogNorm), fraction=0.05)

    wide = max(HALF[0], CELL[0] * len(data.columns) + 1.3)
    return picture(paint, (wide, max(2.4, CELL[1] * len(data.rows) + 0.9)))


def _norm(metric: str, values: np.ndarray) -> Normalize:
    """Colours by size; of errors that span orders of magnitude, by their powers of ten."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (
        LogNorm(low, high)
        if in_powers_of_ten(metric, (low, high))
        else Normalize(low, high if high > low else low + 1.0)
    )


def cell_text(cell: HeatCell) -> str:
    """What stands in a cell: the mean, its error and n; why there is none."""
    if cell.mean is None:
        return cell.hole
    error = "" if cell.error is None else f"\n± {_short(cell.error)}"
    return f"{_short(cell.mean)}{error}\nn = {cell.n}"


def _short(value: float) -> str:
    """Two digits in few letters: 0.61, 1.2e-4 as 1.2·10⁻⁴."""
    if value == 0 or 0.001 <= abs(value) < 1e4:
        return number(value, 2)
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits}·10{str(int(power)).translate(SUPERSCRIPTS)}".replace("-", "−")


def scatter_chart(data: Scatter) -> Picture:
    """Two metrics of each point of a sweep, a panel for each checkpoint, coloured by the labels of one axis."""
    colours = matplotlib.colormaps[LABELS](np.linspace(DARKEST, 0.92, max(len(data.labels), 2)))

    def paint(figure: Figure) -> None:
        row = figure.subplots(1, len(data.panels), squeeze=False, sharex=True, sharey=True)[0]
        for axes, panel in zip(row, data.panels, strict=True):
            for place, label in enumerate(data.labels):
                points = [one for one in panel.points if one.label == place]
                whole = [one for one in points if one.n >= data.seeds]
                _points(axes, whole, MARKERS[place % len(MARKERS)], colours[place], text(label, 16))
                _points(
                    axes, [one for one in points if one.n < data.seeds], MARKERS[place % len(MARKERS)], colours[place]
                )
            axes.set_title("\n".join(filter(None, [panel.title, panel.words])), fontsize=7.5, loc="left")
            axes.xaxis.set_major_locator(MaxNLocator(4))
            quiet_grid(axes, "both")
        if data.y_metric.partition(".")[0] in ERRORS:
            scale_errors(row[0], together(data.y_metric, _heights(data.panels)))
        row[0].set_ylabel(text(data.y_label, 40))
        figure.supxlabel(text(data.x_label, 60), fontsize=9)
        handles, names = row[0].get_legend_handles_labels()
        figure.legend(handles, names, title=text(data.axis), loc="outside right upper", title_fontsize=8.5)

    return picture(paint, (max(HALF[0], PANEL * len(data.panels) + 1.2), 3.1))


def _points(axes: Axes, points: list[ScatterPoint], marker: str, colour: Any, label: str | None = None) -> None:
    """Points with bars of one standard error; without a label, hollow: some of their seeds are missing."""
    spread = [[np.nan if error is None else error for error in (one.x_error, one.y_error)] for one in points]
    errors = np.array(spread, float).reshape(-1, 2).T
    hollow = label is None
    axes.errorbar(
        [one.x for one in points],
        [one.y for one in points],
        xerr=errors[0],
        yerr=errors[1],
        fmt=marker,
        color=colour,
        markerfacecolor="none" if hollow else colour,
        markeredgecolor=colour if hollow else INK,  # becomes the page's text colour: a dark mark is seen in the dark
        markeredgewidth=1.0 if hollow else 0.5,
        markersize=4.2,
        elinewidth=0.8,
        label=label,
    )


def _heights(panels: tuple[ScatterPanel, ...]) -> np.ndarray:
    return np.array([one.y for panel in panels for one in panel.points], float)
