"""Maps with one-way cells, regions, wind and exits, against tables that are filled in cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.core.finite.goals import make_goals
from wmlab.registry import RewardChoice, Scope, mdps

KIND = mdps["gridworld"]
CLOCKWISE = ["up", "right", "down", "left"]
MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1), "stay": (0, 0)}
ARROWS = {"^": "up", ">": "right", "v": "down", "<": "left"}
EIGHTHS = [(8, 0, 0, 0), (4, 2, 2, 0), (3, 1, 2, 2), (0, 0, 5, 3)]


def make(**data):
    return KIND.run(KIND.build(data), 0)


def findings(**data):
    return [(finding.path, finding.message) for finding in KIND.check(KIND.build(data), Scope())]


def step(rows, cell, direction, exits):
    """Where one step from a cell ends: on the next cell, or in place where a wall or a closed side is."""
    mark = rows[cell[0]][cell[1]]
    open_sides = [ARROWS[mark]] if mark in ARROWS else exits.get(mark, CLOCKWISE)
    row, column = cell[0] + MOVES[direction][0], cell[1] + MOVES[direction][1]
    inside = 0 <= row < len(rows) and 0 <= column < len(rows[0])
    free = inside and rows[row][column] != "#"
    return (row, column) if direction != "stay" and direction in open_sides and free else cell


def table(rows, actions, slips, winds, exits):
    """P [S, A, S], one outcome after the other; slips and winds by the letter of the cell, "" for all others."""
    cells = [(r, c) for r in range(len(rows)) for c in range(len(rows[0])) if rows[r][c] != "#"]
    chances = np.zeros((len(cells), len(actions), len(cells)))
    for s, cell in enumerate(cells):
        letter = rows[cell[0]][cell[1]]
        slip = slips.get(letter, slips.get("", (8, 0, 0, 0)))
        towards, gust = winds.get(letter, winds.get("", ("up", 0)))
        for a, action in enumerate(actions):
            turn = CLOCKWISE.index(action) if action != "stay" else None
            for weight, by in zip(slip, (0, -1, 1, None), strict=True):
                move = "stay" if turn is None or by is None else CLOCKWISE[(turn + by) % 4]
                landed = step(rows, cell, move, exits)
                blown = step(rows, landed, towards, exits)
                chances[s, a, cells.index(landed)] += weight / 8 * (1 - gust / 4)
                chances[s, a, cells.index(blown)] += weight / 8 * gust / 4
    return chances


@st.composite
def maps(draw):
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    row = st.lists(st.sampled_from("##... >v<^iiww"), min_size=width, max_size=width).map("".join)
    rows = draw(st.lists(row, min_size=height, max_size=height))
    rows[0] = "iw"[draw(st.integers(0, 1))] + rows[0][1:]
    actions = draw(st.permutations(list(MOVES)).flatmap(lambda all_: st.integers(1, 5).map(lambda n: all_[:n])))
    letters = sorted({mark for row in rows for mark in row} & {"i", "w"})
    parts = st.sampled_from(["", *letters])
    slips = draw(st.dictionaries(parts, st.sampled_from(EIGHTHS), max_size=3))
    winds = draw(st.dictionaries(parts, st.tuples(st.sampled_from(CLOCKWISE), st.integers(0, 4)), max_size=3))
    sides = st.lists(st.sampled_from(CLOCKWISE), unique=True, max_size=3)
    exits = draw(st.dictionaries(st.sampled_from(letters), sides, max_size=2))
    return rows, actions, slips, winds, exits


NAMES = {"i": "ice", "w": "draught"}


def parts_of(letter):
    return {} if not letter else {"at": NAMES[letter]}


@settings(max_examples=200, deadline=None)
@given(maps())
def test_every_transition_is_that_of_the_table_filled_in_by_hand(world):
    rows, actions, slips, winds, exits = world
    turns = ("straight", "left", "right", "stay")
    used = {letter: name for letter, name in NAMES.items() if any(letter in row for row in rows)}
    data = {
        "map": "\n".join(rows),
        "legend": used,
        "actions": actions,
        "slip": [
            dict(zip(turns, (weight / 8 for weight in weights), strict=True)) | parts_of(letter)
            for letter, weights in slips.items()
        ],
        "wind": [{"to": to, "chance": gust / 4} | parts_of(letter) for letter, (to, gust) in winds.items()],
        "exits": {NAMES[letter]: sides for letter, sides in exits.items()},
    }
    assert findings(**data) == []
    made = make(**data)
    np.testing.assert_allclose(made.kernel.to_dense(), table(rows, actions, slips, winds, exits), atol=1e-15)
    most = (made.kernel.probabilities > 0).sum(axis=-1).max()
    assert most <= KIND.traits.max_successors(KIND.build(data), made.space)


def test_a_door_lets_one_through_and_not_back():
    world = make(map=".>.", actions=["left", "right"])
    assert world.kernel.successors[..., 0].tolist() == [[0, 1], [1, 2], [1, 2]]
    down = make(map=".\nv\n.", actions=["up", "down"])
    assert down.kernel.successors[..., 0].tolist() == [[0, 1], [1, 2], [1, 2]]


def test_one_mapping_with_a_place_leaves_the_rest_of_the_floor_firm():
    slip = {"at": "ice", "straight": 0.5, "stay": 0.5}
    dense = make(map="..ii", legend={"i": "ice"}, slip=slip, actions=["right"]).kernel.to_dense()
    assert dense[0, 0, 1] == dense[1, 0, 2] == 1 and dense[2, 0].tolist() == [0, 0, 0.5, 0.5]


def test_a_letter_may_still_name_one_cell_and_v_is_a_letter_where_the_legend_says_so():
    world = make(map="Av.", legend={"v": "vault"}, actions=["left"])
    assert world.space.names == ("A", "vault", "(0, 2)")
    assert world.kernel.successors[:, 0, 0].tolist() == [0, 0, 1]


def test_a_regions_name_stands_for_all_its_cells():
    world = make(map="iAi.", legend={"i": "ice"}, reset="ice", teleports=[{"from": "A", "to": "ice"}])
    assert world.reset.tolist() == [0.5, 0, 0.5, 0]
    assert world.kernel.to_dense()[1, 0].tolist() == [0.5, 0, 0.5, 0]
    assert world.space.states("ice") == [0, 2] and world.space.states([0, 3]) == [3]
    with pytest.raises(LookupError, match=r"'ice' is 2 cells; say one of them, as \[row, column\]"):
        world.space.index("ice")


def test_costs_of_a_region_are_a_formula_or_a_table():
    space = make(map="iAi.", legend={"i": "ice"}).space
    pays = "where(column == goal(column), 1, 0) - 0.25 * ice"
    formula = RewardChoice({"kind": "expression", "pays": pays})
    listed = RewardChoice({"kind": "table", "of": {"A": {"A": 1, "ice": -0.25}}})
    for reward, at in ((formula, [1]), (listed, None)):
        assert make_goals(reward, space, at, "never", 0).reward.tolist() == [[-0.25, 1, -0.25, 0]]


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({"legend": {"i": "ice", "x": "gap"}}, ("legend", "x"), "no cell of the map bears 'x'"),
        ({"legend": {"i": "ice", "#": "rock"}}, ("legend", "#"), "'#' means the same in every map"),
        ({"legend": {"i": "ice", "ii": "snow"}}, ("legend", "ii"), "'ii' is not one character"),
        ({"legend": {"i": "row"}}, ("legend", "i"), "'row' is a variable of every map already"),
        ({"legend": {"i": "A"}}, ("legend", "i"), "'A' is a cell of the map already"),
        ({"exits": {"gate": ["up"]}}, ("exits", "gate"), "no state 'gate'"),
        ({"slip": {"at": "icy", "straight": 1}}, ("slip", "at"), "no state 'icy'; did you mean 'ice'?"),
        (
            {"slip": [{"at": "ice", "straight": 1}, {"at": [[0, 0]], "straight": 1}]},
            ("slip", 1, "at"),
            "cell (0, 0) slips already, by slip[0]",
        ),
        (
            {"slip": [{"straight": 0.5}, {"at": "ice", "straight": 1}]},
            ("slip", 0),
            "the probabilities sum to 0.5, not 1",
        ),
        (
            {"wind": [{"to": "up"}, {"to": "down"}]},
            ("wind", 1),
            "wind[0] is said of all other cells already",
        ),
        (
            {"wind": {"to": "up", "at": {"rows": [0, 4], "columns": [0, 0]}}},
            ("wind", "at", "rows"),
            "the map has rows 0 to 0",
        ),
    ],
)
def test_a_mistake_in_a_region_is_found_where_it_was_made(data, path, message):
    assert findings(**{"map": "iAi.", "legend": {"i": "ice"}, **data}) == [(path, message)]


@pytest.mark.parametrize(
    ("text", "offset"),
    [("..\n.?\n??", 4), ("\n\n..\n.\n..", 5), ("..\n...\n..", 5), ("A.\n.A\nAA", 4)],
)
def test_a_mistake_of_drawing_is_told_once_and_at_its_character(text, offset):
    (finding,) = KIND.check(KIND.build({"map": text}), Scope())
    assert finding.offset == offset
