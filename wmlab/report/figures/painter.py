"""Paints one figure after another; as `python -m wmlab.report.figures.painter`, those whose text a parent sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wmlab.report.crew import answer_questions
from wmlab.report.drawings import Drawing, Picture, read_drawing
from wmlab.report.figures import asked, certain, charts, maps, planes, sweeps
from wmlab.report.figures.scales import paint_on_one_scale
from wmlab.report.figures.style import chosen

PAINTERS: Mapping[str, Callable[[Any], Picture]] = {
    "asked": asked.asked_chart,
    "bars": charts.bar_chart,
    "certain": certain.certain_chart,
    "curves": charts.curve_chart,
    "heat": sweeps.heat_chart,
    "map": maps.map_chart,
    "plane": planes.plane_chart,
    "scatter": sweeps.scatter_chart,
    "sheet": planes.sheet_chart,
    "suite": charts.suite_chart,
}


def paint(drawing: Drawing) -> Picture:
    """The picture of a drawing."""
    with chosen(drawing.style):
        return PAINTERS[drawing.sort](drawing.chart)


def paint_beside(drawings: Sequence[Drawing]) -> tuple[list[Picture], list[str]]:
    """The pictures of drawings that stand beside each other, on one scale; and what is not on it."""
    return paint_on_one_scale(paint, drawings)


if __name__ == "__main__":
    answer_questions(lambda text: paint(read_drawing(text)).files)
