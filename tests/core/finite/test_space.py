"""Names, cells and topology."""

from __future__ import annotations

import numpy as np
import pytest

from wmlab.core.finite.space import FiniteSpace

FREE = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1]], bool)


@pytest.fixture
def grid() -> FiniteSpace:
    return FiniteSpace.grid(FREE, ["up"], {(2, 2): "G"})


def test_cells_are_numbered_row_by_row_and_walls_are_left_out(grid):
    assert grid.size == 7
    assert grid.names == ("(0, 0)", "(0, 1)", "(1, 0)", "(1, 2)", "(2, 0)", "(2, 1)", "G")
    assert [grid.index(cell) for cell in grid.cells.tolist()] == list(range(7))
    assert grid.index("G") == grid.index([2, 2]) == 6


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ([1, 1], "cell (1, 1) is a wall"),
        ([3, 0], "cell (3, 0) is off the map of 3 rows and 3 columns"),
        ([1], "[1] is not a cell; say [row, column]"),
        (2, "2 is not a cell; say [row, column]"),
        ("H", "no state 'H'"),
    ],
)
def test_a_cell_that_is_none_is_named(grid, state, message):
    with pytest.raises(LookupError) as error:
        grid.index(state)
    assert error.value.args[0] == message


def test_a_misspelt_state_gets_a_suggestion():
    space = FiniteSpace.named(["start", "goal"], 2)
    with pytest.raises(LookupError, match="no state 'gaol'; did you mean 'goal'?"):
        space.index("gaol")
    with pytest.raises(LookupError, match="no action 'a7'"):
        space.action("a7")
    with pytest.raises(LookupError, match="no state 2; there are 2, from 0 to 1"):
        space.index(2)
    with pytest.raises(LookupError, match="has no map"):
        space.index([0, 1])


def test_counts_become_names():
    space = FiniteSpace.named(3, 2)
    assert space.names == ("s0", "s1", "s2")
    assert space.actions == ("a0", "a1")
    assert space.index(1) == space.index("s1") == 1


def test_neighbours_are_the_free_cells_next_door(grid):
    near = grid.neighbours(4)
    assert near.shape == (7, 5)
    assert near[grid.index([0, 0])].tolist() == [0, 1, 2, -1, -1]
    assert near[grid.index([1, 2])].tolist() == [3, 6, -1, -1, -1]
    assert grid.neighbours(4, self_=False)[3].tolist() == [6, -1, -1, -1]
    assert set(grid.neighbours(8, self_=False)[grid.index([2, 1])].tolist()) == {-1, 2, 3, 4, 6}


def test_states_without_a_map_have_no_neighbours_and_lie_apart():
    space = FiniteSpace.named(3, 1)
    with pytest.raises(LookupError, match="no map"):
        space.neighbours()
    assert (space.embedding() == np.eye(3)).all()


def test_cells_are_their_own_embedding(grid):
    assert (grid.embedding() == grid.cells).all()
