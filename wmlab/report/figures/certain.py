"""Ranges from what is certain to what is possible, and what policies attain in between."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from wmlab.report.certain import RETURNS, CertainReturns
from wmlab.report.figures.style import BLUE, GREEN, INK, ORANGE, SKY, Picture, picture, quiet_grid, text

POLICIES: dict[str, dict[str, Any]] = {
    "r_star": {"color": INK, "marker": "_", "markersize": 17, "markeredgewidth": 1.4},
    "r_cautious": {"color": GREEN, "marker": "^", "markersize": 5.5},
    "r_wm": {"color": ORANGE, "marker": "s", "markersize": 4.5},
}


def certain_chart(data: CertainReturns) -> Picture:
    """A bar from the certain to the possible return at each place; a line along what is certain."""
    place = np.arange(len(data.labels))
    values = {name: np.array([np.nan if v is None else v for v in each]) for name, each in data.returns.items()}

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        low, high = values["r_certain"], values["r_possible"]
        axes.bar(place, high - low, 0.5, bottom=low, color=SKY, alpha=0.4, label="certain to possible")
        line = "-" if data.goal else ""  # goals beside each other are no line
        axes.plot(place, low, line, color=BLUE, marker="o", markersize=4.5, label=RETURNS["r_certain"])
        for name, look in POLICIES.items():
            if name in values:
                axes.plot(place, values[name], linestyle="", label=RETURNS[name], **look)
        axes.set_xticks(place, [text(label, 18) for label in data.labels])
        if max(map(len, data.labels)) * len(data.labels) > 48:
            axes.tick_params(axis="x", rotation=30)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(text(data.x_label))
        axes.set_ylabel("discounted return")
        quiet_grid(axes)
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.4, handlelength=1.6, markerscale=0.8)

    return picture(paint, (4.3, 3.2))
