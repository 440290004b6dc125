"""Figures of one's own: lines, bars, heatmaps, scatters and distributions over seeds, in panels."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from wmlab.report.asked import AskedChart, AskedPanel, Spot
from wmlab.report.figures.scales import together
from wmlab.report.figures.style import (
    HALF,
    HEAT,
    INK,
    LINES,
    MARKERS,
    Picture,
    PlainPowers,
    cell_letters,
    colour_bar,
    picture,
    quiet_grid,
    text,
)
from wmlab.report.figures.sweeps import cell_text
from wmlab.report.series import HeatCell

MOST_ACROSS = 3  # panels in a row
PANEL = (2.7, 2.1)  # inches
ROOM, ROOM_OF_PANEL = 48, 30  # letters that stand across side by side


def asked_chart(chart: AskedChart) -> Picture:
    """The figure that a spec asks for."""
    columns = min(MOST_ACROSS, len(chart.panels))
    rows = math.ceil(len(chart.panels) / columns)

    def paint(figure: Figure) -> None:
        grid: Any = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        norm, mesh = _norm(chart), None
        for axes, panel in zip(grid.flat, chart.panels, strict=False):
            mesh = _paint_panel(axes, chart, panel, norm)
            if panel.title:
                axes.set_title(text(panel.title, 40), loc="left")
        for axes in grid.flat[len(chart.panels) :]:
            axes.set_visible(False)
        for place, axes in enumerate(grid.flat[: len(chart.panels)]):
            if place + columns >= len(chart.panels):
                axes.set_xlabel(text(chart.x_label, 40))
                axes.tick_params(labelbottom=True)
            if place % columns == 0:
                axes.set_ylabel(text(chart.by if chart.sort == "heatmap" else chart.y_label, 40))
        if mesh is not None:
            colour_bar(figure, mesh, grid, text(chart.y_label, 40), powers=chart.log, fraction=0.05)
        elif chart.by:
            handles, labels = grid.flat[0].get_legend_handles_labels()
            style: dict[str, Any] = {"loc": "outside upper center", "ncols": min(4, len(labels)), "columnspacing": 1.2}
            figure.legend(handles, labels, title=text(chart.by, 30), **style)

    one = len(chart.panels) == 1
    size = HALF if one else (max(HALF[0], PANEL[0] * columns + 0.7), PANEL[1] * rows + 0.8)
    return picture(paint, size)


def _norm(chart: AskedChart) -> Normalize:
    """The colours of a heatmap, common to its panels."""
    shown = [spot.mean for spot in chart.numbers if spot.mean is not None and (spot.mean > 0 or not chart.log)]
    values = together(chart.metric, np.array(shown, float))
    low, high = (float(values.min()), float(values.max())) if values.size else (1.0, 10.0)
    high = high if high > low else low + (abs(low) or 1.0)
    return LogNorm(low, high) if chart.log else Normalize(low, high)


def _paint_panel(axes: Axes, chart: AskedChart, panel: AskedPanel, norm: Normalize) -> Any:
    """Draws a panel; of a heatmap, returns what its colours are read from."""
    if chart.sort == "heatmap":
        return _heatmap(axes, chart, panel, norm)
    paint = {"line": _line, "bar": _bar, "scatter": _scatter, "distribution": _distribution}[chart.sort]
    for index, row in enumerate(panel.rows):
        paint(axes, chart, row, index)
    if chart.log:
        axes.set_yscale("log", nonpositive="mask")
        _plain_powers(axes.yaxis)
    if chart.x_log:
        axes.set_xscale("log", nonpositive="mask")
        _plain_powers(axes.xaxis)
    if chart.sort != "scatter":
        _name_places(axes, chart)
        axes.xaxis.set_minor_locator(NullLocator())
    quiet_grid(axes, "both" if chart.sort == "scatter" else "y")
    return None


def _name_places(axes: Axes, chart: AskedChart) -> None:
    """What stands across: names at a slant where they would run into each other."""
    labels = [text(label, 20) for label in chart.columns]
    if max(map(len, labels)) * len(labels) > (ROOM if len(chart.panels) == 1 else ROOM_OF_PANEL):
        axes.set_xticks(chart.places, labels, rotation=30, ha="right", rotation_mode="anchor")
    else:
        axes.set_xticks(chart.places, labels)


def _plain_powers(axis: Any) -> None:
    """Powers of ten in plain letters."""
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(PlainPowers())
    axis.set_minor_formatter(NullFormatter())


def _look(chart: AskedChart, index: int) -> dict[str, Any]:
    return {"color": LINES[index % len(LINES)], "label": text(chart.series[index], 20) or None}


def _line(axes: Axes, chart: AskedChart, row: tuple[Spot, ...], index: int) -> None:
    dash = "-" if index < len(LINES) else "--"
    marker = f"{MARKERS[index % len(MARKERS)]}{dash}"
    axes.errorbar(
        chart.places, _means(row), yerr=_errors(row), fmt=marker, markersize=4, capsize=2, **_look(chart, index)
    )


def _bar(axes: Axes, chart: AskedChart, row: tuple[Spot, ...], index: int) -> None:
    width = 0.8 * _gap(chart) / len(chart.series)
    places = np.asarray(chart.places) + (index - (len(chart.series) - 1) / 2) * width
    axes.bar(places, _means(row), width, **_look(chart, index))
    axes.errorbar(places, _means(row), yerr=_errors(row), fmt="none", ecolor=INK, capsize=2, elinewidth=0.9)


def _distribution(axes: Axes, chart: AskedChart, row: tuple[Spot, ...], index: int) -> None:
    width = 0.7 * _gap(chart) / len(chart.series)
    look, shift = _look(chart, index), (index - (len(chart.series) - 1) / 2) * width
    for place, spot in zip(chart.places, row, strict=True):
        count = len(spot.seeds)
        spread = np.linspace(-0.3, 0.3, count) * width if count > 1 else np.zeros(count)  # in the order of seeds
        axes.plot(place + shift + spread, spot.seeds, "o", markersize=3.2, alpha=0.75, **look)
        look["label"] = None
        if spot.mean is not None:
            axes.hlines(
                spot.mean, place + shift - width / 2, place + shift + width / 2, color=look["color"], linewidth=1.6
            )


def _scatter(axes: Axes, chart: AskedChart, row: tuple[Spot, ...], index: int) -> None:
    kept = tuple(spot for spot in row if spot.mean is not None and spot.x is not None)
    x_error = np.array([np.nan if spot.x_error is None else spot.x_error for spot in kept])
    marker = MARKERS[index % len(MARKERS)]
    bars: dict[str, Any] = {"xerr": x_error, "yerr": _errors(kept), "fmt": marker, "markersize": 4.2, "elinewidth": 0.8}
    places = np.array([spot.x for spot in kept], float)
    axes.errorbar(places, _means(kept), **bars, **_look(chart, index))


def _heatmap(axes: Axes, chart: AskedChart, panel: AskedPanel, norm: Normalize) -> Any:
    values = np.array([_means(row) for row in panel.rows])
    masked = np.ma.masked_where(~np.isfinite(values) | (chart.log & (values <= 0)), values)
    colours = matplotlib.colormaps[HEAT].with_extremes(bad="#00000000")
    mesh = axes.pcolormesh(masked, cmap=colours, norm=norm, edgecolors="#ffffff", linewidth=0.8)
    axes.set_xticks(np.arange(len(chart.columns)) + 0.5, [text(label, 12) for label in chart.columns])
    axes.set_yticks(np.arange(len(chart.series)) + 0.5, [text(label, 12) for label in chart.series])
    axes.tick_params(length=0)
    for (row, column), value in np.ndenumerate(values):
        spot = panel.rows[row][column]
        shown = np.isfinite(value) and not (chart.log and value <= 0)
        dark = shown and float(norm(value)) < 0.55
        cell = HeatCell(spot.mean, spot.error, len(spot.seeds), spot.hole)
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": cell_letters(), "linespacing": 1.15}
        colour = "#ffffff" if dark else "#000000" if shown else INK
        axes.text(column + 0.5, row + 0.5, cell_text(cell), color=colour, **style)
    return mesh


def _gap(chart: AskedChart) -> float:
    """The least distance between two places."""
    gaps = np.diff(np.sort(chart.places))
    return float(gaps.min()) if gaps.size else 1.0


def _means(row: tuple[Spot, ...]) -> np.ndarray:
    return np.array([np.nan if spot.mean is None else spot.mean for spot in row], float)


def _errors(row: tuple[Spot, ...]) -> np.ndarray:
    return np.array([np.nan if spot.error is None else spot.error for spot in row], float)
