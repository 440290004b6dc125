"""The explorer in a page: what a page keeps of the stored arrays, and how fine a grid it has room for."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from tests.browser.pages import planes
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.finite.space import FiniteSpace
from wmlab.measure.continuous.explorer_grid import check_explorer, explorer_grid
from wmlab.report.data import ReportData
from wmlab.report.explorer import packed_half, planes_of
from wmlab.report.render import render
from wmlab.sections.explorer import (
    AUTOMATIC_BYTES,
    EXPLORER_BYTES,
    Explore,
    NothingToExplore,
    automatic_explorer,
    fitting,
    numbers_at,
    page_bytes,
)


@pytest.mark.parametrize("size", [1e-30, 1e-9, 1.0, 65536.0, 3e30])
def test_half_precision_keeps_three_digits_of_numbers_of_any_size(size):
    numbers = (size * np.random.default_rng(0).uniform(-1, 1, 1000)).astype(np.float32)
    numbers[:2] = size, -size
    kept = packed_half(numbers)
    told = kept["unit"] * np.frombuffer(base64.b64decode(kept["bytes"]), "<f2").astype(np.float64)
    assert np.allclose(told, numbers, rtol=2**-11, atol=size * 1e-9)


def test_what_is_no_number_and_what_is_nothing_stay_so():
    kept = packed_half(np.array([np.nan, 0.0, 1.0], np.float32))
    told = np.frombuffer(base64.b64decode(kept["bytes"]), "<f2")
    assert np.isnan(told[0]) and told[1] == 0
    nothing = packed_half(np.zeros(3, np.float32))
    assert not np.frombuffer(base64.b64decode(nothing["bytes"]), "<f2").any()


def test_whole_numbers_and_flags_are_kept_as_they_are():
    arrays = planes_of(planes())["arrays"]
    assert arrays["horizon"] == {"shape": [], "type": "<i4", "bytes": base64.b64encode(b"d\0\0\0").decode()}
    assert arrays["ends"]["type"] == "|u1"


def space_of(size: int, actions: int = 9) -> ContinuousSpace:
    variables = tuple(Variable(f"v{i}", -1.0, 1.0, "clip") for i in range(size))
    names = tuple(f"a{i}" for i in range(actions))
    return ContinuousSpace(
        variables, names, ("push",), tuple((float(i),) for i in range(actions)), ((-1.0, 0.5),) * size
    )


def test_a_grid_is_as_fine_as_the_page_has_room_for_and_has_a_middle():
    for size, expected in ((2, 61), (4, 9)):
        grid = explorer_grid(Explore(), space_of(size), goals=4, exact=True)
        assert grid.sizes == (expected,) * size
        assert page_bytes(grid.sizes, numbers_at(space_of(size), 4, True)) <= EXPLORER_BYTES
        states = grid.states(grid.sizes)
        assert len(states) == expected**size and (np.abs(states).max(axis=1) < 1e-7).any()


def test_variables_that_cannot_be_chosen_stand_midway_among_the_starts_or_where_said():
    asked = Explore(over=("v3", "v0"), at={"v1": 0.5}, points={"v3": 3, "v0": 5})
    grid = explorer_grid(asked, space_of(6), goals=1, exact=False)
    assert grid.fixed == {"v1": 0.5, "v2": -0.25, "v4": -0.25, "v5": -0.25} and grid.columns == (3, 0)
    states = grid.states(grid.sizes)
    assert states.shape == (15, 6) and (states[:, 1] == 0.5).all() and len(set(states[:5, 0])) == 5


@pytest.mark.parametrize(
    ("asked", "size", "message"),
    [
        (Explore(), 1, "draws over two variables, and this world has one"),
        (Explore(over=("v0",)), 3, "two to 4 state variables, each once, of v0, v1 or v2"),
        (Explore(over=("v0", "v0")), 3, "two to 4 state variables, each once, of v0, v1 or v2"),
        (Explore(points={"v0": 5}), 2, "how many points along v1?"),
        (Explore(points={"v0": 5, "v1": 5, "w": 5}), 2, "'w' is none of the variables"),
        (Explore(goals=1000), 4, "5 x 5 x 5 x 5 points may take 65.1 MB of the page, and there is room for 4"),
    ],
)
def test_what_cannot_be_explored_is_refused(asked, size, message):
    assert [finding.message for finding in check_explorer(asked, space_of(size), 1000, True)] == [message]


def test_what_would_fit_is_said():
    (finding,) = check_explorer(Explore(points=31), space_of(4), 4, False)
    assert finding.hint == f"{fitting(4, numbers_at(space_of(4), 4, False))} along each would fit"


# --- where nobody asked for one -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "actions"), [(2, 3), (3, 5), (4, 9), (6, 25), (2, 200)])
def test_an_explorer_that_nobody_asked_for_takes_its_part_of_a_page_at_most(size, actions):
    space = space_of(size, actions)
    explore = automatic_explorer(space, exact=True, acts=True)
    grid = explorer_grid(explore, space, goals=1000, exact=True)
    assert page_bytes(grid.sizes, numbers_at(space, explore.goals, True)) <= AUTOMATIC_BYTES
    assert [*check_explorer(explore, space, 1000, True)] == []


@pytest.mark.parametrize(("states", "actions"), [(2, 1), (104, 4), (500, 6), (2000, 4), (1000, 40)])
def test_so_does_that_of_a_finite_world(states, actions):
    space = FiniteSpace.named(states, tuple(map(str, range(actions))))
    assert automatic_explorer(space, False, True).most_bytes(states, actions) <= AUTOMATIC_BYTES


def test_a_small_finite_world_is_kept_whole():
    space = FiniteSpace.named(104, ("up", "right", "down", "left"))
    assert automatic_explorer(space, False, True) == Explore(goals=32, successors=12)


@pytest.mark.parametrize(
    ("space", "acts", "reason"),
    [
        (FiniteSpace.named(1_000_000, ("go",)), True, "1 000 000 states are too many for a page"),
        (space_of(1), True, "it draws over two variables, and this world has one"),
        (space_of(2), False, "the agent comes without an actor, and nobody knows what it does"),
        (space_of(2, 100_000), True, "100000 actions are too many for a page"),
    ],
)
def test_where_there_is_nothing_to_explore_that_is_said(space, acts, reason):
    with pytest.raises(NothingToExplore, match=reason):
        automatic_explorer(space, True, acts)
    page = render(ReportData({"spec": "s", "profile": "p"}, explorer=reason))["index.html"].decode()
    assert f"There is no explorer of this run: {reason}." in page and "<script" not in page
