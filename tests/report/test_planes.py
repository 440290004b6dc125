"""What a report draws over two variables of a continuous world."""

from __future__ import annotations

import numpy as np

from wmlab.report.content.continuous import over_two
from wmlab.report.data import GridMap, Plane, ReportData
from wmlab.report.figures import planes
from wmlab.report.gallery import gallery


def plane(**changes):
    values = np.array([[1e-3, np.nan], [0.0, 1.0], [1e-9, 0.5]])
    settings = {"title": "errors", "x": "place", "y": "speed", "x_range": (-1.0, 1.0), "y_range": (0.0, 2.0)}
    return Plane(**{**settings, "values": values, "label": "size", **changes})


def test_planes_stand_under_their_own_heading_and_are_described():
    way = np.array([[0.0, 0.0], [0.5, 1.0], [1.0, 2.0]])
    drawn = plane(title="fast", note="R* 0.5.", paths={"optimal": way, "model": way[:2]})
    (group,) = gallery(ReportData({}, planes=(plane(powers=True), drawn)))
    assert group.title == "Over two variables"
    assert [item.file for item in group.items] == ["plane-errors", "plane-fast"]
    assert group.items[0].alt == "errors: size over place and speed."
    assert group.items[1].alt == "fast: size over place and speed. optimal way: 2 steps; model way: 1 step. R* 0.5."


def test_a_plane_without_a_single_number_is_still_drawn():
    for powers in (False, True):
        for values in (np.full((2, 2), np.nan), np.zeros((2, 2))):
            (group,) = gallery(ReportData({}, planes=(plane(values=values, powers=powers),)))
            assert "<svg" in group.items[0].picture.svg


def test_blank_places_are_explained_where_there_are_any():
    drawn = plane(note="At goals = 1.", blank="no state there was measured")
    full = plane(title="full", values=np.ones((2, 2)), blank="no state there was measured")
    (group,) = gallery(ReportData({}, planes=(drawn, full)))
    captions = [item.caption for item in group.items]
    assert captions == ["At goals = 1. Blank: no state there was measured.", ""]


def test_a_map_says_from_where_a_goal_cannot_be_reached():
    cells = np.array([[0, 0], [0, 1], [0, 2]])
    drawn = GridMap("far", (1, 3), cells, (), np.array([0.0, 0.5, 0.0]), target=((0, 2),), note="R* 0.5")
    reached = GridMap("near", (1, 3), cells, (), np.array([0.2, 0.5, 0.0]), target=((0, 2),), note="R* 0.5")
    (group,) = gallery(ReportData({}, maps=(drawn, reached)))
    assert [item.caption for item in group.items] == ["R* 0.5. White: the goal cannot be reached from there.", "R* 0.5"]


def test_a_way_is_cut_where_a_variable_goes_round():
    way = np.array([[0.8, 0.0], [0.9, 0.5], [-0.9, 1.0], [-0.8, 1.5]])
    drawn = plane(title="round", periods=(2.0, None), paths={"optimal": way})
    assert [len(part) for part in planes._pieces(drawn, way)] == [2, 2]
    assert [len(part) for part in planes._pieces(plane(), way)] == [4]
    assert "<svg" in gallery(ReportData({}, planes=(drawn,)))[0].items[0].picture.svg


def test_values_over_four_variables_are_shown_as_means_over_the_last_two():
    values = np.arange(2 * 3 * 2 * 2.0).reshape(2, 3, 2, 2)
    assert over_two(values).tolist() == [[values[i, j].mean() for j in range(3)] for i in range(2)]
    flat = values[:, :, 0, 0]
    assert over_two(flat).tolist() == flat.tolist()
