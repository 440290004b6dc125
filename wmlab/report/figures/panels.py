"""Bars of several specs in one grid, still legible at half the width of a page."""

from __future__ import annotations

from matplotlib.figure import Figure

from wmlab.report.figures.charts import paint_bars
from wmlab.report.figures.style import HALF, Picture, picture, text
from wmlab.report.panels import Panels

ROW, FRAME = 1.35, 0.75  # inches: the height of a row of panels, and of the legend and labels around all of them
MOST_ACROSS = 3


def panel_chart(data: Panels) -> Picture:
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
