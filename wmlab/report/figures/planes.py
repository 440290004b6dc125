"""Two variables of a continuous world as a plane, or as planes side by side: values, displacements, arrows, ways."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from wmlab.report.data import OverTwoVariables, Panel, Plane, Sheet
from wmlab.report.figures.maps import HALO, POLICIES, WayStyle
from wmlab.report.figures.regions import paint_regions, region_handles
from wmlab.report.figures.scales import together
from wmlab.report.figures.style import (
    BLUE,
    INK,
    SIGNED,
    VALUES,
    VERMILLION,
    Picture,
    colour_bar,
    picture,
    powers_of_ten,
    text,
)

ROBUST = 96  # per cent of the values that a scale is made for; what lies beyond takes its last colour
ARROW: dict[str, Any] = {"width": 0.006, "headwidth": 3.6, "headlength": 4.2, "headaxislength": 3.8}
PALE_ARROW: dict[str, Any] = {"width": 0.011, "headwidth": 2.4, "headlength": 3.0, "headaxislength": 2.8}
IMAGE: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "none"}
WAYS: dict[str, WayStyle] = {
    "world": (VERMILLION, (0, (3.2, 1.8)), "in the world"),
    "model": (BLUE, "-", "in the model"),
}


def plane_chart(data: Plane) -> Picture:
    """Values over a plane, as one image, with the ways that two policies take through it."""

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        extent = (*data.x_range, *data.y_range)
        values = np.ma.masked_invalid(np.asarray(data.values, float).T)
        image = axes.imshow(values, extent=extent, cmap=VALUES, norm=_plane_norm(data, values), **IMAGE)
        for name, way in data.paths.items():
            colour, dash, _ = POLICIES[name]
            for part in _pieces(data, way):
                axes.plot(part[:, 0], part[:, 1], linestyle=dash, color=colour, linewidth=1.6, path_effects=HALO)
            axes.plot(*way[0], "o", color=colour, markersize=4.5, markeredgecolor="#ffffff", markeredgewidth=0.8)
        paint_regions(axes, data, data.regions)
        axes.set(xlim=data.x_range, ylim=data.y_range, xlabel=text(data.x, 40), ylabel=text(data.y, 40))
        colour_bar(figure, image, axes, text(data.label, 60), data.powers, fraction=0.045)
        if handles := [*(_line(*POLICIES[name]) for name in data.paths), *region_handles(data.regions)]:
            figure.legend(handles=handles, loc="outside lower center", ncols=2, columnspacing=1.2, handlelength=2.0)

    return picture(paint)


def _plane_norm(data: Plane, values: np.ma.MaskedArray) -> Normalize:
    """Powers of ten where values span many of them; what lies below the scale is drawn as its least."""
    known = together(data.label, values.compressed())
    greatest = float(known.max(initial=0.0))
    if data.powers and greatest > 0:
        return powers_of_ten(known)
    return Normalize(0.0, greatest if greatest > 0 else 1.0)


def sheet_chart(data: Sheet) -> Picture:
    """All panels on one sheet; panels of the same scale share their colours and one colour bar."""
    columns = max(1, min(data.columns, len(data.panels)))
    rows = math.ceil(len(data.panels) / columns)
    width = min(8.8, max(6.4, 3.1 * columns + 0.9))  # one panel alone is not blown up to the width of a page

    def paint(figure: Figure) -> None:
        grid: Any = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        scales = _scales(data)
        images: dict[str, tuple[Any, list[Axes]]] = {}
        unit = _unit(data)
        for axes, panel in zip(grid.flat, data.panels, strict=False):
            _panel(axes, data, panel, scales, images, unit)
        for axes in grid.flat[len(data.panels) :]:
            axes.set_visible(False)
        for row, column in np.ndindex(rows, columns):
            below = (row + 1) * columns + column < len(data.panels)
            if not below:
                grid[row, column].set_xlabel(text(data.x, 40))
                grid[row, column].tick_params(labelbottom=True)
            if column == 0:
                grid[row, column].set_ylabel(text(data.y, 40))
        for label, (image, places) in images.items():
            _bar(figure, image, places, label, data.powers)
        _legend(figure, data)

    return picture(paint, (width, 2.35 * rows + 0.75))


def _panel(
    axes: Axes, data: Sheet, panel: Panel, scales: dict[str, Normalize], images: dict[str, Any], unit: float
) -> None:
    extent = (*data.x_range, *data.y_range)
    if panel.values is not None:
        values = np.ma.masked_invalid(np.asarray(panel.values, float).T)
        colours = SIGNED if panel.signed else VALUES
        image = axes.imshow(values, extent=extent, cmap=colours, norm=scales[panel.scale], **IMAGE)
        images.setdefault(panel.scale, (image, []))[1].append(axes)
    for arrows, colour, order in ((panel.behind, "#b9bec4", 2), (panel.arrows, INK, 3)):
        if arrows is not None:
            _arrows(axes, data, arrows, colour, order, unit)
    paint_regions(axes, data, data.regions)
    for name, way in panel.ways:
        _way(axes, data, name, way)
    axes.set(xlim=data.x_range, ylim=data.y_range)
    if data.whole:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.set_title(text(panel.title, 46 if data.columns < 3 else 32), loc="left")


def _arrows(axes: Axes, data: Sheet, arrows: np.ndarray, colour: str, order: int, unit: float) -> None:
    """Displacements as arrows from the middle of each cell, in units of the ranges so that both variables show."""
    spans = [high - low for low, high in (data.x_range, data.y_range)]
    steps = [(np.arange(size) + 0.5) / size for size in arrows.shape[:2]]
    x, y = np.meshgrid(data.x_range[0] + steps[0] * spans[0], data.y_range[0] + steps[1] * spans[1], indexing="ij")
    u, v = arrows[..., 0] / spans[0] * unit, arrows[..., 1] / spans[1] * unit
    # Lengths are shares of the panel: "width" units, both directions alike, whatever the variables' own units are.
    units: dict[str, Any] = {"angles": "uv", "units": "width", "scale_units": "width", "scale": 1.0, "minlength": 0.3}
    axes.quiver(x, y, u, v, color=colour, zorder=order, **units, **(ARROW if colour == INK else PALE_ARROW))


def _unit(data: Sheet) -> float:
    """How much longer arrows are drawn than they are, so that the longest true ones span a cell."""
    spans = np.array([data.x_range[1] - data.x_range[0], data.y_range[1] - data.y_range[0]])
    drawn = [panel.behind if panel.behind is not None else panel.arrows for panel in data.panels]
    lengths = [np.sqrt(((arrows / spans) ** 2).sum(axis=-1)) for arrows in drawn if arrows is not None]
    if not lengths:
        return 1.0
    usual = float(np.nanpercentile(together("arrows", np.concatenate([each.ravel() for each in lengths])), 95))
    cells = next(arrows.shape[0] for arrows in drawn if arrows is not None)
    return 0.95 / cells / usual if usual > 0 else 1.0


def _way(axes: Axes, data: Sheet, name: str, way: np.ndarray) -> None:
    """One trajectory, broken where a variable goes round."""
    colour, dash, _ = WAYS[name]
    for part in _pieces(data, way):
        axes.plot(part[:, 0], part[:, 1], linestyle=dash, color=colour, linewidth=1.4, path_effects=HALO, zorder=4)
    axes.plot(*way[0], "o", color=INK, markersize=4.0, markeredgecolor="#ffffff", markeredgewidth=0.8, zorder=6)
    axes.plot(*way[-1], "s", color=colour, markersize=4.0, markeredgecolor="#ffffff", markeredgewidth=0.8, zorder=5)


def _pieces(data: OverTwoVariables, way: np.ndarray) -> list[np.ndarray]:
    """A way [T, 2] cut where a variable goes round."""
    jumps = np.zeros(max(0, len(way) - 1), bool)
    for column, period in enumerate(data.periods):
        if period is not None:
            jumps |= np.abs(np.diff(way[:, column])) > period / 2
    return np.split(way, np.flatnonzero(jumps) + 1)


def _scales(data: Sheet) -> dict[str, Normalize]:
    """The colours of each scale, common to its panels."""
    scales: dict[str, Normalize] = {}
    for panel in data.panels:
        if panel.values is None or panel.scale in scales:
            continue
        alike = [one.values for one in data.panels if one.scale == panel.scale and one.values is not None]
        # The first panel of a signed scale is the truth: a model that is far off does not wash it out.
        known = np.concatenate([np.ravel(values) for values in (alike[:1] if panel.signed else alike)]).astype(float)
        scales[panel.scale] = _norm(together(panel.scale, known[np.isfinite(known)]), panel.signed, data.powers)
    return scales


def _norm(known: np.ndarray, signed: bool, powers: bool) -> Normalize:
    if not known.size:
        return Normalize(0.0, 1.0)
    if signed:
        most = float(np.percentile(np.abs(known), ROBUST)) or float(np.abs(known).max()) or 1.0
        return Normalize(-most, most, clip=True)
    if powers and known.max() > 0:
        return powers_of_ten(known)
    low, high = float(known.min()), float(known.max())
    return Normalize(low, high if high > low else low + 1.0)


def _bar(figure: Figure, image: Any, places: list[Axes], label: str, powers: bool) -> None:
    drawn: list[np.ndarray] = [np.ma.asarray(one.get_array()).compressed() for axes in places for one in axes.images]
    beyond = any((np.abs(values) > image.norm.vmax).any() for values in drawn)
    extend = "both" if beyond and image.norm.vmin < 0 else "neither"
    colour_bar(figure, image, places, text(label, 60), powers, fraction=0.05, aspect=24, extend=extend)


def _legend(figure: Figure, data: Sheet) -> None:
    names = dict.fromkeys(name for panel in data.panels for name, _ in panel.ways)
    handles: list[Any] = [_line(*WAYS[name]) for name in names]
    for marker, colour, label in (("o", INK, "start"), ("s", BLUE, "end")) if names else ():
        handles.append(Line2D([], [], marker=marker, linestyle="", markersize=4.0, color=colour, label=label))
    if handles := [*handles, *region_handles(data.regions)]:
        figure.legend(handles=handles, loc="outside lower center", ncols=5, columnspacing=1.4, handlelength=2.2)


def _line(colour: str, dash: Any, label: str) -> Line2D:
    return Line2D([], [], color=colour, linestyle=dash, label=label)
