"""The explorer in a page: what a page keeps of the stored arrays, and how fine a grid it has room for."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from tests.browser.pages import planes
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.measure.continuous.explorer_grid import check_explorer, explorer_grid, fitting, numbers_at, page_bytes
from wmlab.report.explorer import packed_half, planes_of
from wmlab.sections.experiment import EXPLORER_BYTES, Explore


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
    assert finding.hint == f"{fitting(('a',) * 4, numbers_at(space_of(4), 4, False))[0]} along each would fit"
