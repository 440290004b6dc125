"""Goals by the values of variables, in finite worlds that have them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.making import make_goals
from wmlab.core.finite.places import places
from wmlab.core.finite.select import SelectionError, states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import mdps


@pytest.fixture(scope="module")
def space() -> FiniteSpace:
    kind = mdps["dynamics"]
    return kind.traits.space(
        kind.build(
            {
                "state": {"x": {"integers": [0, 3], "edge": "wrap"}, "y": {"integers": [0, 2]}},
                "actions": {"step": [0]},
                "next": {"x": "x", "y": "y"},
                "derived": {"total": "x + y", "share": "0.1 * x"},
            }
        )
    )


def names(states, space: FiniteSpace) -> list[str]:
    return [space.names[state] for state in states]


def test_a_point_that_names_every_variable_is_a_state(space):
    assert names(places([{"y": 1, "x": 2}, "x=0, y=0"], space), space) == ["x=2, y=1", "x=0, y=0"]
    assert names(places({"x": [0, 3], "y": {"linspace": [0, 2, 2]}}, space), space) == [
        "x=0, y=0",
        "x=0, y=2",
        "x=3, y=0",
        "x=3, y=2",
    ]
    assert space.index({"x": 3, "y": 2}) == 11


@pytest.mark.parametrize(("said", "instead"), [(5, "{x: …, y: …}"), ([3, 1], "{x: 3, y: 1}"), ([0.5], "{x: …, y: …}")])
def test_numbers_without_names_are_not_guessed_at(said, instead, space):
    with pytest.raises(LookupError, match="names no variable") as caught:
        space.index(said)
    assert caught.value.args[0] == f"{said} names no variable; say {instead}"


def test_a_goal_that_leaves_a_variable_open_is_paid_for_in_every_state_that_fits(space):
    goals = make_goals({"kind": "indicator"}, space, places([{"y": 2}, {"total": 5}], space), "on_arrival", 0)
    assert goals.labels == ("y=2", "total=5")
    assert names(np.flatnonzero(goals.reward[0]), space) == ["x=0, y=2", "x=1, y=2", "x=2, y=2", "x=3, y=2"]
    assert names(np.flatnonzero(goals.reward[1]), space) == ["x=3, y=2"]
    assert (goals.continues == 1 - goals.reward).all()


def test_a_derived_number_is_met_but_for_rounding(space):
    assert 0.1 * 3 != 0.3
    assert len(states_of({"share": 0.3}, space, ())) == 3
    goals = make_goals({"kind": "indicator"}, space, places([{"share": 0.3}], space), "never", 0)
    assert names(np.flatnonzero(goals.reward[0]), space) == ["x=3, y=0", "x=3, y=1", "x=3, y=2"]


def test_distances_go_the_short_way_round(space):
    goals = make_goals({"kind": "gaussian", "sigma": 1}, space, places([{"x": 0}], space), "never", 0)
    by_x = goals.reward[0].reshape(4, 3)
    np.testing.assert_allclose(by_x[:, 0], np.exp(-0.5 * np.array([0, 1, 4, 1])))
    assert (by_x == by_x[:, :1]).all()


def test_each_variable_may_have_its_own_width(space):
    at = places([{"x": 1, "y": 0}], space)
    wide = make_goals({"kind": "gaussian", "sigma": {"x": 1, "y": 2}}, space, at, "never", 0).reward[0]
    assert wide[space.index({"x": 2, "y": 2})] == pytest.approx(np.exp(-0.5 * (1 + 1)))
    near = make_goals({"kind": "indicator", "radius": {"x": 1.5, "y": 0.5}}, space, at, {"within": 1.1}, 0)
    assert names(np.flatnonzero(near.reward[0]), space) == ["x=0, y=0", "x=1, y=0", "x=2, y=0"]
    assert names(np.flatnonzero(1 - near.continues[0]), space) == ["x=0, y=0", "x=1, y=0", "x=1, y=1", "x=2, y=0"]


def test_regions_are_points_states_or_conditions(space):
    assert len(states_of({"y": 0}, space, ())) == 4
    assert names(states_of("x > 2 and total >= 4", space, ()), space) == ["x=3, y=1", "x=3, y=2"]
    assert names(states_of(["x=0, y=1", {"x": 0, "y": 1}, "x + y == 5"], space, ()), space) == ["x=0, y=1", "x=3, y=2"]


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ([{"x": 1}, {"z": 1}], "at[1].z: no variable 'z'; there are x, y, total, share"),
        ([{"x": 4}], "at[0].x: 4 is outside the range of x, [0, 3]"),
        ([{"x": 1}, {"x": 1}], "at[1]: x=1 is listed twice"),
        (["x=9, y=9"], "at[0]: no state 'x=9, y=9'"),
        ({"x": [0, 7]}, "at.x: 7 is outside the range of x, [0, 3]"),
    ],
)
def test_a_mistake_is_told_with_its_place(space, at, message):
    with pytest.raises(SelectionError) as told:
        places(at, space)
    assert str(told.value).startswith(message)


@pytest.mark.parametrize(
    ("avoid", "message"),
    [
        ("x > 9", "avoid: no state is like that"),
        ("speed > 1", "avoid: unknown name 'speed'"),
        ("x + y", "avoid: expected a condition, but 'x + y' is a number"),
        ([{"x": 2.5}], "avoid[0]: no state is like that"),
        ([], "avoid: an empty list"),
    ],
)
def test_a_region_that_holds_no_state_is_a_mistake(space, avoid, message):
    with pytest.raises(SelectionError) as told:
        states_of(avoid, space, ("avoid",))
    assert str(told.value) == message


def test_a_state_by_its_variables_needs_a_world_that_has_them():
    with pytest.raises(LookupError, match="this world has no named variables: say a state by its name"):
        FiniteSpace.named(3, 1).index({"x": 1})
