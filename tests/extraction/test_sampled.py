"""Sparse supports by enumeration, and softmax models trained on samples."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.extraction.test_l1_fit import least_residual
from tests.extraction.worlds import noisy, random_view, tv, view_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.programs import exact
from wmlab.errors import StageError
from wmlab.extraction import evolution, score_function, sparse_lp
from wmlab.extraction.finite.descent import score_gradient, tables, trial_gradient
from wmlab.registry import Scope


def local_world(seed: int, goals: int, states: int = 8, size: int = 2):
    """Every step leads to one of two states, which two is not known."""
    rng = np.random.default_rng(seed)
    world = np.zeros((states, 2, states))
    for state, action in np.ndindex(states, 2):
        world[state, action, rng.choice(states, size, replace=False)] = rng.dirichlet(np.ones(size))
    policy = rng.dirichlet(np.ones(2), (goals, states))
    return world, view_of(world, policy, rng.normal(size=(goals, states)))


def test_one_goal_less_than_twice_the_support_gives_a_local_world_away():
    world, view = local_world(0, goals=3)
    found = sparse_lp.sparse_lp(view, sparse_lp.Options(size=2), 0)
    np.testing.assert_allclose(found.kernel.to_dense(), world, atol=1e-8)
    assert found.notes["pairs_with_another_kernel"] == 0


def test_with_fewer_goals_other_supports_fit_too_and_are_counted():
    _, view = local_world(0, goals=1)
    found = sparse_lp.sparse_lp(view, sparse_lp.Options(size=2), 0)
    assert found.residual.max() < 1e-10
    assert found.notes["pairs_with_another_kernel"] > 8


def test_the_best_of_all_supports_is_found():
    _, view = local_world(1, goals=3, states=5)
    view = noisy(view, 0.3)
    found = sparse_lp.sparse_lp(view, sparse_lp.Options(size=2), 0)
    for state, action in np.ndindex(5, 2):
        target = view.q[:, state, action]
        best = min(least_residual(view.backup[:, pair], target) for pair in combinations(range(5), 2))
        assert found.residual[state, action] == pytest.approx(best, abs=1e-8)


def test_too_many_supports_are_refused_before_and_at_the_run():
    findings = list(sparse_lp.check(sparse_lp.Options(size=3), Scope(FiniteSpace.named(68, 4))))
    assert [(finding.path, finding.message) for finding in findings] == [
        (("size",), "50116 choices of 3 of 68 states are too many to try; at most 5000")
    ]
    _, view = random_view(0, 68, 1, 1)
    with pytest.raises(StageError, match="^50116 choices of 3 of 68 candidates are too many to try$"):
        sparse_lp.sparse_lp(view, sparse_lp.Options(size=3), 0)


def exact_gradient(view, logits):
    """Of half the mean squared residual over rows, by automatic differentiation."""

    def loss(table):
        error = jax.nn.softmax(table, axis=-1) @ view.backup.T - view.q.reshape(view.rows, -1).T
        return 0.5 * (error**2).mean(axis=1).sum()

    return jax.jit(jax.grad(loss))(logits)


def scores(view, logits, independent: bool) -> np.ndarray:
    """Many estimates of the gradient, [50, N, K]."""
    known = tables(view, np.tile(np.arange(4), (8, 1)))
    each = jax.jit(lambda keys: jax.lax.map(lambda key: score_gradient(key, logits, known, 2_000, independent), keys))
    return np.asarray(each(jax.random.split(jax.random.key(0), 50)))


def off_by(found: np.ndarray, exact: np.ndarray) -> float:
    """By how many standard errors the worst mean is away."""
    return float((np.abs(found.mean(axis=0) - exact) / (found.std(axis=0) / np.sqrt(len(found)))).max())


def test_two_independent_samples_give_an_unbiased_gradient_and_one_sample_twice_does_not():
    _, view = random_view(0, 4, 2, 3)
    with exact():
        logits = jnp.asarray(np.random.default_rng(0).normal(size=(8, 4)))
        wanted = np.asarray(exact_gradient(view, logits))
        assert off_by(scores(view, logits, independent=True), wanted) < 4.5
        assert off_by(scores(view, logits, independent=False), wanted) > 20


def test_with_one_sample_twice_every_pair_ends_at_the_column_next_to_it():
    world, view = random_view(0, 4, 2, 4)
    view = replace(view, policy=np.eye(2)[view.policy.argmax(axis=-1)])  # else chance of actions counts, too
    options = score_function.Options(steps=1_000, independent=False)
    found = score_function.score_function(view, options, 0).kernel.to_dense()
    distance = np.linalg.norm(view.backup[:, None, None] - view.q[..., None], axis=0)  # [S, A, S]
    assert (found.argmax(axis=-1) == distance.argmin(axis=-1)).all() and found.max(axis=-1).min() > 0.8
    assert world.max(axis=-1).min() < 0.5  # which is not what the world does


def test_mirrored_trials_give_the_gradient_in_the_limit():
    _, view = random_view(0, 4, 2, 3)
    allowed = np.tile(np.arange(4), (8, 1))
    with exact():
        logits = jnp.asarray(np.random.default_rng(0).normal(size=(8, 4)))
        estimate = jax.jit(trial_gradient, static_argnames="mirrored")(
            jax.random.key(0), logits, tables(view, allowed), spread=1e-3, mirrored=4_000
        )
        np.testing.assert_allclose(estimate, exact_gradient(view, logits), atol=0.06)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (score_function.score_function, score_function.Options(steps=3_000, draws=32, rate=0.05)),
        (evolution.evolution, evolution.Options(steps=2_000)),
    ],
)
def test_a_softmax_model_approaches_the_world(method, options):
    world, view = random_view(3, 3, 2, 6)
    found = method(view, options, 0)
    uniform = tv(np.full(world.shape, 1 / 3), world)
    assert tv(found.kernel.to_dense(), world) < 0.3 * uniform


def test_an_odd_population_is_a_finding():
    findings = list(evolution.check(evolution.Options(population=7), Scope()))
    assert [finding.message for finding in findings] == ["trials come in mirrored pairs, and 7 is odd"]


@pytest.mark.parametrize("steps", [7, 250])
@pytest.mark.parametrize("method", [evolution.evolution, score_function.score_function])
def test_the_loss_of_a_fit_by_samples_is_kept_on_its_way(method, steps):
    _, view = random_view(0, 4, 2, 3)
    options = evolution.Options if method is evolution.evolution else score_function.Options
    found = method(view, options(steps=steps), 0)
    uniform = np.full((2, 4, 4), 0.25)
    left, first = (
        ((table.reshape(-1, 4) @ view.backup.T - view.q.reshape(3, -1).T) ** 2).mean() / 2
        for table in (found.kernel.to_dense(), uniform)
    )
    assert len(found.curve) == (7 if steps == 7 else 83)  # every third of 250
    assert steps == 7 or found.curve[-1] < first / 10
    assert found.curve[-1] == pytest.approx(left, rel=1e-9 if steps == 7 else 0.2)  # one more step was taken
