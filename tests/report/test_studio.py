"""Figures are painted by several processes, each once, with the same bytes whoever paints them."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal

import numpy as np
import pytest

from tests.report import sample
from wmlab.report import crew, studio
from wmlab.report.crew import Crew
from wmlab.report.data import Panel, Plane, Sheet
from wmlab.report.drawings import RECORDS, Drawing, Picture, as_json, from_json, read_drawing
from wmlab.report.figures.style import STYLE
from wmlab.report.gallery import drawings, gallery
from wmlab.report.studio import Studio


def over_two(**more):
    return {"title": "a", "x": "p", "y": "v", "x_range": (0.0, 1.0), "y_range": (-1.0, 1.0), **more}


def document():
    """Figures of several sorts; maps and planes hold arrays."""
    values = np.array([[0.1, np.nan], [0.3, 1e-300]])
    plane = Plane(**over_two(values=values, label="V", paths={"optimal": np.array([[0.0, 0.5], [0.2, 0.1]])}))
    sheet = Sheet(**over_two(panels=(Panel("t", values, "s"), Panel("u", arrows=np.ones((2, 2, 2)))), columns=2))
    return dataclasses.replace(sample.document(), planes=(plane,), sheets=(sheet,))


@pytest.fixture(scope="module")
def wanted():
    """One figure of each sort: painting takes a while."""
    return list({drawing.sort: drawing for drawing in drawings(document())}.values())


@pytest.fixture(scope="module", autouse=True)
def as_users_have_it(users_fonts):
    """Processes of their own do not know that tests have other fonts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STYLE, "pdf.fonttype", users_fonts)
        yield


@pytest.fixture(scope="module")
def here(wanted, as_users_have_it):
    return studio.draw_here(wanted)


def painted_nowhere(drawing):
    pytest.fail(f"{drawing.sort} is painted again")


def test_a_drawing_survives_as_text_to_the_last_bit(wanted):
    assert {drawing.sort for drawing in wanted} >= {"bars", "curves", "map", "plane", "sheet"}
    for drawing in wanted:
        again = read_drawing(drawing.text)
        assert again.text == drawing.text and again.sort == drawing.sort and type(again.chart) is type(drawing.chart)
        json.loads(drawing.text)
    plane = next(drawing.chart for drawing in wanted if drawing.sort == "plane")
    again = from_json(json.loads(json.dumps(as_json(plane))))
    np.testing.assert_array_equal(again.values, plane.values)
    assert again.values.dtype == plane.values.dtype and again.x_range == (0.0, 1.0) and again.periods == (None, None)


def test_plain_values_survive_as_they_are_and_others_keep_their_sort():
    values = {"a": [1, 2.5, None, {"b": []}], "c": math.inf, "d": (1, [2, (3,)]), "e": {1: "x", (0, 1): "y"}, "f": "ü"}
    again = from_json(json.loads(json.dumps(as_json(values))))
    assert again == values and type(again["d"][1]) is list and type(again["d"][1][1]) is tuple


def test_what_a_figure_cannot_hold_is_refused_and_no_two_records_share_a_name():
    with pytest.raises(TypeError, match="a figure cannot hold a set"):
        as_json({1, 2})
    assert len(RECORDS) == len({record for record in RECORDS.values()}) and "GridMap" in RECORDS


def test_two_processes_paint_the_same_bytes_as_this_one(wanted, here, monkeypatch):
    monkeypatch.setattr(studio, "paint_here", painted_nowhere)
    monkeypatch.setattr(studio, "ENOUGH", len(wanted))
    with Studio(2) as painters:
        painters.begin(reversed(wanted))  # in another order, too
        assert painters.draw(wanted) == here
        assert painters.painted == len(wanted) and len(painters.crew.companions) == 2
        assert painters.draw(wanted[:2]) == here[:2] and painters.painted == len(wanted)


def test_a_page_asks_for_the_figures_that_were_begun_and_in_their_order(here):
    groups = gallery(document(), lambda asked: [here[0]] * len(asked))
    items = [item for group in groups for item in group.items]
    assert [item.drawing.key for item in items] == [drawing.key for drawing in drawings(document())]
    assert all(item.picture is here[0] and item.svg.startswith("<svg") for item in items)


def test_few_figures_start_no_process(wanted, here, monkeypatch):
    monkeypatch.setattr(studio, "Crew", painted_nowhere)
    with Studio(2) as painters:
        assert painters.draw(wanted[:2]) == here[:2]


def test_a_picture_that_is_known_is_taken_as_it_is(wanted, monkeypatch):
    monkeypatch.setattr(studio, "paint_here", painted_nowhere)
    kept = Picture("<svg>kept</svg>", b"kept")
    with Studio(2, lambda key: kept) as painters:
        painters.begin(wanted)
        assert painters.draw(wanted) == [kept] * len(wanted) and painters.painted == 0


def painters_of(processes):
    return Crew(processes, studio.PAINTER, studio.paint_text)


def test_a_process_that_is_killed_or_cannot_start_loses_no_figure(wanted, here, monkeypatch):
    with painters_of(1) as painters:
        assert painters.ask(wanted[0].text) == here[0].files
        os.kill(painters.companions[0].process.pid, signal.SIGKILL)
        assert painters.ask(wanted[0].text) == here[0].files

    def refused(module):
        raise OSError("no more processes")

    monkeypatch.setattr(crew, "Companion", refused)
    with painters_of(1) as painters:
        assert painters.ask(wanted[0].text) == here[0].files and not painters.companions


def test_a_figure_that_cannot_be_painted_says_so_here():
    broken = Drawing("map", dataclasses.replace(sample.maps()[0], values=np.zeros(3)))
    with painters_of(1) as painters, pytest.raises(ValueError, match="shape"):
        painters.submit(broken.text).result()


def test_a_key_follows_what_is_shown(wanted):
    grid = sample.maps()[0]
    assert Drawing("map", grid).key == Drawing("map", sample.maps()[0]).key
    bit = np.nextafter(grid.values, 2)
    changed = [{"title": "b"}, {"target": ()}, {"values": bit}, {"values": grid.values.astype(np.float32)}]
    keys = {Drawing("map", dataclasses.replace(grid, **change)).key for change in [{}, *changed]}
    assert len(keys) == len(changed) + 1
