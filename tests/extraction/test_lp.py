"""Extraction by linear programming, on FourRooms and in hand-made worlds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.extraction.worlds import noisy, random_view, rooms_view, tv, view_of
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import StageError
from wmlab.extraction.column_matching import Options as Matching
from wmlab.extraction.column_matching import column_matching
from wmlab.extraction.finite.problem import chunks
from wmlab.extraction.lp import Options, lp, solve
from wmlab.extraction.sparse_lp import Options as Sparse
from wmlab.extraction.sparse_lp import sparse_lp


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), states=st.integers(2, 7))
def test_as_many_goals_as_states_give_the_world_away(seed, states):
    world, view = random_view(seed, states, 2, states + 1)
    found = lp(view, Options(), 0)
    size = np.linalg.cond(np.vstack([view.backup, np.ones(states)]))
    np.testing.assert_allclose(found.kernel.to_dense(), world, atol=1e-12 * max(size, 1e2))


def test_two_goals_fit_q_and_still_miss_the_kernel():
    world, view = random_view(1, 6, 2, 2)
    found = lp(view, Options(), 0)
    assert found.residual.max() < 1e-12
    assert tv(found.kernel.to_dense(), world) > 0.1


def test_one_pair_by_hand():
    # from s0 the agent expects 0.75; s1 is worth 1 and s2 is worth 0
    world = np.zeros((3, 1, 3))
    world[0, 0, [1, 2]] = 0.75, 0.25
    world[1, 0, 1] = world[2, 0, 2] = 1.0
    view = view_of(world, np.ones((1, 3, 1)), np.array([[0.5, 1.0, 0.0]]), discount=0.0)
    assert view.q[0, 0, 0] == 0.75
    vertex = lp(view, Options(), 0).kernel.to_dense()[0, 0]
    assert vertex @ view.backup[0] == pytest.approx(0.75, abs=1e-15)
    assert (vertex > 0).sum() == 2
    # of p0/2 + p1 = 3/4, p0 + p1 + p2 = 1, p >= 0 the shortest is (1/3, 7/12, 1/12)
    nearest = lp(view, Options(tie_break="least_norm"), 0).kernel.to_dense()[0, 0]
    np.testing.assert_allclose(nearest, [1 / 3, 7 / 12, 1 / 12], atol=1e-12)


def test_a_single_state_is_its_own_successor():
    view = view_of(np.ones((1, 1, 1)), np.ones((1, 1, 1)), np.ones((1, 1)))
    assert lp(view, Options(), 0).kernel.to_dense() == 1.0


def test_teleporting_rooms_with_all_goals_are_read_out_exactly():
    world, view = rooms_view("teleporting", 68)
    assert np.linalg.cond(view.backup) > 1e6
    for tie_break in ("vertex", "least_norm", "highs"):
        found = lp(view, Options(tie_break=tie_break), 0)
        assert tv(found.kernel.to_dense(), world) < 1e-8
        assert found.notes["solved_by_highs"] == (found.residual.size if tie_break == "highs" else 0)


def test_twenty_goals_nearly_give_the_teleports_away():
    world, view = rooms_view("teleporting", 20)
    found = lp(view, Options(), 0)
    assert found.residual.max() < 1e-12
    assert tv(found.kernel.to_dense(), world) < 0.06


def test_four_goals_and_a_map_nearly_give_the_wind_away():
    world, view = rooms_view("windy", 4, local=True)
    errors = {
        name: tv(lp(view, Options(tie_break=name), 0).kernel.to_dense(), world) for name in ("vertex", "least_norm")
    }
    assert errors["vertex"] < 0.03
    assert errors["least_norm"] < 0.01
    one = rooms_view("windy", 1, local=True)[1]
    assert tv(lp(one, Options(), 0).kernel.to_dense(), world) > 0.2


def test_perturbed_rewards_and_one_goal_less_than_neighbours_give_the_wind_away():
    world, view = rooms_view("windy", 4, local=True)
    reward = view.reward - np.random.default_rng(0).random(view.reward.shape)
    perturbed = view_of(world, view.policy, reward, 0.99, view.continues, view.space)
    object.__setattr__(perturbed, "support", view.support)
    assert tv(lp(perturbed, Options(), 0).kernel.to_dense(), world) < 1e-10


@pytest.mark.parametrize("size", [0.0, 0.01])
def test_all_rooms_solved_at_once_have_the_residuals_of_highs_one_by_one(size):
    _, view = rooms_view("teleporting", 20)
    view = noisy(view, size) if size else view
    found = lp(view, Options(), 0)
    rows, states = view.backup.shape
    equal = np.block([[view.backup, np.eye(rows), -np.eye(rows)], [np.ones((1, states)), np.zeros((1, 2 * rows))]])
    cost = np.r_[np.zeros(states), np.ones(2 * rows)]
    sample = [
        linprog(cost, A_eq=equal, b_eq=np.r_[view.q[:, state, 0], 1.0], method="highs").fun for state in range(17)
    ]
    np.testing.assert_allclose(found.residual[:17, 0], sample, atol=1e-8)


# --- columns that coincide: what is left of a residual is rounding, and no solver can do better ----------------------


@pytest.mark.parametrize("seed", range(30))
def test_a_known_single_successor_everywhere_is_certified(seed):
    rng = np.random.default_rng(seed)
    successor = rng.integers(0, 8, (8, 2))
    world = Kernel.deterministic(successor).to_dense()
    view = view_of(world, rng.dirichlet(np.ones(2), (3, 8)), rng.normal(size=(3, 8)))
    view = replace(view, support=successor[..., None])
    for tie_break in ("vertex", "least_norm", "highs"):
        found = lp(view, Options(tie_break=tie_break), 0)
        np.testing.assert_array_equal(found.kernel.to_dense(), world)
        assert found.notes["solved_by_highs"] == (16 if tie_break == "highs" else 0)


@pytest.mark.parametrize("seed", range(30))
def test_a_constant_reward_is_fitted_by_any_world_and_certified(seed):
    rng = np.random.default_rng(seed)
    world = rng.dirichlet(np.ones(8), (8, 2))
    view = view_of(world, rng.dirichlet(np.ones(2), (1, 8)), np.ones((1, 8)))
    for tie_break in ("vertex", "least_norm", "highs"):
        found = lp(view, Options(tie_break=tie_break), 0)
        assert found.residual.max() < 1e-13
        assert found.notes["optimality_gap"] < 1e-12
        assert found.notes["unexplained"] == 0
    np.testing.assert_allclose(lp(view, Options(tie_break="least_norm"), 0).kernel.to_dense(), 1 / 8, atol=1e-12)
    assert column_matching(view, Matching(), 0).notes["ties"] == 16
    assert sparse_lp(view, Sparse(), 0).notes["pairs_with_another_kernel"] == 16


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_floor_of_rounding_lets_no_wrong_fit_pass(scale, monkeypatch):
    _, view = random_view(3, 6, 2, 4)
    view = replace(view, q=scale * view.q, reward=scale * view.reward)
    pairs = next(iter(chunks(view)))
    assert (pairs.rounding < 1e-12 * pairs.spread).all()
    monkeypatch.setattr("wmlab.extraction.lp.fit_one", lambda columns, target: (np.eye(6)[0], np.zeros(4)))
    with pytest.raises(StageError, match="no solver could certify a least residual"):
        solve(pairs, anew=True)


def test_unknown_successors_in_a_table_are_found():
    from wmlab.extraction.options import candidates_of, check_common
    from wmlab.registry import Scope, build

    space = FiniteSpace.named(["here", "there", "home"], ["go", "stay"])
    options = build(
        Options, {"prior": {"support": {"kind": "table", "of": {"here": ["hoem"], "ther": {"fly": ["home"]}}}}}
    )
    found = {".".join(map(str, finding.path)): finding.message for finding in check_common(options, Scope(space))}
    assert found == {
        "prior.support.of.here.0": "no state 'hoem'; did you mean 'home'?",
        "prior.support.of.ther": "no state 'ther'; did you mean 'there'?",
        "prior.support.of.ther.fly": "no action 'fly'",
    }
    good = build(
        Options, {"prior": {"support": {"kind": "table", "of": {"here": ["there"], "home": {"stay": ["home"]}}}}}
    )
    assert list(check_common(good, Scope(space))) == []
    np.testing.assert_array_equal(
        candidates_of(good.prior, space),
        [
            [[1, -1, -1], [1, -1, -1]],
            [[0, 1, 2], [0, 1, 2]],
            [[0, 1, 2], [2, -1, -1]],
        ],
    )
