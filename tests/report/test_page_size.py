"""A page with as much on it as the largest runs have stays small enough to be sent around."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from tests.browser import pages
from tests.report import sample
from wmlab.report.data import Panel, Sheet
from wmlab.report.render import render
from wmlab.report.series import Line, MetricCurves
from wmlab.report.sweep import SWEEP_BYTES

MOST = 6_000_000  # bytes
AXES = {"depth": [1, 2, 3, 4], "width": [32, 64, 128, 256]}
PLACES = [dict(zip(AXES, labels, strict=True)) for labels in itertools.product(*AXES.values())]
PLANE = {"x": "x", "y": "y", "x_range": (0.0, 1.0), "y_range": (0.0, 1.0)}
METRICS, SEEDS, CHECKPOINTS = 100, 3, 20


def results(random):
    """A hundred metrics of sixteen points, each followed over training."""
    metrics = {}
    for number, where in itertools.product(range(METRICS), PLACES):
        curve = random.random((SEEDS, CHECKPOINTS))
        name = f"metric.number_{number}"
        metrics[f"{where}/{name}"] = sample.entry(name, where, [*map(float, curve[:, -1])], curve)
    axes = {name: {"values": labels, "paths": []} for name, labels in AXES.items()}
    return {"axes": axes, "metrics": metrics, "claims": [], "report": {}}


def learning(random):
    """Losses of all points, in panels."""
    numbers = (tuple(map(float, random.random(60))) for _ in PLACES)
    return [
        Line(f"width = {where['width']}", tuple(range(60)), each, each, each, 3, f"depth = {where['depth']}")
        for where, each in zip(PLACES, numbers, strict=True)
    ]


def planes(random):
    """Four variables of seven values each, nine actions and eight goals, as an arm of two joints has."""
    shown, points = pages.planes(), 7**4
    tables = {name: random.random((8, 9, points), np.float32) for name in ("q", "exact/q", "td/truth", "td/model")}
    return replace(shown, arrays={**shown.arrays, **tables})


def test_a_page_of_real_size_stays_under_six_megabytes():
    random = np.random.default_rng(0)
    panels = tuple(Panel(str(place), random.random((41, 41))) for place in range(9))
    page = replace(
        sample.document(**results(random)),
        explorer=planes(random),
        sheets=tuple(Sheet(title=f"sheet {place}", **PLANE, panels=panels, columns=3) for place in range(3)),
        learning=tuple(
            MetricCurves(f"loss {place}", "", "updates", "loss", tuple(learning(random)), None) for place in range(4)
        ),
    )
    made = render(page)["index.html"]
    assert SWEEP_BYTES * 3 < len(made) < MOST  # with all of its parts
    assert b"not kept here, for want of room" in made  # what has no room is left out
