"""Planes side by side: panels that mean the same share their colours, and what cannot be drawn is left out."""

from __future__ import annotations

import numpy as np

from wmlab.report.data import Panel, ReportData, Sheet
from wmlab.report.figures.planes import _scales
from wmlab.report.gallery import gallery

RISING = np.linspace(0.0, 1.0, 12).reshape(4, 3)


def sheet(*panels, **changes):
    settings = {"title": "models as arrows", "x": "place", "y": "speed", "x_range": (-1.0, 1.0), "y_range": (0.0, 2.0)}
    return Sheet(**{**settings, "panels": panels, "columns": 2, **changes})


def test_panels_of_one_scale_share_its_colours_and_a_signed_one_is_the_truths():
    wild = Panel("the model", 100 * RISING, "Δ place", signed=True)
    data = sheet(
        Panel("the world", -RISING, "Δ place", signed=True),
        wild,
        Panel("V", RISING, "value"),
        Panel("V*", 2 * RISING, "value"),
    )
    scales = _scales(data)
    assert set(scales) == {"Δ place", "value"}
    assert -scales["Δ place"].vmin == scales["Δ place"].vmax and 0.9 < scales["Δ place"].vmax <= 1.0
    assert (scales["value"].vmin, scales["value"].vmax) == (0.0, 2.0)


def test_a_sheet_takes_the_width_of_the_page_and_is_described():
    arrows = np.stack([RISING, -RISING], axis=-1)
    way = np.array([[0.9, 0.1], [-0.9, 0.2], [-0.8, 0.3]])  # once round the circle
    data = sheet(
        Panel("the world", arrows=arrows),
        Panel("this model", arrows=arrows, behind=arrows),
        Panel("learnt", RISING, "V", ways=(("world", way), ("model", way[:1]))),
        note="Action push=1.",
        periods=(2.0, None),
    )
    (group,) = gallery(ReportData({}, sheets=(data,)))
    (item,) = group.items
    assert item.wide and item.file == "sheet-models-as-arrows"
    assert item.alt == "models as arrows over place and speed: the world; this model; learnt. Action push=1."
    assert item.picture.svg.count("in the world") == 1 and item.picture.pdf.startswith(b"%PDF")


def test_ticks_of_a_scale_of_powers_are_plain_text_also_where_it_spans_little():
    for least, named in ((1e-4, "1e-3"), (0.006, "2e-2")):
        data = sheet(Panel("error", np.geomspace(least, 0.03, 12).reshape(4, 3), "error"), powers=True)
        (group,) = gallery(ReportData({}, sheets=(data,)))
        svg = group.items[0].picture.svg
        assert "$" not in svg and f">{named}<" in svg


def test_a_sheet_without_a_single_number_is_still_drawn():
    nothing = np.full((2, 2), np.nan)
    for powers in (False, True):
        data = sheet(Panel("none", nothing, "error"), Panel("still", arrows=np.zeros((3, 3, 2))), powers=powers)
        (group,) = gallery(ReportData({}, sheets=(data,)))
        assert "<svg" in group.items[0].picture.svg
