"""Grid dynamics, step by step against a slow reference that is easy to believe."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mdps.fourrooms import MAP, fourrooms
from wmlab.registry import Scope, mdps

KIND = mdps["gridworld"]
MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1), "stay": (0, 0)}
TURNS = {
    "left": {"up": "left", "left": "down", "down": "right", "right": "up", "stay": "stay"},
    "right": {"up": "right", "right": "down", "down": "left", "left": "up", "stay": "stay"},
}


def make(**data):
    return KIND.run(KIND.build(data), 0)


def findings(**data):
    return [(finding.path, finding.message) for finding in KIND.check(KIND.build(data), Scope())]


def reference(rows, cell, action, slip, teleports):
    """{cell: probability} after one action, said as plainly as can be."""
    free = {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "#"}
    if cell in teleports:
        (top, bottom), (left, right) = teleports[cell]
        targets = [(r, c) for r, c in sorted(free) if top <= r <= bottom and left <= c <= right]
        return {target: 1 / len(targets) for target in targets}
    outcome: dict[tuple[int, int], float] = defaultdict(float)
    for turn, chance in slip.items():
        move = {"straight": action, "stay": "stay"}.get(turn) or TURNS[turn][action]
        if action == "stay":
            move = "stay"
        there = (cell[0] + MOVES[move][0], cell[1] + MOVES[move][1])
        outcome[there if there in free else cell] += chance
    return {target: chance for target, chance in outcome.items() if chance}


@st.composite
def worlds(draw):
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    cells = st.lists(st.sampled_from("##... "), min_size=width, max_size=width).map("".join)
    rows = draw(st.lists(cells, min_size=height, max_size=height))
    rows[0] = "." + rows[0][1:]
    actions = draw(st.permutations(list(MOVES)).flatmap(lambda all_: st.integers(1, 5).map(lambda n: all_[:n])))
    weights = draw(st.sampled_from([(8, 0, 0, 0), (4, 2, 2, 0), (3, 1, 2, 2), (0, 0, 5, 3)]))
    slip = dict(zip(("straight", "left", "right", "stay"), (weight / 8 for weight in weights), strict=True))
    free = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "#"]
    sources = draw(st.lists(st.sampled_from(free), unique=True, max_size=2))
    blocks = st.tuples(st.integers(0, height - 1), st.integers(0, width - 1))
    teleports = {source: tuple((0, last) for last in draw(blocks)) for source in sources}
    return rows, actions, slip, teleports


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_every_step_is_as_the_plain_reference_says(world):
    rows, actions, slip, teleports = world
    jumps = [
        {"from": list(cell), "to": {"rows": list(block[0]), "columns": list(block[1])}}
        for cell, block in teleports.items()
    ]
    data = {"map": "\n".join(rows), "actions": actions, "slip": slip, "teleports": jumps}
    assert findings(**data) == []
    made = make(**data)
    table = made.kernel.to_dense()
    for state, action in np.ndindex(made.space.size, len(actions)):
        cell = tuple(made.space.cells[state].tolist())
        expected = reference(rows, cell, actions[action], slip, teleports)
        row = table[state, action]
        found = {tuple(made.space.cells[there].tolist()): row[there] for there in np.flatnonzero(row)}
        assert found.keys() == expected.keys()
        assert all(abs(found[target] - expected[target]) < 1e-15 for target in expected)


def test_fourrooms_has_68_cells_and_its_three_kernels():
    deterministic, windy, teleporting = (fourrooms(name) for name in ("deterministic", "windy", "teleporting"))
    assert deterministic.space.size == 68
    assert [world.kernel.width for world in (deterministic, windy, teleporting)] == [1, 3, 16]
    corner, door = deterministic.space.index([1, 1]), deterministic.space.index([5, 3])
    down = deterministic.space.action("down")
    assert deterministic.kernel.to_dense()[corner, 0, corner] == 1
    assert deterministic.space.names[deterministic.kernel.successors[door, down, 0]] == "(6, 3)"
    assert windy.kernel.to_dense()[corner, 0, corner] == 0.75  # up and left both hold
    jump = teleporting.kernel.to_dense()[teleporting.space.index([4, 4])]
    room = [teleporting.space.index([row, column]) for row in range(6, 10) for column in range(6, 10)]
    assert (jump[:, room] == 1 / 16).all() and (jump.sum(axis=-1) == 1).all()
    for world in (deterministic, windy, teleporting):
        assert (world.kernel.to_dense().sum(axis=-1) == 1).all()
        assert world.horizon == 200 and (world.reset == 1 / 68).all()


def test_letters_name_cells_that_teleports_and_resets_may_use():
    world = make(map="A.B\n#.#", teleports=[{"from": "A", "to": "B"}], reset=["A", [1, 1]])
    assert world.space.names == ("A", "(0, 1)", "B", "(1, 1)")
    assert (world.kernel.to_dense()[0, :, 2] == 1).all()
    assert world.reset.tolist() == [0.5, 0, 0, 0.5]


def test_several_cells_may_teleport_to_one_place():
    block = make(map="....\nSABT", teleports=[{"from": {"rows": [1, 1], "columns": [1, 2]}, "to": "S"}]).kernel
    listed = make(map="....\nSABT", teleports=[{"from": ["A", [1, 2]], "to": [1, 0]}]).kernel
    each = make(map="....\nSABT", teleports=[{"from": "A", "to": "S"}, {"from": "B", "to": "S"}]).kernel
    assert (block.to_dense() == each.to_dense()).all() and (listed.to_dense() == each.to_dense()).all()
    assert (block.to_dense()[5:7, :, 4] == 1).all()


def test_a_space_is_a_free_cell_and_empty_lines_around_a_map_do_not_count():
    assert make(map="\n# #\n...\n").space.size == 4


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({"map": "..\n..."}, ("map",), "row 1 has 3 characters, row 0 has 2"),
        ({"map": ".?"}, ("map",), "unknown character '?' in row 0, column 1"),
        ({"map": "##"}, ("map",), "no free cell"),
        ({"map": "A.A"}, ("map",), "'A' names two cells, (0, 0) and (0, 2)"),
        ({"map": "..", "actions": []}, ("actions",), "no action at all"),
        ({"map": "..", "actions": ["up", "up"]}, ("actions", 1), "'up' is listed twice"),
        ({"map": "..", "slip": {"straight": 0.5, "left": 0.25}}, ("slip",), "the probabilities sum to 0.75, not 1"),
        ({"map": ".#", "reset": [0, 1]}, ("reset",), "cell (0, 1) is a wall"),
        ({"map": ".#", "reset": [[0, 0], [0, 1]]}, ("reset", 1), "cell (0, 1) is a wall"),
        ({"map": ".#", "reset": []}, ("reset",), "no state at all"),
    ],
)
def test_a_mistake_is_found_where_it_was_made(data, path, message):
    assert findings(**data) == [(path, message)]


@pytest.mark.parametrize(
    ("teleports", "path", "message"),
    [
        ([{"from": [0, 1], "to": [0, 0]}], ("teleports", 0, "from"), "cell (0, 1) is a wall"),
        (
            [{"from": [0, 0], "to": [0, 2]}, {"from": [0, 0], "to": [0, 0]}],
            ("teleports", 1, "from"),
            "cell (0, 0) teleports already, by teleports[0]",
        ),
        (
            [{"from": [0, 0], "to": [0, 2]}, {"from": [[0, 2], [0, 0]], "to": [0, 0]}],
            ("teleports", 1, "from"),
            "cell (0, 0) teleports already, by teleports[0]",
        ),
        (
            [{"from": {"rows": [0, 1], "columns": [0, 0]}, "to": [0, 0]}],
            ("teleports", 0, "from", "rows"),
            "the map has rows 0 to 0",
        ),
        ([{"from": [0, 0], "to": [[0, 0], [0, 1]]}], ("teleports", 0, "to", 1), "cell (0, 1) is a wall"),
        ([{"from": [0, 0], "to": {"rows": [0, 0], "columns": [1, 1]}}], ("teleports", 0, "to"), "no free cell there"),
        (
            [{"from": [0, 0], "to": {"rows": [0, 1], "columns": [0, 2]}}],
            ("teleports", 0, "to", "rows"),
            "the map has rows 0 to 0",
        ),
        (
            [{"from": [0, 0], "to": {"rows": [0, 0], "columns": [2, 0]}}],
            ("teleports", 0, "to", "columns"),
            "from 2 to 0 is empty",
        ),
    ],
)
def test_a_wrong_teleport_is_found_where_it_was_made(teleports, path, message):
    assert findings(map=".#.", teleports=teleports) == [(path, message)]


def test_all_mistakes_come_at_once():
    teleports = [{"from": [2, 2], "to": [0, 0]}]
    assert len(findings(map="..\n..", slip={"straight": 0.5}, reset=[9, 9], teleports=teleports)) == 3


def test_a_map_of_a_hundred_thousand_cells_is_built_in_a_moment():
    start = time.process_time()
    world = make(map="\n".join(["." * 320] * 320), slip={"straight": 0.5, "left": 0.25, "right": 0.25})
    assert world.space.size == 102_400 and world.kernel.width == 3
    assert time.process_time() - start < 5  # about one second of a laptop's processor


def test_the_papers_map_needs_no_correction():
    assert findings(map=MAP) == []
