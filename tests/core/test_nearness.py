"""`radius` and `within` have one meaning in every kind of world: nearer than. At exactly that distance is not near."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.making import continuous_goals, make_goals, unseen_task
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.finite.coordinates import Coordinates
from wmlab.core.finite.places import places
from wmlab.core.finite.select import states_of
from wmlab.core.finite.space import FiniteSpace

MAP = FiniteSpace.grid(np.ones((1, 9), bool), ["stay"])
LINE = FiniteSpace(
    tuple(f"x={x}" for x in range(9)), ("stay",), coordinates=Coordinates(("x",), np.arange(9.0)[:, None], (np.inf,), 1)
)
RING = FiniteSpace(
    tuple(f"x={x}" for x in range(9)), ("stay",), coordinates=Coordinates(("x",), np.arange(9.0)[:, None], (9.0,), 1)
)
CONTINUUM = ContinuousSpace((Variable("x", 0.0, 8.0),), ("stay",), ("push",), ((0.0,),), ((0.0, 8.0),))
PLACES = np.arange(9.0)
EDGES = (0.25, 1.0, 1.5, 2.0, 3.0, 4.0)  # exact in float32, so that a distance can equal them in every world


def finite(space: FiniteSpace, reward: dict, at, ends, part: str) -> np.ndarray:
    goals = make_goals(reward, space, places(at, space), ends, 0)
    return goals.reward[0] > 0 if part == "reward" else goals.continues[0] == 0


def continuous(reward: dict, ends, part: str) -> np.ndarray:
    goals = continuous_goals({"reward": reward, "at": [{"x": 4}], "terminate": ends}, CONTINUUM)
    paid, on = jax.vmap(goals.arrive)(jnp.asarray(PLACES[:, None], jnp.float32))  # [9, 1] each
    return np.asarray(paid)[:, 0] > 0 if part == "reward" else np.asarray(on)[:, 0] == 0


def unseen(distance) -> np.ndarray:
    task = unseen_task({"reach": {"x": 4}, "within": distance}, CONTINUUM)
    return np.asarray(task.arrive(jnp.asarray(PLACES[:, None], jnp.float32))[0]) > 0


BELL = {"kind": "gaussian", "sigma": 1}
ON_MAP, NAMED = [[0, 4]], [{"x": 4}]


def everywhere(distance: float) -> dict[str, np.ndarray]:
    """Which of nine places in a row are near the fifth, by every way to say so: bool [9] each."""
    disc, discs = {"kind": "indicator", "radius": distance}, {"kind": "indicator", "radius": {"x": distance}}
    found = {
        "map, radius": finite(MAP, disc, ON_MAP, "never", "reward"),
        "map, on arrival": finite(MAP, disc, ON_MAP, "on_arrival", "end"),
        "map, within": finite(MAP, BELL, ON_MAP, {"within": distance}, "end"),
        "map, a point": finite(MAP, disc, {"row": [0], "column": [4]}, "never", "reward"),
        "continuum, radius": continuous(disc, "never", "reward"),
        "continuum, radius by variable": continuous(discs, "never", "reward"),
        "continuum, on arrival": continuous(disc, "on_arrival", "end"),
        "continuum, within": continuous(BELL, {"within": distance}, "end"),
        "continuum, unseen": unseen(distance),
        "continuum, unseen by variable": unseen({"x": distance}),
    }
    for name, space in (("variables", LINE), ("circle", RING)):
        found |= {
            f"{name}, radius": finite(space, disc, NAMED, "never", "reward"),
            f"{name}, radius by variable": finite(space, discs, NAMED, "never", "reward"),
            f"{name}, on arrival": finite(space, discs, NAMED, "on_arrival", "end"),
            f"{name}, within": finite(space, BELL, NAMED, {"within": distance}, "end"),
        }
    return found


@pytest.mark.parametrize("distance", EDGES)
def test_near_is_nearer_than_the_distance_in_every_kind_of_world(distance):
    expected = np.abs(PLACES - 4) < distance
    for way, near in everywhere(distance).items():
        np.testing.assert_array_equal(near, expected, err_msg=way)


@pytest.mark.parametrize("condition", ["abs(x - 4) < 2", "abs(x - 4) <= 2", "x > 6", "x >= 6"])
def test_a_region_is_what_its_comparison_says_in_every_kind_of_world(condition):
    expected = np.flatnonzero(CONTINUUM.holds(condition, PLACES[:, None].astype(np.float32)))
    assert states_of(condition, LINE, ()) == expected.tolist()
    assert states_of(condition, RING, ()) == expected.tolist()


def test_unnamed_states_lie_at_the_root_of_two_from_each_other():
    space = FiniteSpace.named(3, 1)
    for radius, reached in ((1.4, 1), (np.sqrt(2), 1), (1.42, 3)):
        assert np.sqrt(2) ** 2 > 2  # rounding alone would have all of them near
        assert make_goals({"kind": "indicator", "radius": radius}, space, [0], "never", 0).reward.sum() == reached


@settings(max_examples=100)
@given(
    step=st.integers(1, 12),
    tenths=st.integers(0, 80),
    by_name=st.booleans(),
    shift=st.sampled_from([0, 1_000_000]),
)
def test_a_state_at_exactly_the_distance_is_not_near_whatever_rounding_says(step, tenths, by_name, shift):
    # A goal between cells, in tenths: whole numbers say which cells lie nearer than so many tenths.
    goal, radius = tenths / 10, step / 10
    if by_name:
        line = Coordinates(("x",), shift + PLACES[:, None], (np.inf,), 1)
        space, at = FiniteSpace(LINE.names, ("stay",), coordinates=line), [{"x": shift + goal}]
    else:
        space, at = MAP, {"row": [0], "column": [goal]}
    near = finite(space, {"kind": "indicator", "radius": radius}, at, "never", "reward")
    np.testing.assert_array_equal(near, np.abs(10 * np.arange(9) - tenths) < step)
