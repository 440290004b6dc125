"""Policies that hide two states from a reader of values, and worlds in which there are none."""

from __future__ import annotations

import numpy as np
import pytest

from tests.extraction.worlds import view_of
from tests.making import goals_section, make_goals
from wmlab.agents.exact.alike import alike
from wmlab.core.finite.kernel import Kernel
from wmlab.registry import Scope, agents, mdps

KIND = agents["exact"]
PLANE = {"kind": "gridworld", "map": "....\n....\n....\n...."}
CENTRES = np.stack(np.meshgrid(np.arange(-1, 5), np.arange(-1, 5), indexing="ij"), axis=-1).reshape(-1, 2)


@pytest.fixture(scope="module")
def plane():
    kind = mdps["gridworld"]
    return kind.run(kind.build(PLANE), 0)


def backup(world, reward, continues, policy) -> np.ndarray:
    """M, by NumPy alone."""
    return view_of(world.kernel.to_dense(), policy, reward, 0.9, continues).backup


def test_without_an_end_some_policy_hides_two_states_and_with_one_none_does(plane):
    reward = (np.linalg.norm(plane.space.cells - CENTRES[:, None], axis=-1) <= 1.2).astype(float)  # [G, S]
    discount = np.full(len(reward), 0.9)
    pair = (plane.space.index([1, 1]), plane.space.index([2, 2]))
    for continues, hidden in ((np.ones_like(reward), True), (1 - reward, False)):
        policy = alike(plane.kernel, reward, continues, discount, pair)
        np.testing.assert_allclose(policy.sum(axis=-1), 1, atol=1e-12)
        found = backup(plane, reward, continues, policy)
        apart = np.abs(found[:, pair[0]] - found[:, pair[1]])
        assert apart.max() < 1e-12 if hidden else apart.max() >= 1 - 0.9


def test_where_every_policy_prefers_one_state_the_least_preference_is_taken():
    world = np.zeros((3, 2, 3))  # from s0 to s1 or s2, which stay; only s1 pays, and at once
    world[0, 0, 1] = world[0, 1, 2] = world[1, :, 1] = world[2, :, 2] = 1
    reward, continues = np.array([[0.0, 1.0, 0.0]]), np.ones((1, 3))
    policy = alike(Kernel.dense(world), reward, continues, np.array([0.9]), (1, 0))
    np.testing.assert_allclose(policy[0, 0], [1, 0], atol=0.05)  # s0 cannot have what s1 has, and goes there


def test_with_an_end_some_policy_hides_two_sets_of_states_of_which_no_two_can_be_hidden():
    world = np.zeros((6, 3, 6))  # from any of the first three to any of the others, and back
    for state, action in np.ndindex(6, 3):
        world[state, action, action + (3 if state < 3 else 0)] = 1
    reward, discount = np.eye(6), np.full(6, 0.9)
    policy = alike(Kernel.dense(world), reward, 1 - reward, discount, ((0, 1, 2), (3, 4, 5)))
    found = view_of(world, policy, reward, 0.9, 1 - reward).backup
    np.testing.assert_allclose(found[:, :3].mean(axis=1), found[:, 3:].mean(axis=1), atol=1e-14)
    apart = np.abs(found[:, :, None] - found[:, None, :]).max(axis=0)[~np.eye(6, dtype=bool)]
    assert apart.min() >= 1 - 0.9 - 1e-12


def findings(**policy):
    kind = mdps["gridworld"]
    space = kind.run(kind.build(PLANE), 0).space
    goals = goals_section({"reward": {"kind": "indicator"}, "at": "all", "terminate": "never"})
    return [
        (finding.path, finding.message)
        for finding in KIND.check(KIND.build({"discount": 0.9, "policy": policy}), Scope(space, goals=goals))
    ]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"kind": "alike"}, "which two states are to be worth the same?"),
        ({"kind": "alike", "states": [[1, 1], [1, 1]]}, "twice the same state"),
        ({"kind": "alike", "states": [[1, 1], [9, 9]]}, "cell (9, 9) is off the map"),
        ({"kind": "random", "states": [[1, 1], [2, 2]]}, "a policy of kind random takes no states"),
        ({"kind": "alike", "sets": [[[1, 1], [2, 2]], [[0, 0], [2, 2]]]}, "twice the same state"),
        ({"kind": "alike", "sets": [[[1, 1]], [[0, 0], [9, 9]]]}, "cell (9, 9) is off the map"),
        ({"kind": "alike", "states": [[1, 1], [2, 2]], "sets": [[[1, 1]], [[2, 2]]]}, "say one of states and sets"),
        ({"kind": "optimal", "sets": [[[1, 1]], [[2, 2]]]}, "a policy of kind optimal takes no sets"),
    ],
)
def test_states_that_cannot_be_alike_are_found_out(policy, message):
    ((path, said),) = findings(**policy)
    assert path[:2] == ("policy", "sets" if "sets" in policy else "states") and said.startswith(message)


def test_only_a_random_policy_is_certain_or_not():
    assert findings(kind="uniform", certain=True) == [
        (("policy", "certain"), "says which random policy is meant, and this one is uniform")
    ]
    assert findings(kind="random", certain=True) == []


def test_a_certain_random_policy_takes_one_action_in_each_state(plane):
    goals = make_goals({"kind": "indicator"}, plane.space, range(16), "never", 0)
    sure, unsure = (
        KIND.run(
            KIND.build({"discount": 0.9, "policy": {"kind": "random", "certain": certain}}), plane, goals, 3
        ).policy
        for certain in (True, False)
    )
    assert set(np.unique(sure)) == {0.0, 1.0} and (sure.argmax(axis=-1) == unsure.argmax(axis=-1)).all()
