"""Parts of a plane, drawn over its values: what is to be reached or avoided, and what an agent was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from wmlab.report.data import OverTwoVariables, Region
from wmlab.report.figures.style import INK, YELLOW

OVER_VALUES = 1.5  # above an image, below lines and arrows


@dataclass(frozen=True)
class RegionLook:
    """How a sort of region is drawn."""

    label: str
    edge: str
    width: float = 0.8  # of its outline
    dash: Any = "solid"
    fill: str = "none"
    alpha: float | None = None  # of what fills it
    hatch: str = ""


LOOKS = {
    "target": RegionLook("target", "#000000", 1.1, fill=YELLOW, alpha=0.7),
    "unsafe": RegionLook("unsafe", "wmlab:unsafe_edge", fill="wmlab:unsafe", alpha=0.8, hatch="xxx"),
    "goal": RegionLook("training goal", INK, dash=(0, (2.0, 1.4)), hatch=".."),
}


def paint_regions(axes: Axes, data: OverTwoVariables, regions: tuple[Region, ...]) -> None:
    """Outlines of regions, and what tells their insides."""
    for region in regions:
        look, inside = LOOKS[region.sort], np.asarray(region.inside, float)
        x, y = (np.linspace(*ends, size) for ends, size in zip((data.x_range, data.y_range), inside.shape, strict=True))
        within: dict[str, Any] = {"levels": [0.5, 1.5], "colors": [look.fill], "hatches": [look.hatch]}
        filled = axes.contourf(x, y, inside.T, zorder=OVER_VALUES, **within)
        filled.set(edgecolor=look.edge, linewidth=0.0)
        if look.alpha is not None:
            filled.set(alpha=look.alpha)
        line: dict[str, Any] = {"colors": look.edge, "linewidths": look.width, "linestyles": [look.dash]}
        axes.contour(x, y, inside.T, levels=[0.5], zorder=OVER_VALUES, **line)


def region_handles(regions: tuple[Region, ...]) -> list[Patch]:
    """What a legend says of regions, each sort once."""
    shown = [look for sort, look in LOOKS.items() if any(region.sort == sort for region in regions)]
    return [
        Patch(facecolor=look.fill, edgecolor=look.edge, linewidth=look.width, hatch=look.hatch, label=look.label)
        for look in shown
    ]
