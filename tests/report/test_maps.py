"""Maps in a report: one-way cells, regions, and worlds whose variables make the map."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wmlab
from wmlab.registry import WorldChoice
from wmlab.report.content.finite import MapDrawing
from wmlab.report.data import GridMap, ReportData
from wmlab.report.gallery import gallery

HEAD = "wmlab: 1\nname: maze\nagent: {kind: exact, discount: 0.9}\nextract: {kind: column_matching}\n"
ICE = """
mdp:
  kind: gridworld
  map: |
    ..i
    #>i
    A..
  legend: {i: ice}
  exits: {A: [up, right]}
goals: {reward: {kind: indicator}, at: all}
evaluate: {model_error: {}, unseen: {goals: {corner: {reach: [2, 2], avoid: ice}}}}
"""
FUEL = """
mdp:
  kind: dynamics
  state:
    column: {integers: [1, 3], edge: clip}
    fuel:   {integers: [0, 1], edge: clip}
    row:    {integers: [0, 1], edge: clip}
  actions: {right: {dx: 1}, down: {dy: 1}, burn: {df: -1}}
  next: {column: column + dx, row: row + dy, fuel: fuel + df}
goals: {reward: {kind: indicator}, at: all}
evaluate: {model_error: {}, unseen: {goals: {far: {reach: {row: 1, column: 3}}, empty: {reach: {fuel: 0}}}}}
"""


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Runs a spec, and gives the maps that its page draws by their titles."""

    def maps_of(text: str) -> dict[str, GridMap]:
        monkeypatch.setenv("WMLAB_HOME", str(tmp_path / ".wmlab"))
        kept: list[ReportData] = []
        monkeypatch.setattr(
            "wmlab.app.page_makers.draw_page", lambda data, draw: (kept.append(data), {"index.html": b"page"})[1]
        )
        (tmp_path / "maze.yaml").write_text(HEAD + text, encoding="utf-8")
        wmlab.load(tmp_path / "maze.yaml").run(jobs=0, progress=False)
        return {each.title: each for each in kept[0].maps}

    return maps_of


def test_one_way_cells_and_regions_are_on_the_map(drawn):
    corner = drawn(ICE)["corner"]
    assert corner.signs == {(1, 1): "→", (2, 0): "↑→"}
    assert corner.regions == {"ice": ((0, 2), (1, 2))} and corner.avoid == ((0, 2), (1, 2))
    assert corner.walls == ((1, 0),) and corner.target == ((2, 2),)
    bare = replace(corner, signs={}, regions={})
    (group,) = gallery(ReportData({}, maps=(corner, replace(bare, signs=corner.signs), bare)))
    sizes = [len(item.picture.svg) for item in group.items]
    assert sizes[0] > sizes[1] > sizes[2]  # regions are drawn, and so are signs


def test_goals_of_the_training_are_on_maps_of_errors_and_told_where_they_are_everywhere(drawn):
    everywhere = drawn(ICE)["where the model is wrong"]
    assert everywhere.goals == () and everywhere.note.endswith("Every cell is a goal of the training.")
    few = drawn(ICE.replace("at: all", "at: [[0, 0], [2, 2]]"))
    wrong = few["where the model is wrong"]
    assert wrong.goals == ((0, 0), (2, 2)) and few["corner"].goals == () and few["corner"].target == ((2, 2),)
    points = drawn(
        ICE.replace("at: all", "at: {row: [0, 1.5], column: [1]}, terminate: never").replace(
            "indicator", "gaussian, sigma: 1"
        )
    )
    assert points["where the model is wrong"].goals == ((0, 1),)  # the other lies between cells
    (group,) = gallery(ReportData({}, maps=(wrong, replace(wrong, title="bare", goals=()))))
    assert [">training goal<" in item.picture.svg for item in group.items] == [True, False]


def test_goals_of_named_variables_are_on_the_map_in_every_cell_that_they_name(drawn):
    maps = drawn(FUEL.replace("at: all", "at: [{row: 1, column: 2, fuel: 0}, {row: 0, column: 1, fuel: 1}]"))
    assert maps["where the model is wrong"].goals == ((1, 1), (0, 0))


def test_a_world_of_variables_is_drawn_over_row_and_column(drawn):
    maps = drawn(FUEL)
    far, empty = maps["far"], maps["empty"]
    assert (far.axes, far.shape, far.origin) == (("row", "column"), (2, 3), (0, 1))
    assert far.note.endswith("Mean over fuel.") and far.target == ((1, 2),)
    assert empty.target == ()  # it is reached by burning, anywhere
    assert far.paths["optimal"] == far.paths["model"] and far.paths["model"][-1] == (1, 2)


def test_a_cell_shows_the_mean_the_sum_or_the_most_of_its_states():
    state = {name: {"integers": ends} for name, ends in (("column", [1, 3]), ("fuel", [0, 1]), ("row", [0, 1]))}
    world = WorldChoice({"kind": "unknown", "state": state, "actions": 2})
    run: Any = SimpleNamespace(run=SimpleNamespace(point=SimpleNamespace(experiment=SimpleNamespace(mdp=world))))
    drawing = MapDrawing(run, world.space, world.space.chart)
    values = np.arange(12.0)  # column, fuel, row: the last varies fastest
    cube = values.reshape(3, 2, 2).transpose(2, 0, 1).reshape(6, 2)  # row and column, fuel
    for how in ("mean", "sum", "max"):
        np.testing.assert_array_equal(drawing.map("x", values, how).values, getattr(cube, how)(axis=-1))
