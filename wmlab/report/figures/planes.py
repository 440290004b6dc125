"""Two variables of a continuous world as a plane: where an agent has been, where its model is wrong, ways to a goal."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from wmlab.report.data import Plane
from wmlab.report.figures.maps import HALO, PALE, WAYS
from wmlab.report.figures.style import INK, Picture, name_powers, picture, powers_of_ten, text


def plane_chart(data: Plane) -> Picture:
    """Values over a plane, as one image, with the ways that two policies take through it."""

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        extent = (data.x_range[0], data.x_range[1], data.y_range[0], data.y_range[1])
        values = np.ma.masked_invalid(np.asarray(data.values, float).T)
        image = axes.imshow(values, origin="lower", extent=extent, aspect="auto", cmap=PALE, norm=_norm(data, values),
                            interpolation="none")  # fmt: skip
        for name, way in data.paths.items():
            colour, dash, _ = WAYS[name]
            axes.plot(way[:, 0], way[:, 1], linestyle=dash, color=colour, linewidth=1.6, path_effects=HALO)
            axes.plot(*way[0], "o", color=colour, markersize=4.5, markeredgecolor="#ffffff", markeredgewidth=0.8)
        axes.set(xlim=data.x_range, ylim=data.y_range, xlabel=text(data.x, 40), ylabel=text(data.y, 40))
        bar = figure.colorbar(image, ax=axes, pad=0.02, fraction=0.045)
        bar.outline.set_visible(False)
        if data.powers:
            name_powers(bar.ax.yaxis)
        bar.set_label(text(data.label, 60), color=INK)
        handles = [Line2D([], [], color=WAYS[name][0], linestyle=WAYS[name][1], label=WAYS[name][2])
                   for name in data.paths]  # fmt: skip
        if handles:
            figure.legend(handles=handles, loc="outside lower center", ncols=2, columnspacing=1.2, handlelength=2.0)

    return picture(paint)


def _norm(data: Plane, values: np.ma.MaskedArray) -> Normalize:
    """Powers of ten where values span many of them; what lies below the scale is drawn as its least."""
    known = values.compressed()
    greatest = float(known.max(initial=0.0))
    if data.powers and greatest > 0:
        return powers_of_ten(known)
    return Normalize(0.0, greatest if greatest > 0 else 1.0)
