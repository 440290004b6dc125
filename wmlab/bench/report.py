"""How long pages take to be drawn: the figures alone, by one process and by as many as there are cores, and again.

The figures are those of made-up results of the shape of a study's: curves, bars, heatmaps, maps and sheets of panels.
A page drawn again paints none of them, as what they show has not changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wmlab.core.container import usable_cores
from wmlab.report.data import GridMap, Panel, ReportData, Sheet
from wmlab.report.drawings import Picture
from wmlab.report.gallery import drawings
from wmlab.report.render import render
from wmlab.report.studio import Studio

MAPS, SHEETS, LINES, CHECKPOINTS = 8, 6, 6, 20
SIDE = 20  # cells of a map, along each side
PANELS, POINTS, ARROWS = 6, 60, 14  # of a sheet


def made_page(maps: int = MAPS, sheets: int = SHEETS) -> ReportData:
    """A page with that many maps and sheets, a figure of curves and one of bars."""
    random = np.random.default_rng(0)
    cells = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"), -1).reshape(-1, 2)
    grids = [
        GridMap(f"goal {one}", (SIDE, SIDE), cells, (), random.uniform(size=len(cells)), ((one, one),), ((one, 0),))
        for one in range(maps)
    ]
    planes = []
    for one in range(sheets):
        values = random.normal(size=(PANELS, POINTS, POINTS))
        arrows = random.normal(size=(PANELS, ARROWS, ARROWS, 2))
        panels = [Panel(f"panel {at}", values[at], "values", arrows=arrows[at]) for at in range(PANELS)]
        about = {"x": "position", "y": "velocity", "x_range": (-1.2, 0.6), "y_range": (-0.07, 0.07)}
        planes.append(Sheet(title=f"sheet {one}", panels=tuple(panels), columns=3, **about))  # type: ignore[arg-type]
    return ReportData(made_results(random), maps=tuple(grids), sheets=tuple(planes))


def made_results(random: np.random.Generator) -> dict[str, object]:
    """An error over training and returns on an unseen goal, along an axis."""
    metrics: dict[str, Mapping[str, object]] = {}
    for label in range(LINES):
        where = {"goals": label}
        curve = np.exp(-np.arange(CHECKPOINTS) / 5 + random.normal(0, 0.1, CHECKPOINTS)).tolist()
        spread = {"mean": curve, "se_over_seeds": [0.1 * value for value in curve], "n": [3] * CHECKPOINTS}
        plain = {"where": where, "n": 3, "se_over_seeds": 0.01}
        metrics[f"{label}/wm.mse"] = {"metric": "wm.mse", "mean": curve[-1], "curve": spread, **plain}
        for name, value in (("r_star", 1.0), ("r_wm", label / LINES)):
            metrics[f"{label}/{name}"] = {"metric": f"unseen.far.{name}", "mean": value, **plain}
    axes = {"goals": {"values": list(range(LINES))}}
    asked = {"curves": {"metrics": ["wm.mse"]}}
    return {"spec": "made", "profile": "bench", "seeds": [0, 1, 2], "axes": axes, "metrics": metrics, "report": asked}


@dataclass(frozen=True)
class Timed:
    """One rendering of a page."""

    files: dict[str, bytes]
    seconds: float
    painted: int  # figures


def time_page(page: ReportData, processes: int, known: Mapping[str, Picture] | None = None) -> Timed:
    """Render a page with figures painted by so many processes, those that are known left out."""
    began = time.perf_counter()
    with Studio(processes, (known or {}).get) as studio:
        studio.begin(drawings(page))
        files = render(page, studio.draw)
    return Timed(files, time.perf_counter() - began, studio.painted)


def pictures_of(page: ReportData, files: Mapping[str, bytes]) -> dict[str, Picture]:
    """The figures of a page that was rendered, by their keys."""
    import json

    names = {key: name for name, key in json.loads(files["figures/keys.json"]).items()}
    read = {key: f"figures/{names[key]}" for key in (drawing.key for drawing in drawings(page))}
    return {key: Picture(files[f"{name}.svg"].decode(), files[f"{name}.pdf"]) for key, name in read.items()}


def main() -> None:
    """Print the seconds, with the load of the machine: on a busy one they are no more than a hint."""
    cores, page = usable_cores(), made_page()
    print(f"load {os.getloadavg()[0]:.1f} on {cores} usable cores, {len(drawings(page))} figures")
    render(made_page(1, 0))  # imports
    one = time_page(page, 1)
    print(f"one process      {one.seconds:7.2f} s   {one.seconds / one.painted:5.2f} s a figure", flush=True)
    for processes in sorted({2, cores} - {1}):
        many = time_page(page, processes)
        same = "the same bytes" if many.files == one.files else "OTHER BYTES"
        print(
            f"{processes} processes      {many.seconds:7.2f} s   {one.seconds / many.seconds:5.2f} x   {same}",
            flush=True,
        )
    again = time_page(page, 1, pictures_of(page, one.files))
    same = "the same bytes" if again.files == one.files else "OTHER BYTES"
    print(f"again            {again.seconds:7.2f} s   {again.painted} figures painted   {same}")
