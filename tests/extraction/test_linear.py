"""Column matching, the pseudo-inverse and tabular P-learning against NumPy and SciPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.extraction.worlds import noisy, random_view, rooms_view, tv, view_of
from wmlab.extraction import column_matching, pseudo_inverse, tabular_p_learning
from wmlab.extraction.finite.problem import first_guess
from wmlab.registry import extractions


def matched(view, **options):
    return column_matching.column_matching(view, column_matching.Options(**options), 0)


def inverted(view, **options):
    return pseudo_inverse.pseudo_inverse(view, pseudo_inverse.Options(**options), 0)


def learnt(view, seed=0, **options):
    return tabular_p_learning.tabular_p_learning(view, tabular_p_learning.Options(**options), seed)


def test_one_goal_with_perturbed_rewards_gives_a_deterministic_world_away():
    world, view = rooms_view("deterministic", 1)
    reward = view.reward - np.random.default_rng(0).random(view.reward.shape)
    mix_with_uniform = view_of(world, view.policy, reward, 0.99, view.continues, view.space)
    for norm in ("l1", "l2"):
        found = matched(mix_with_uniform, norm=norm)
        np.testing.assert_array_equal(found.kernel.to_dense(), world)
        assert found.notes["ties"] == 0


def test_of_equal_columns_the_first_is_taken_and_the_ties_are_counted():
    world = np.zeros((3, 1, 3))
    world[:, 0, 2] = 1.0
    view = view_of(world, np.ones((1, 3, 1)), np.array([[0.0, 1.0, 1.0]]), discount=0.0)
    found = matched(view)
    np.testing.assert_array_equal(found.kernel.successors[..., 0], [[1], [1], [1]])
    assert found.notes["ties"] == 3


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), states=st.integers(2, 9), rows=st.integers(1, 4), norm=st.sampled_from([1, 2]))
def test_the_matched_column_is_the_nearest_one(seed, states, rows, norm):
    _, view = random_view(seed, states, 2, rows)
    distance = np.linalg.norm(view.q[..., None] - view.backup[:, None, None], ord=norm, axis=0)
    found = matched(view, norm=f"l{norm}").kernel.successors[..., 0]
    np.testing.assert_array_equal(found, distance.argmin(axis=-1))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), states=st.integers(1, 7), rows=st.integers(1, 8))
def test_the_closed_form_is_the_least_squares_kernel_of_least_norm(seed, states, rows):
    _, view = random_view(seed, states, 2, rows)
    view = noisy(view, 0.1, seed)
    expected = np.linalg.lstsq(view.backup, view.q.reshape(rows, -1), rcond=1e-9)[0].T
    assume(np.abs(expected).max() < 1e4)
    np.testing.assert_allclose(inverted(view).kernel.to_dense().reshape(-1, states), expected, atol=1e-8)


def test_on_a_support_the_closed_form_is_that_of_the_columns_allowed():
    _, view = random_view(5, 6, 2, 4)
    support = np.array([[0, 1, -1], [1, 2, 5], [2, 3, -1], [3, -1, -1], [4, 5, 0], [5, 0, 1]], np.int32)
    found = inverted(replace(view, support=support)).kernel.to_dense()
    for state, action in np.ndindex(6, 2):
        allowed = support[state][support[state] >= 0]
        expected = np.linalg.lstsq(view.backup[:, allowed], view.q[:, state, action], rcond=None)[0]
        np.testing.assert_allclose(found[state, action, allowed], expected, atol=1e-10)


def test_a_singular_m_gives_a_pseudo_world_and_the_notes_say_so():
    stay, swap, gamma = np.eye(3), np.zeros((3, 3, 3)), 1 / np.sqrt(2)
    swap[:, np.arange(3), np.arange(3)] = 1.0  # action i leads to state i
    act = np.array([[0, 0, 0], [1, 1, 2], [2, 1, 2]])
    view = view_of(swap, np.eye(3)[act], stay, gamma)
    assert np.linalg.matrix_rank(view.backup, tol=1e-9) == 2
    notes = inverted(view).notes
    assert notes["greatest_deviation_of_a_sum_from_one"] > 0.1 or notes["least_probability"] < -0.1
    assert notes["misfit"]["pairs"] == 0


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 5), initial=st.sampled_from(["uniform", "random", "zero"]))
def test_tabular_p_learning_lands_on_the_projection_of_its_first_guess(seed, rows, initial):
    _, view = random_view(seed, 4, 2, rows)
    view = noisy(view, 0.1, seed)
    sigma = np.linalg.svd(view.backup, compute_uv=False)
    assume(sigma[-1] > 0.08 * sigma[0])  # or it would take forever
    found = learnt(view, seed=3, initial=initial, steps=20_000)
    inverse = np.linalg.pinv(view.backup)
    guess = first_guess(initial, np.ones((8, 4), bool), 3)
    limit = view.q.reshape(rows, -1).T @ inverse.T + guess @ (np.eye(4) - inverse @ view.backup).T
    assert found.notes["settled"]
    np.testing.assert_allclose(found.kernel.to_dense().reshape(8, 4), limit, atol=1e-8)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(1, 400), projected=st.booleans(), local=st.booleans())
def test_an_unfinished_descent_is_off_by_no_more_than_it_says(seed, steps, projected, local):
    world, view = random_view(seed, 4, 2, 5)  # more rows than states: the limit is the world itself
    if local:
        view = replace(view, support=np.array([[2, 0, 1, 3]] * 4))
    found = learnt(view, steps=steps, projected=projected)
    off = np.abs(found.kernel.to_dense() - world).max()
    assert off <= found.notes["may_be_off"] + 1e-9 or found.notes["may_be_off"] == 1


def test_a_descent_that_has_settled_says_that_it_is_off_by_nothing():
    _, view = random_view(11, 4, 2, 5)
    for projected in (True, False):
        assert learnt(view, projected=projected, steps=50_000).notes["may_be_off"] < 1e-8
    assert learnt(view, step_size=1.5, steps=500).notes["diverged"]


def test_projected_p_learning_lands_on_the_least_squares_kernel_of_the_simplex():
    _, view = random_view(11, 4, 2, 4)
    view = noisy(view, 0.3)
    found = learnt(view, projected=True, steps=50_000)
    assert found.notes["settled"]
    for state, action in np.ndindex(4, 2):
        target = view.q[:, state, action]
        best = minimize(
            lambda p, target=target: ((view.backup @ p - target) ** 2).sum(),
            np.full(4, 0.25),
            jac=lambda p, target=target: 2 * view.backup.T @ (view.backup @ p - target),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(4)},
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 500},
        )
        loss = ((view.backup @ found.kernel.to_dense()[state, action] - target) ** 2).sum()
        assert loss <= best.fun + 1e-9


def test_projecting_once_at_the_end_is_not_the_same():
    _, view = random_view(11, 4, 2, 4)
    view = noisy(view, 0.3)
    during = learnt(view, projected=True, steps=50_000).kernel.to_dense()
    after = nearest_on_simplex(learnt(view, steps=50_000).kernel.to_dense())
    fit = [((np.einsum("sat,rt->rsa", table, view.backup) - view.q) ** 2).sum() for table in (during, after)]
    assert fit[0] < fit[1] - 1e-3


def nearest_on_simplex(table: np.ndarray) -> np.ndarray:
    """By bisection on the shift: slow and obviously right."""
    low, high = table.min(axis=-1, keepdims=True) - 1, table.max(axis=-1, keepdims=True)
    for _ in range(200):
        middle = (low + high) / 2
        heavy = np.maximum(table - middle, 0).sum(axis=-1, keepdims=True) > 1
        low, high = np.where(heavy, middle, low), np.where(heavy, high, middle)
    return np.maximum(table - low, 0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_batched_projection_is_the_nearest_point_of_the_simplex(seed):
    from wmlab.core.programs import exact
    from wmlab.extraction.finite.descent import project_on_simplex

    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 5)) * rng.choice([0.1, 1.0, 30.0], (6, 1))
    valid = rng.random((6, 5)) < 0.7
    valid[:, 2] = True
    with exact():
        found = np.asarray(project_on_simplex(points, valid))
    for row in range(6):
        np.testing.assert_allclose(found[row, valid[row]], nearest_on_simplex(points[row, valid[row]]), atol=1e-12)
        assert (found[row, ~valid[row]] == 0).all()


def test_the_steps_are_those_that_were_asked_for_and_their_losses_are_kept():
    _, view = random_view(2, 4, 2, 3)
    table = np.full((8, 4), 0.25)
    rate = 2 * 0.3 / np.linalg.norm(view.backup, 2) ** 2
    losses = []
    for _ in range(123):
        table = table - rate * (table @ view.backup.T - view.q.reshape(3, -1).T) @ view.backup
        losses.append(((table @ view.backup.T - view.q.reshape(3, -1).T) ** 2).mean() / 2)
    found = learnt(view, steps=123, step_size=0.3, tolerance=0.0)
    np.testing.assert_allclose(found.kernel.to_dense().reshape(8, 4), table, atol=1e-12)
    np.testing.assert_allclose(found.curve, [losses[99], losses[122]], rtol=1e-9)
    assert found.notes["steps"] == 123
    assert not found.notes["settled"]


def test_the_losses_of_pairs_that_settle_early_count_to_the_end():
    early, late = np.array([4.0, np.nan, np.nan]), np.array([3.0, 2.0, 1.0])
    found = tabular_p_learning.loss_of_all([(1, early), (3, late), (5, np.full(3, np.nan))])
    np.testing.assert_allclose(found, [(4 + 3 * 3) / 4, (4 + 3 * 2) / 4, (4 + 3 * 1) / 4])
    assert tabular_p_learning.loss_of_all([(5, np.full(3, np.nan))]).shape == (0,)


def test_an_ill_conditioned_agent_does_not_pretend_to_have_settled():
    world, view = rooms_view("teleporting", 68)
    found = learnt(view, steps=300)
    assert not found.notes["settled"]
    assert tv(found.kernel.to_dense(), world) > 0.1


@pytest.mark.parametrize("initial", ["uniform", "random"])
def test_first_guesses_lie_on_the_simplex_of_the_support(initial):
    valid = np.array([[True, True, False], [True, False, False]])
    guess = first_guess(initial, valid, 0)
    np.testing.assert_allclose(guess.sum(axis=1), 1.0)
    assert (guess[~valid] == 0).all()


@pytest.mark.parametrize("initial", ["uniform", "random", "zero"])
@pytest.mark.parametrize("rows", [2, 6])
def test_the_closed_form_from_a_first_guess_is_where_p_learning_goes(initial, rows):
    _, view = random_view(3, 4, 2, rows)
    options = pseudo_inverse.Options(initial=initial)
    limit = pseudo_inverse.pseudo_inverse(view, options, 7).kernel.to_dense()
    found = learnt(view, seed=7, initial=initial, steps=50_000).kernel.to_dense()
    np.testing.assert_allclose(found, limit, atol=1e-8)


def test_the_closed_form_on_a_support_keeps_the_first_guess_where_values_are_silent():
    _, view = random_view(3, 4, 2, 1)
    support = np.array([[0, 1, -1], [1, 2, 3], [2, 3, -1], [0, 3, -1]], np.int32)
    found = inverted(replace(view, support=support), initial="uniform").kernel.to_dense()
    assert (found[0, :, 2:] == 0).all()
    weights = found[1, :, 1:] - 1 / 3  # the change is along the columns of M, and nothing else
    assert np.linalg.matrix_rank(np.vstack([weights, view.backup[:, 1:]]), tol=1e-9) == 1


def test_projecting_once_gives_a_world_and_a_worse_fit():
    _, exact = random_view(5, 5, 2, 5)
    view = noisy(exact, 0.5)
    once = inverted(view, project=True).kernel
    assert (once.probabilities >= 0).all() and np.allclose(once.probabilities.sum(axis=-1), 1)
    best = learnt(view, projected=True, steps=20_000).kernel
    misfit = [((kernel.expect(view.backup) - view.q) ** 2).sum() for kernel in (best, once)]
    assert misfit[0] < misfit[1]


def test_from_the_bound_on_steps_do_not_converge():
    _, view = random_view(1, 4, 2, 6)
    limit = inverted(view).kernel.to_dense()
    errors = [
        np.abs(learnt(view, step_size=size, steps=401, tolerance=0, initial="random").kernel.to_dense() - limit).max()
        for size in (0.9, 1.0, 1.05)
    ]
    assert errors[0] < errors[1] < errors[2] and errors[1] > 1e-3 and errors[2] > 1e3


def test_only_random_first_guesses_use_the_seed():
    for module in (pseudo_inverse, tabular_p_learning):
        kind = extractions[module.__name__.rpartition(".")[2]]
        draws = kind.traits.draws
        assert [draws(kind.build({"initial": guess})) for guess in ("zero", "random")] == [False, True]
