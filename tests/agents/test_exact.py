"""Agents with exact values."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.making import goals_section, make_goals
from tests.mdps.fourrooms import fourrooms
from wmlab.planning.finite.values import policy_values
from wmlab.registry import Scope, agents, mdps

KIND = agents["exact"]
EXAMPLE = {  # the paper's rank-deficient example: every action goes where it says
    "kind": "tabular",
    "states": ["s0", "s1", "s2"],
    "actions": ["to0", "to1", "to2"],
    "transitions": {f"s{state}": {f"to{action}": f"s{action}" for action in range(3)} for state in range(3)},
}
ACT = {
    "s0": {"s0": "to0", "s1": "to0", "s2": "to0"},
    "s1": {"s0": "to1", "s1": "to1", "s2": "to2"},
    "s2": {"s0": "to2", "s1": "to1", "s2": "to2"},
}
GOALS = {"reward": {"kind": "indicator"}, "at": "all", "terminate": "never"}


def world(data=EXAMPLE, seed=0):
    kind = mdps[data["kind"]]
    return kind.run(kind.build(data), seed)


def view(seed=0, where=None, **options):
    where = where or world()
    goals = make_goals({"kind": "indicator"}, where.space, range(where.space.size), "never", 0)
    return KIND.run(KIND.build(options), where, goals, seed)


def findings(**options):
    scope = Scope(world().space, goals=goals_section(GOALS))
    return [(finding.path, finding.message) for finding in KIND.check(KIND.build(options), scope)]


@pytest.mark.parametrize("discount", [0.5, 2**-0.5, 0.9])
def test_the_papers_example_has_the_backup_that_the_paper_computes(discount):
    rest = 1 / (1 - discount) - 1
    expected = np.eye(3) + rest * np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1]])
    made = view(discount=discount, policy={"kind": "table", "act": ACT})
    np.testing.assert_allclose(made.backup, expected, atol=1e-12)
    rank = 2 if discount == 2**-0.5 else 3
    assert np.linalg.matrix_rank(made.backup, tol=1e-9) == rank


def test_a_stirred_policy_takes_every_action_now_and_then():
    made = view(discount=0.9, policy={"kind": "table", "act": ACT, "mix_uniform": 0.3})
    assert set(np.unique(made.policy.round(12))) == {0.1, 0.8}


def test_an_unconditional_policy_is_the_same_for_every_goal():
    made = view(discount=0.9, policy={"kind": "table", "act": ACT["s1"]})
    assert (made.policy == made.policy[0]).all()
    assert made.policy[0].argmax(axis=-1).tolist() == [1, 1, 2]


def test_rows_are_goal_by_discount_by_policy():
    made = view(discounts=[0.0, 0.5], policies={"random": 3})
    assert made.q.shape == (3 * 2 * 3, 3, 3)
    assert made.discount.reshape(3, 2, 3)[0].tolist() == [[0, 0, 0], [0.5, 0.5, 0.5]]
    assert (made.reward.reshape(3, 2, 3, 3) == np.eye(3)[:, None, None]).all()
    policies = made.policy.reshape(3, 2, 3, 3, 3)
    assert (policies == policies[0, 0]).all()
    assert (policies[0, 0, 0] != policies[0, 0, 1]).any()


@pytest.mark.parametrize(
    "options",
    [
        {"discount": 0.9},
        {"discount": 0.9, "policy": "uniform"},
        {"discount": 0.9, "policy": {"kind": "random"}},
        {"discount": 0.9, "temperature": 0.2},
        {"discount": 0.9, "policy": {"kind": "optimal", "mix_uniform": 0.1}},
        {"discounts": [0, 0.25, 0.99], "policies": {"random": 2}},
    ],
)
def test_whatever_the_policy_its_values_satisfy_bellmans_equation(options):
    where = world({"kind": "random", "states": 6, "actions": 3})
    made = view(where=where, **options)
    np.testing.assert_allclose(where.kernel.expect(made.backup), made.q, atol=1e-11)
    np.testing.assert_allclose(made.policy.sum(axis=-1), 1, atol=1e-12)


def test_a_cold_soft_agent_is_nearly_greedy_and_a_hot_one_nearly_uniform():
    where = world({"kind": "random", "states": 6, "actions": 3})
    best = view(where=where, discount=0.9)
    cold = view(where=where, discount=0.9, temperature=1e-4)
    hot = view(where=where, discount=0.9, temperature=1e3)
    np.testing.assert_allclose(cold.value, best.value, atol=1e-3)
    np.testing.assert_allclose(hot.policy, 1 / 3, atol=1e-2)


def test_random_policies_follow_the_runs_seed_unless_they_have_their_own():
    policy = {"kind": "random"}
    assert (view(0, discount=0.9, policy=policy).q != view(1, discount=0.9, policy=policy).q).any()
    policy = {"kind": "random", "seed": 4}
    assert (view(0, discount=0.9, policy=policy).q == view(1, discount=0.9, policy=policy).q).all()


@pytest.mark.parametrize(
    "how", [{"direction": "random"}, {"direction": "worst"}, {"direction": "worst", "against": "column_matching"}]
)
def test_approximate_values_are_off_by_exactly_epsilon_and_the_policy_stays(how):
    where = world({"kind": "random", "states": 6, "actions": 3})
    true = view(where=where, discount=0.9)
    near = view(where=where, discount=0.9, approximate={"epsilon": 0.01, **how})
    np.testing.assert_allclose(np.abs(near.q - true.q).sum(axis=0), 0.01, rtol=1e-9)
    assert (near.policy == true.policy).all()


def test_the_worst_direction_moves_the_inverted_world_further_than_a_random_one():
    def error(seed, direction):
        where = world({"kind": "random", "states": 6, "actions": 3}, seed)
        moved = view(where=where, discount=0.9, approximate={"epsilon": 1e-4, "direction": direction})
        model = np.einsum("yr,rxa->xay", np.linalg.pinv(moved.backup), moved.q)
        return np.abs(model - where.kernel.to_dense()).sum(axis=-1).max()

    assert all(error(seed, "worst") > error(seed, "random") for seed in range(5))


def test_values_may_come_from_another_world():
    other = {**EXAMPLE, "transitions": {state: {f"to{a}": "s0" for a in range(3)} for state in ("s0", "s1", "s2")}}
    assert findings(discount=0.9, world=other) == []
    made = view(where=world(other), discount=0.9)
    assert (made.q[1] == 0).all()


def test_fourrooms_agents_reach_every_goal_on_shortest_paths():
    where = fourrooms("deterministic")
    goals = make_goals({"kind": "indicator"}, where.space, [0, 67], "on_arrival", 0)
    made = KIND.run(KIND.build({"discount": 0.99}), where, goals, 0)
    far = 0.99 ** (16 - 1)  # from corner to corner
    assert made.value[0, 67] == pytest.approx(far, abs=1e-12) and made.value[1, 0] == pytest.approx(far, abs=1e-12)


def test_the_run_seed_matters_only_where_something_is_drawn():
    draws = KIND.traits.draws
    assert not draws(KIND.build({"discount": 0.9}))
    assert draws(KIND.build({"discount": 0.9, "policies": {"random": 2}}))
    assert draws(KIND.build({"discount": 0.9, "approximate": {"epsilon": 0.1}}))
    assert not draws(KIND.build({"discount": 0.9, "approximate": {"epsilon": 0.1, "direction": "worst"}}))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (("discount",), "say one of discount and discounts")),
        ({"discount": 0.5, "discounts": [0.5]}, (("discounts",), "say one of discount and discounts")),
        ({"discounts": [0.5, 1.0]}, (("discounts", 1), "1 is not in [0, 1)")),
        (
            {"discount": 0.5, "policy": "uniform", "policies": {"random": 2}},
            (("policies",), "say one of policy and policies"),
        ),
        (
            {"discount": 0.5, "policy": "uniform", "temperature": 1.0},
            (("temperature",), "only an optimal policy has a temperature"),
        ),
        ({"discount": 0.5, "policy": {"kind": "table"}}, (("policy", "act"), "what is done, and where?")),
        (
            {"discount": 0.5, "approximate": {"epsilon": 0.1, "against": "rank"}},
            (("approximate", "against"), "a random direction is against nothing in particular"),
        ),
        (
            {"discount": 0.5, "policy": {"kind": "random", "act": ACT}},
            (("policy", "act"), "a policy of kind random has no table"),
        ),
        (
            {"discount": 0.5, "policy": {"kind": "table", "act": {**ACT["s0"], "s1": "to9"}}},
            (("policy", "act", "s1"), "no action 'to9'"),
        ),
        (
            {"discount": 0.5, "policy": {"kind": "table", "act": {"s0": "to0", "s1": "to0"}}},
            (("policy", "act"), "nothing said about state 's2'"),
        ),
        (
            {"discount": 0.5, "policy": {"kind": "table", "act": {"s0": ACT["s0"], "s1": ACT["s1"]}}},
            (("policy", "act"), "nothing said about goal 's2'"),
        ),
        (
            {"discount": 0.5, "policy": {"kind": "table", "act": {**ACT, "elsewhere": ACT["s0"]}}},
            (("policy", "act", "elsewhere"), "no goal 'elsewhere'"),
        ),
        (
            {"discount": 0.5, "world": {"kind": "random", "states": 3, "actions": 3}},
            (("world", "actions"), "not the actions of the spec's own mdp"),
        ),
        (
            {"discount": 0.5, "world": {**EXAMPLE, "reset": "s99"}},
            (("world", "reset"), "no state 's99'; did you mean 's0'?"),
        ),
    ],
)
def test_an_agent_that_makes_no_sense_is_found_out(options, expected):
    (path, message), found = expected, findings(**options)
    assert [(where, said.split(";")[0]) for where, said in found] == [(path, message.split(";")[0])]


def test_moving_q_leaves_everything_else_as_it_was():
    where = world()
    plain, near = (view(where=where, discount=0.9, **more) for more in ({}, {"approximate": {"epsilon": 0.5}}))
    for field in dataclasses.fields(plain):
        if field.name not in ("q", "support", "space"):
            assert (getattr(plain, field.name) == getattr(near, field.name)).all()
    exact = policy_values(where.kernel, near.policy, near.reward, near.continues, near.discount)
    np.testing.assert_allclose(exact, plain.q, atol=1e-12)


def test_discounts_may_be_drawn_and_are_rows_of_their_own():
    drawn = view(discounts={"random": 5, "low": 0.5, "high": 0.75}, seed=3)
    assert drawn.q.shape == (15, 3, 3) and ((drawn.discount >= 0.5) & (drawn.discount < 0.75)).all()
    assert (drawn.discount.reshape(3, 5) == drawn.discount[:5]).all() and len(set(drawn.discount)) == 5
    assert (view(discounts={"random": 5}, seed=4).discount != view(discounts={"random": 5}, seed=5).discount).all()
    assert KIND.traits.draws(KIND.build({"discounts": {"random": 5}}))


def test_random_policies_are_the_same_for_all_goals_unless_they_are_conditional():
    one, each = (view(discount=0.9, policies={"random": 4, "conditional": c}).policy for c in (False, True))
    assert (one.reshape(3, 4, 3, 3) == one[:4]).all()
    assert (each.reshape(3, 4, 3, 3)[1] != each[:4]).any()


def test_temperatures_are_drawn_over_orders_of_magnitude():
    several = view(discount=0.9, temperatures={"random": 3, "low": 0.1, "high": 10}, seed=1)
    assert several.q.shape == (9, 3, 3)
    from wmlab.agents.exact.values import temperatures_of

    warmth = temperatures_of(KIND.build({"discount": 0.9, "temperatures": {"random": 3, "low": 0.1, "high": 10}}), 1)
    alone = view(discount=0.9, temperature=float(warmth[1]))
    assert several.q.reshape(3, 3, 3, 3)[:, 1] == pytest.approx(alone.q, abs=1e-12)


def test_values_may_be_moved_by_column_separations_and_by_random_parts():
    exact = view(discount=0.9)
    gap = min(np.abs(exact.backup[:, i] - exact.backup[:, j]).sum() for i in range(3) for j in range(i))
    for how, most in ({"unit": "gap"}, gap / 4), ({"how_far": "at_most"}, 0.25):
        distance = np.abs(view(discount=0.9, approximate={"epsilon": 0.25, **how}).q - exact.q).sum(axis=0)
        assert distance.max() <= most * (1 + 1e-9)
        assert (distance == pytest.approx(most)) == ("unit" in how)


def test_ranges_that_are_empty_or_lead_beyond_their_limits_are_found():
    assert findings(discounts={"random": 2, "low": 0.9, "high": 0.1}) == [
        (("discounts", "high"), "from 0.9 to 0.1 is empty")
    ]
    assert findings(discounts={"random": 2, "high": 1.5}) == [(("discounts", "high"), "1.5 is not in [0, 1)")]
    assert findings(discount=0.9, temperatures={"random": 2, "low": 0}) == [
        (("temperatures", "low"), "a temperature is above 0")
    ]
    assert findings(discount=0.9, temperature=1, temperatures={"random": 2, "low": 0.1}) == [
        (("temperatures",), "say one of temperature and temperatures")
    ]
