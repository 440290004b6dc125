"""Figures that stand beside each other on a page share their scales; what cannot is said."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from wmlab.report.data import GridMap, Panel, Plane, Sheet
from wmlab.report.drawings import Drawing
from wmlab.report.figures import scales
from wmlab.report.figures.painter import paint, paint_beside
from wmlab.report.relations import Scatter, ScatterPanel, ScatterPoint
from wmlab.report.series import Bars, Heat, HeatCell, Line, MetricCurves


def curves(*heights, metric="wm.mse", label="error", x=(0.0, 1.0)):
    line = Line("", x, heights, heights, heights)
    return Drawing("curves", MetricCurves(metric, "", "steps", label, (line,), None))


def bars(labels, *heights):
    pairs = tuple((height, None) for height in heights)
    return Drawing("bars", Bars("far", "goals", labels, pairs, pairs))


def heat(*values, metric="wm.tv", columns=None):
    columns = columns or tuple(f"c{place}" for place, _ in enumerate(values))
    return Drawing("heat", Heat(metric, "", metric, ("r",), columns, "row", "column", (tuple(map(HeatCell, values)),)))


def grid(*values, shape=None):
    cells = np.array([(0, column) for column in range(len(values))])
    return Drawing("map", GridMap("m", shape or (1, len(values)), cells, (), np.array(values)))


def over_two(**more):
    return {"title": "a", "x": "p", "y": "v", "x_range": (0.0, 1.0), "y_range": (-1.0, 1.0), **more}


def plane(*values, **more):
    return Drawing("plane", Plane(**over_two(values=np.array([values, values]), label="V", **more)))


def sheet(*values):
    return Drawing("sheet", Sheet(**over_two(panels=(Panel("t", np.array([values, values]), "s"),), columns=1)))


def scatter(*heights):
    points = tuple(ScatterPoint(0, float(place), height, None, None, 1) for place, height in enumerate(heights))
    return Drawing("scatter", Scatter("r", "depth", ("1",), "x", "q.mse", (ScatterPanel("", "", points),), 1))


def seen(monkeypatch, *drawings):
    """What matplotlib has of each figure once it is drawn: the ends of axes, and of colours; and what differs."""
    looks = []
    settle = scales.CommonScale.settle

    def look(common, figure):
        finished = settle(common, figure)
        if finished:
            panels = [axes for axes in figure.axes if axes.get_label() != scales.COLOUR_BAR]
            images = [
                image for axes in panels for image in (*axes.images, *axes.collections) if image.get_array() is not None
            ]
            colours = [(type(image.norm), image.norm.vmin, image.norm.vmax) for image in images]
            looks.append([(axes.get_xlim(), axes.get_ylim(), axes.get_yscale()) for axes in panels] + colours)
        return finished

    monkeypatch.setattr(scales.CommonScale, "settle", look)
    pictures, differing = paint_beside(drawings)
    assert len(pictures) == len(looks) and all("<svg" in picture.svg for picture in pictures)
    return looks, differing


@pytest.mark.parametrize(
    "sides",
    [
        (curves(0.1, 0.2), curves(0.4, 0.9)),
        (curves(0.1, 0.2), curves(1e-6, 0.9)),  # powers of ten for both
        (curves(0.0, 0.2), curves(1e-6, 0.9)),
        (bars(("1", "2"), 0.5, 0.6), bars(("1", "2"), 5.0, 6.0)),
        (bars(("1", "2"), 0.5, 0.6), bars(("1", "2", "3"), 5.0, 6.0, 7.0)),
        (heat(0.1, 0.2), heat(1e-5, 0.9)),
        (heat(0.1, 0.2), heat(0.3, 0.4, 0.5)),
        (grid(0.5, 0.6), grid(0.1, 0.9), grid(0.2, 0.3)),
        (grid(0.5, 0.6), grid(0.1, 0.9, 0.7)),  # a world of another size
        (plane(0.5, 0.6), plane(0.1, 0.9)),
        (plane(0.5, 0.6, powers=True), plane(1e-3, 0.9, powers=True)),
        (sheet(0.5, 0.6), sheet(0.1, 0.9)),
        (scatter(0.5, 0.6), scatter(1e-5, 0.9)),
    ],
    ids=lambda sides: f"{sides[0].sort}",
)
def test_the_sides_of_a_figure_have_the_same_ends_of_axes_and_colours(sides, monkeypatch):
    looks, differing = seen(monkeypatch, *sides)
    assert differing == [] and all(look == looks[0] for look in looks)
    alone = [picture.svg for picture in map(paint, sides)]
    assert len(set(alone)) == len(alone)


def test_the_scale_holds_the_numbers_of_all_sides(monkeypatch):
    (((_, (low, high), sort), *_), _), _ = seen(monkeypatch, curves(0.1, 0.2), curves(1e-6, 0.9))
    assert low <= 1e-6 and high >= 0.9 and sort == "log"
    ((*_, (_, low, high)), _), _ = seen(monkeypatch, grid(0.5, 0.6), grid(0.1, 0.9))
    assert (low, high) == (0.1, 0.9)


def test_what_does_not_mean_the_same_keeps_its_own_scale_and_is_named(monkeypatch):
    looks, differing = seen(monkeypatch, bars(("1", "2"), 0.5, 0.6), bars(("1", "4"), 5.0, 6.0))
    assert differing == ["the axis across"] and looks[0][0][1] == looks[1][0][1]
    looks, differing = seen(monkeypatch, curves(0.1, 0.2), curves(2.0, 3.0, metric="q.mse", label="another"))
    assert "the axis up" in differing and looks[0][0][1] != looks[1][0][1]
    _, differing = seen(monkeypatch, heat(0.1, 0.2), heat(0.1, 0.2, metric="q.mse"))
    assert differing == ["what colours or heights show"]
    two = dataclasses.replace(sheet(0.5, 0.6).chart, panels=sheet(0.5, 0.6).chart.panels * 2)
    _, differing = seen(monkeypatch, Drawing("sheet", two), sheet(0.5, 0.6))
    assert differing == ["how many panels there are"]


def test_a_figure_of_a_single_page_is_drawn_as_before_others_were_beside_it():
    before = paint(grid(0.5, 0.6))
    paint_beside([grid(0.5, 0.6), grid(0.1, 0.9)])
    assert paint(grid(0.5, 0.6)) == before and before.pdf


def test_letters_in_cells_are_read_on_the_colours_of_the_common_scale():
    alone, (beside, _) = paint(heat(0.1, 0.2)), paint_beside([heat(0.1, 0.2), heat(0.1, 9.0)])[0]
    dark = [len(re.findall("fill: #ffffff", picture.svg)) for picture in (alone, beside)]
    assert dark[0] < dark[1]  # both cells are dark beside 9
