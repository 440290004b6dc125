"""Which states are goals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.mdps.fourrooms import fourrooms
from wmlab.core.finite.select import SelectionError, select, states_of
from wmlab.core.finite.space import FiniteSpace

ROOMS = fourrooms("deterministic").space


def test_the_first_goals_of_one_permutation_nest():
    order = np.random.RandomState(0).permutation(68).tolist()
    for count in (1, 5, 20, 68):
        assert select({"first": count, "of": "states", "shuffle": 0}, ROOMS) == order[:count]


def test_without_a_shuffle_the_first_are_the_first():
    assert select({"first": 3}, ROOMS) == [0, 1, 2]
    assert select("all", ROOMS) == list(range(68))


def test_goals_keep_the_order_in_which_they_are_listed():
    assert select([[9, 9], "(1, 1)", [1, 2]], ROOMS) == [67, 0, 1]
    assert select(["s2", 0], FiniteSpace.named(3, 1)) == [2, 0]


def test_every_goal_in_a_wall_is_named_by_its_place():
    with pytest.raises(SelectionError) as error:
        select([[1, 1], [0, 0], [1, 1], [5, 5]], ROOMS)
    assert [(finding.path, finding.message) for finding in error.value.findings] == [
        (("at", 1), "cell (0, 0) is a wall"),
        (("at", 2), "(1, 1) is listed twice"),
        (("at", 3), "cell (5, 5) is a wall"),
    ]
    assert str(error.value).startswith("at[1]: cell (0, 0) is a wall; at[2]: ")


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({"first": 69}, "at.first: 69 goals of 68 states"),
        ({"x": [0, 1]}, "at: this world has no variables (x) to take a product of"),
        ([], "at: an empty list"),
        ("some", "at: 'some' says no goals"),
    ],
)
def test_what_says_no_goals_is_refused(at, message):
    with pytest.raises(SelectionError) as error:
        select(at, ROOMS)
    assert str(error.value) == message


def test_reach_and_avoid_take_one_state_or_several():
    assert states_of([9, 1], ROOMS, ("reach",)) == [ROOMS.index([9, 1])]
    assert states_of([[3, 5], [5, 3]], ROOMS, ("avoid",)) == [ROOMS.index([3, 5]), ROOMS.index([5, 3])]
    assert states_of("s1", FiniteSpace.named(3, 1), ("reach",)) == [1]
    assert states_of(None, ROOMS, ("avoid",)) == []
    with pytest.raises(SelectionError, match=r"avoid\[1\]: cell \(0, 0\) is a wall"):
        states_of([[3, 5], [0, 0]], ROOMS, ("avoid",))
