"""Paints one figure after another; as `python -m wmlab.report.figures.painter`, those that come as lines of text."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from wmlab.report.drawings import Drawing, Picture, read_drawing
from wmlab.report.figures import asked, certain, charts, maps, planes, sweeps
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


def main() -> None:
    """Paint what the parent sends, line by line, until it closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the parent decides
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints does not get between the answers
    for line in sys.stdin.buffer:
        picture = paint(read_drawing(line.decode()))
        answers.write(json.dumps({"svg": picture.svg, "pdf": base64.b64encode(picture.pdf).decode()}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
