"""Maps of worlds with variables, and the states next door on them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.registry import WorldChoice


def space(**state):
    declared = {name: dict(zip(("integers", "edge"), each, strict=False)) for name, each in state.items()}
    return WorldChoice({"kind": "unknown", "state": declared, "actions": 2}).space


def next_door(here, there, lengths, circles, of, self_):
    """Whether a cell is next to another, said as plainly as can be."""
    gaps = []
    for one, other, length, circle in zip(here, there, lengths, circles, strict=True):
        gap = abs(one - other)
        gaps.append(min(gap, length - gap) if circle else gap)
    if max(gaps) == 0:
        return self_
    return max(gaps) == 1 and (of == 8 or sum(gaps) == 1)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(1, 4), st.booleans()), min_size=2, max_size=3),
    st.sampled_from([4, 8]),
    st.booleans(),
)
def test_neighbours_are_next_door_in_two_variables_whatever_the_third_is(variables, of, self_):
    world = space(
        **{
            name: ([low, low + length], "wrap" if circle else "clip")
            for name, (low, length, circle) in zip("abc", variables, strict=False)
        }
    )
    near = world.neighbours(of, self_)
    lengths, circles = ([each[part] + (part == 1) for each in variables[:2]] for part in (1, 2))
    states = list(itertools.product(*(range(length + 1) for _, length, _ in variables)))
    for here, row in zip(states, near, strict=True):
        expected = {
            position
            for position, there in enumerate(states)
            if next_door(here[:2], there[:2], lengths, circles, of, self_)
        }
        listed = row[row >= 0].tolist()
        assert set(listed) == expected and len(listed) == len(expected)


def test_row_and_column_make_the_map_wherever_they_stand():
    chart = space(fuel=([0, 2],), column=([1, 4],), row=([0, 1],)).chart
    assert (chart.axes, chart.shape, chart.origin, chart.others) == (("row", "column"), (2, 4), (0, 1), ("fuel",))
    assert chart.states().shape == (2, 4, 3) and chart.crowd == 3


def test_one_variable_is_a_map_of_one_row():
    world = space(stock=([0, 4],))
    assert world.chart.shape == (1, 5) and world.chart.axes == ("", "stock")
    assert world.neighbours(4).tolist() == [
        [0, 1, -1, -1, -1],
        [1, 2, 0, -1, -1],
        [2, 3, 1, -1, -1],
        [3, 4, 2, -1, -1],
        [4, 3, -1, -1, -1],
    ]


def test_a_world_of_names_has_no_map():
    world = WorldChoice({"kind": "unknown", "states": 3, "actions": 2}).space
    assert world.chart is None
    with pytest.raises(LookupError, match="this world has no map"):
        world.neighbours()


def test_a_map_with_walls_is_its_own_chart():
    world = WorldChoice({"kind": "unknown", "states": {"grid": [2, 2], "walls": [[0, 1]]}, "actions": 2}).space
    assert np.array_equal(world.chart.states()[..., 0], [[0, -1], [1, 2]])
