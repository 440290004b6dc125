"""What goals pay and where they end an episode."""

from __future__ import annotations

import numpy as np
import pytest

from tests.making import goals_section, make_goals
from tests.mdps.fourrooms import fourrooms
from wmlab.core.finite.check_goals import check_goals
from wmlab.core.finite.goals import goal_labels, labels_of
from wmlab.core.finite.places import places
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import RewardChoice, Scope, rewards

ROOMS = fourrooms("deterministic").space
THREE = FiniteSpace.named(3, 2)
UNIFORM = {"kind": "uniform", "low": -1, "high": 0}
EXAMPLES = {
    "indicator": ({"noise": UNIFORM}, [2, 0]),
    "gaussian": ({"sigma": 1.5}, [2, 0]),
    "generic": ({"count": 2}, None),
    "table": ({"of": {"s2": {"s1": 0.5}, "s0": [1, 2, 3]}}, None),
}


def findings(space=THREE, terminate="on_arrival", at=None, **reward):
    goals = goals_section({"reward": reward, "terminate": terminate, **({} if at is None else {"at": at})})
    scope = Scope(space, goals=goals)
    kind = rewards[reward["kind"]]
    own = [(("reward", *finding.path), finding.message) for finding in kind.check(kind.build(reward), scope)]
    return own + [(finding.path, finding.message) for finding in check_goals(goals, scope)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_reward_pays_each_goal_for_each_state_and_is_fixed_by_its_seed(name):
    options, at = EXAMPLES[name]
    kind = rewards[name]
    made, again, other = (kind.run(kind.build(options), THREE, at, seed) for seed in (4, 4, 5))
    assert made.values.shape == made.arrival.shape == (2, 3)
    assert made.values.dtype == np.float64 and np.isfinite(made.values).all()
    assert len(labels_of(RewardChoice({"kind": name, **options}), THREE, at)) == 2
    assert (made.values == again.values).all()
    assert (made.values != other.values).any() == kind.traits.draws(kind.build(options))
    assert kind.traits.at in ("needed", "optional", "none")


SPANNING = {
    "indicator": ({}, True),
    "indicator of 0 and -1": ({"there": 0, "elsewhere": -1}, True),
    "indicator that cancels out": ({"there": -2, "elsewhere": 1}, False),
    "gaussian": ({"sigma": 0.7}, True),
    "table": ({"of": {"a": [1, 0, 0], "b": [0, 1, 0], "c": [1, 1, 0]}}, False),
}


@pytest.mark.parametrize("name", SPANNING)
def test_what_options_say_of_the_rank_of_rewards_is_so(name):
    data, spans = SPANNING[name]
    kind = rewards[name.partition(" ")[0]]
    options = kind.build(data)
    made = kind.run(options, THREE, [0, 1, 2] if kind.traits.at == "needed" else None, 0)
    assert kind.traits.spans(options, THREE, True) is spans
    assert bool(np.linalg.matrix_rank(made.values) == 3) is spans


def test_every_finite_reward_is_under_contract():
    assert {*EXAMPLES, "expression"} == set(rewards.own)


def test_an_indicator_pays_at_the_goal_and_ends_there():
    goals = make_goals({"kind": "indicator"}, THREE, [1, 2], "on_arrival", 0)
    assert goals.reward.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert goals.continues.tolist() == [[1, 0, 1], [1, 1, 0]]
    assert goals.labels == ("s1", "s2")


def test_an_indicator_may_pay_as_libraries_do():
    goals = make_goals({"kind": "indicator", "there": 0, "elsewhere": -1}, THREE, [1, 2], "on_arrival", 0)
    assert goals.reward.tolist() == [[-1, 0, -1], [-1, -1, 0]]
    assert goals.continues.tolist() == [[1, 0, 1], [1, 1, 0]]
    wrong = findings(kind="indicator", at=["s1"], there=-1, elsewhere=-1)
    assert wrong == [(("reward", "elsewhere"), "arriving at the goal pays -1, as everything else does")]


def test_a_table_lists_the_states_that_end_each_goals_episodes():
    table = {"s1": ["s0", 2], "s2": []}
    goals = make_goals({"kind": "indicator"}, THREE, [1, 2, 0], {"table": table}, 0)
    assert goals.labels == ("s1", "s2", "s0")
    assert goals.continues.tolist() == [[0, 1, 0], [1, 1, 1], [1, 1, 1]]
    cells = make_goals({"kind": "indicator"}, ROOMS, [0], {"table": {ROOMS.names[0]: [ROOMS.cells[3].tolist()]}}, 0)
    assert np.flatnonzero(cells.continues[0] == 0).tolist() == [3]


def test_a_table_of_ends_serves_goals_that_are_at_no_state():
    assert findings(kind="generic", count=2, terminate={"table": {"g0": ["s1"]}}) == []


def test_a_table_of_ends_names_goals_and_states_that_are_there():
    table = {"s1": ["s0", "s11"], "s11": ["s2"]}
    assert findings(kind="indicator", at=["s1"], terminate={"table": table}) == [
        (("terminate", "table", "s1", 1), "no state 's11'; did you mean 's1'?"),
        (("terminate", "table", "s11"), "no goal 's11'"),
    ]


@pytest.mark.parametrize("terminate", [{}, {"within": 1, "table": {}}])
def test_an_episode_ends_by_a_distance_or_by_a_table(terminate):
    assert findings(kind="indicator", at=["s1"], terminate=terminate) == [
        (("terminate",), "say within, when or both, or a table")
    ]


def test_a_goal_that_never_ends_continues_everywhere():
    assert (make_goals({"kind": "indicator"}, THREE, [1], "never", 0).continues == 1).all()


def test_noise_lies_in_its_range_and_stays_as_goals_are_added():
    reward = {"kind": "indicator", "noise": UNIFORM}
    few, more = (make_goals(reward, ROOMS, list(range(count)), "on_arrival", 3).reward for count in (2, 5))
    assert (few == more[:2]).all()
    assert (more[~np.eye(5, 68, dtype=bool)] <= 0).all() and (np.diag(more) >= 0).all() and more.min() >= -1
    seeded = {"kind": "indicator", "noise": {**UNIFORM, "seed": 1}}
    first, second = (make_goals(seeded, ROOMS, [0], "never", seed).reward for seed in (0, 1))
    assert (first == second).all()


def test_normal_noise_has_the_standard_deviation_asked_for():
    reward = {"kind": "table", "of": {"g": [0.0] * 68}, "noise": {"kind": "normal", "sd": 3.0}}
    assert 2 < make_goals(reward, ROOMS, None, "never", 0).reward.std() < 4


def test_a_radius_and_a_distance_reach_the_cells_around():
    corner = ROOMS.index([1, 1])
    near = make_goals({"kind": "indicator", "radius": 1.1}, ROOMS, [corner], "on_arrival", 0)
    cells = [ROOMS.index(cell) for cell in ([1, 1], [1, 2], [2, 1])]
    assert np.flatnonzero(near.reward[0]).tolist() == sorted(cells)
    assert np.flatnonzero(near.continues[0] == 0).tolist() == sorted(cells)
    ended = make_goals({"kind": "indicator"}, ROOMS, [corner], {"within": 1.1}, 0)
    assert np.flatnonzero(ended.continues[0] == 0).tolist() == sorted(cells)
    assert ended.reward.sum() == 1


def test_a_gaussian_falls_off_with_distance_on_the_map():
    corner = ROOMS.index([1, 1])
    reward = make_goals({"kind": "gaussian", "sigma": 2.0}, ROOMS, [corner], "never", 0).reward[0]
    assert reward[corner] == 1
    assert reward[ROOMS.index([2, 3])] == pytest.approx(np.exp(-5 / 8))
    apart = make_goals({"kind": "gaussian", "sigma": 1.0}, THREE, [0], "never", 0).reward[0]
    assert apart == pytest.approx([1, np.exp(-1), np.exp(-1)])


def test_a_tables_goal_with_a_states_name_ends_in_that_state():
    goals = make_goals({"kind": "table", "of": {"s2": {"s1": 0.5}}}, THREE, None, "on_arrival", 0)
    assert goals.reward.tolist() == [[0, 0.5, 0]]
    assert goals.continues.tolist() == [[1, 1, 0]]


@pytest.mark.parametrize(
    ("goals", "expected"),
    [
        ({"kind": "indicator"}, (("at",), "a reward of kind indicator needs goals")),
        ({"kind": "indicator", "at": ["s0", "s11"]}, (("at", 1), "no state 's11'; did you mean 's1'?")),
        (
            {"kind": "table", "of": {"s0": [1, 2, 3]}, "at": "all"},
            (("at",), "a reward of kind table names its own goals"),
        ),
        (
            {"kind": "table", "of": {"only": [1, 2, 3]}},
            (("terminate",), "goal 'only' is at no state, so there is nowhere to arrive"),
        ),
        (
            {"kind": "generic", "count": 2, "terminate": {"within": 1}},
            (("terminate",), "goal 'g0' is at no state, so there is nowhere to arrive"),
        ),
        ({"kind": "generic", "terminate": "never"}, (("reward", "count"), "how many goals?")),
        (
            {"kind": "generic", "count": 2, "at": "all"},
            (("reward", "count"), "goals.at says already which goals there are"),
        ),
        (
            {"kind": "table", "of": {"s0": {"s7x": 1}}},
            (("reward", "of", "s0", "s7x"), "no state 's7x'"),
        ),
        ({"kind": "table", "of": {"s0": [1, 2]}}, (("reward", "of", "s0"), "2 rewards for 3 states")),
        ({"kind": "gaussian", "sigma": 0.0, "at": "all"}, (("reward", "sigma"), "0 is no width; it must be above 0")),
        (
            {"kind": "gaussian", "sigma": {"x": 1.0}, "at": "all"},
            (("reward", "sigma"), "this world has no named variables"),
        ),
        (
            {"kind": "indicator", "at": "all", "noise": {"kind": "normal"}},
            (("reward", "noise", "sd"), "a normal draw needs sd"),
        ),
        (
            {"kind": "indicator", "at": "all", "noise": {**UNIFORM, "sd": 1.0}},
            (("reward", "noise", "sd"), "a uniform draw has no sd"),
        ),
        (
            {"kind": "indicator", "at": "all", "noise": {**UNIFORM, "high": -2}},
            (("reward", "noise", "high"), "from -1 to -2 is empty"),
        ),
    ],
)
def test_goals_that_make_no_sense_are_found_where_they_are(goals, expected):
    assert findings(**goals) == [expected]


def test_goals_can_be_named_without_being_made():
    assert goal_labels(goals_section({"reward": {"kind": "indicator"}, "at": ["s1"]}), THREE) == ("s1",)
    assert goal_labels(goals_section({"reward": {"kind": "generic", "count": 2}}), THREE) == ("g0", "g1")


PLANE = {"row": [0, 1.5], "column": {"linspace": [1, 2, 2]}}


def test_goals_may_lie_between_cells():
    places = [[0, 1], [0, 2], [1.5, 1], [1.5, 2]]
    goals = make_goals({"kind": "gaussian", "sigma": 1}, ROOMS, np.array(places), {"within": 1}, 0)
    assert goals.labels == ("(0, 1)", "(0, 2)", "(1.5, 1)", "(1.5, 2)")
    assert goals.reward[2, ROOMS.index([1, 1])] == pytest.approx(np.exp(-0.125))
    assert goals.continues[2, ROOMS.index([2, 1])] == 0 and goals.continues[2, ROOMS.index([3, 1])] == 1
    assert goal_labels(goals_section({"reward": {"kind": "gaussian", "sigma": 1}, "at": PLANE}), ROOMS) == goals.labels


def test_jitter_moves_goals_off_their_places_by_the_seed():
    reward = {"kind": "gaussian", "sigma": 1, "jitter": 0.25}
    still, one, again, other = (
        make_goals({**reward, "jitter": jitter}, ROOMS, [0, 5], "never", seed).reward
        for jitter, seed in ((0, 1), (0.25, 1), (0.25, 1), (0.25, 2))
    )
    assert (one == again).all() and (one != other).any()
    assert 0 < np.abs(one - still).max() < 0.3
    assert (make_goals(reward, THREE, [0], "never", 0).reward != [[1.0, np.exp(-1), np.exp(-1)]]).all()


def test_goals_between_cells_need_rewards_that_know_distances():
    assert findings(space=ROOMS, at=PLANE, kind="indicator", radius=1) == []
    [(path, message)] = findings(space=ROOMS, at=PLANE, kind="indicator")
    assert path == ("reward", "radius") and message == "goals that lie between states need a radius"
    [(path, message)] = findings(space=ROOMS, at=PLANE, kind="generic")
    assert path == ("at",) and message == "a reward of kind generic needs goals at states, and (0, 1) is none"
    wrong = findings(space=ROOMS, at={"row": [0], "colum": [1]}, kind="gaussian", sigma=1)
    assert [message for _, message in wrong] == [
        "a map has row and column, and no 'colum'",
        "nothing said about 'column'",
    ]
    [(path, message)] = findings(space=THREE, at=PLANE, kind="gaussian", sigma=1)
    assert path == ("at",) and "no variables" in message


# --- goals that are listed by their points ---------------------------------------------------------------------------

LISTED = [[1, 1], [1.5, 2], {"row": 0, "column": 2.25}, {"row": 2, "column": 3}]


def test_goals_off_the_lattice_can_be_listed():
    at = places(LISTED, ROOMS)
    np.testing.assert_array_equal(at, [[1, 1], [1.5, 2], [0, 2.25], [2, 3]])
    goals = make_goals({"kind": "gaussian", "sigma": 2}, ROOMS, at, "never", 0)
    assert goals.labels == ("(1, 1)", "(1.5, 2)", "(0, 2.25)", "(2, 3)")
    gaps = np.asarray(at)[:, None] - ROOMS.cells
    np.testing.assert_allclose(goals.reward, np.exp(-(gaps**2).sum(axis=-1) / 8), rtol=1e-14)
    product = places({"row": [1.5], "column": [2]}, ROOMS)
    np.testing.assert_array_equal(product, places([[1.5, 2]], ROOMS))


def test_points_that_are_all_cells_are_states_for_which_any_reward_will_do():
    at = [{"row": 1, "column": 1}, [2, 3]]
    assert places(at, ROOMS) == [ROOMS.index([1, 1]), ROOMS.index([2, 3])]
    assert findings(space=ROOMS, at=at, kind="generic", terminate="on_arrival") == []


def test_a_letter_and_a_region_may_stand_beside_points():
    space = FiniteSpace.grid(np.ones((1, 4), bool), ["stay"], {(0, 0): "A"}, {"ice": [(0, 2), (0, 3)]})
    np.testing.assert_array_equal(places(["A", [0, 0.5], "ice"], space), [[0, 0], [0, 0.5], [0, 2], [0, 3]])
    goals = {"reward": {"kind": "gaussian", "sigma": 1}, "at": ["A", [0, 0.5], "ice"], "terminate": "never"}
    assert goal_labels(goals_section(goals), space) == ("(0, 0)", "(0, 0.5)", "(0, 2)", "(0, 3)")


@pytest.mark.parametrize(
    ("at", "reward", "expected"),
    [
        ([[5, 5], [1.5, 1]], {"kind": "gaussian", "sigma": 1}, (("at", 0), "cell (5, 5) is a wall")),
        ([[1.5, 1, 2]], {"kind": "gaussian", "sigma": 1}, (("at", 0), "[1.5, 1, 2] is not a cell; say [row, column]")),
        ([{"row": 1}], {"kind": "gaussian", "sigma": 1}, (("at", 0), "nothing said about 'column'")),
        (
            [[1.5, 1], {"row": 1.5, "column": 1}],
            {"kind": "gaussian", "sigma": 1},
            (("at", 1), "(1.5, 1) is listed twice"),
        ),
        (
            [[1, 1], [1.5, 1]],
            {"kind": "generic"},
            (("at", 1), "a reward of kind generic needs goals at states, and (1.5, 1) is none"),
        ),
        (
            [[1, 1], [1.5, 1]],
            {"kind": "indicator"},
            (("reward", "radius"), "goals that lie between states need a radius"),
        ),
        (
            [[1, 1], [1.5, 1.5]],
            {"kind": "indicator", "radius": 0.7},
            (("at", 1), "no state is nearer than the radius to (1.5, 1.5), so that it never pays"),
        ),
        (
            [[1, 1], [1.5, 1.5]],
            {"kind": "gaussian", "sigma": 1, "terminate": "on_arrival"},
            (("terminate",), "goal (1.5, 1.5) is at no state, so there is nowhere to arrive"),
        ),
    ],
)
def test_a_point_that_a_reward_has_no_use_for_is_refused_at_its_place(at, reward, expected):
    assert findings(space=ROOMS, at=at, **{"terminate": "never", **reward}) == [expected]
