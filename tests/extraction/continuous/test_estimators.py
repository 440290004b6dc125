"""Estimates of the gradient against the gradient itself."""

from __future__ import annotations

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.extraction.continuous.worlds import integrator, windy
from wmlab.extraction.continuous import estimators
from wmlab.extraction.continuous.estimators import deterministic, draw, evolution, reparameterised, score_function
from wmlab.extraction.continuous.models import NeuralModel, fresh
from wmlab.extraction.continuous.options import FitOptions, HorizonSchedule, Model, check_fit

OPTIONS = FitOptions(
    estimator="score", model=Model(family="gaussian", depth=1, width=2, init_sd=0.1), loss="l2", goals="all", batch=4
)
ONE_STEP = jnp.array([True])
TRIES = 2000


def gaussian_setting():
    view = windy()
    model = fresh(jax.random.key(1), view.frame, view.actions, OPTIONS.model)
    weights = {**model.weights, "output.weight": 0.3 * jax.random.normal(jax.random.key(2), (2, 4))}
    return view, dataclasses.replace(model, weights=weights), draw(view, OPTIONS, jax.random.key(3))


def gradients(model: NeuralModel, surrogate) -> np.ndarray:
    """Many estimates, flat: [tries, weights]."""

    def one(key):
        found = jax.grad(lambda weights: surrogate(dataclasses.replace(model, weights=weights), key))(model.weights)
        return jnp.concatenate([leaf.ravel() for leaf in found.values()])

    return np.asarray(
        jax.jit(lambda keys: jax.lax.map(one, keys, batch_size=500))(jax.random.split(jax.random.key(4), TRIES))
    )


def exact_gradient(model: NeuralModel, view, batch) -> np.ndarray:
    """Of half the mean squared residual, with expectations by Gauss-Hermite quadrature."""
    points, weights = np.polynomial.hermite_e.hermegauss(12)
    grid = jnp.asarray(list(itertools.product(points, points)), jnp.float32)
    chance = jnp.asarray([a * b for a, b in itertools.product(weights, weights)], jnp.float32) / weights.sum() ** 2

    def loss(weights):
        mean, sd = dataclasses.replace(model, weights=weights).moments(batch.state, batch.action)
        places = mean[:, None] + sd[:, None] * grid  # [N, P, d]
        backup = view.backup(places.reshape(-1, 2), view.all_goals(places.shape[0] * len(grid)))
        expected = jnp.einsum("npg,p->ng", backup.reshape(len(mean), len(grid), -1), chance)
        return 0.5 * ((expected - batch.target) ** 2).mean()

    found = jax.jit(jax.grad(loss))(model.weights)
    return np.concatenate([np.asarray(leaf).ravel() for leaf in found.values()])


def off_by(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How many standard errors each mean is away."""
    return np.abs(found.mean(axis=0) - exact) / (found.std(axis=0) / np.sqrt(len(found)) + 1e-9)


def test_two_independent_samples_give_an_unbiased_gradient():
    view, model, batch = gaussian_setting()
    found = gradients(model, lambda model, key: score_function(model, view, OPTIONS, key, batch)[0])
    assert off_by(found, exact_gradient(model, view, batch)).max() < 4


@pytest.mark.parametrize("estimator", ["score", "reparameterised"])
def test_the_same_samples_in_both_places_are_biased(estimator):
    view, model, batch = gaussian_setting()
    options = dataclasses.replace(OPTIONS, estimator=estimator, independent=False)

    def surrogate(model, key):
        if estimator == "score":
            return score_function(model, view, options, key, batch)[0]
        return reparameterised(model, view, options, key, batch, ONE_STEP)[0]

    assert off_by(gradients(model, surrogate), exact_gradient(model, view, batch)).max() > 6


def test_only_what_multiplies_samples_may_take_the_same_twice():
    assert [finding.path for finding in check_fit(FitOptions(independent=False))] == [("independent",)]
    assert list(check_fit(dataclasses.replace(OPTIONS, independent=False))) == []


def test_two_sets_of_reparameterised_draws_give_an_unbiased_gradient():
    view, model, batch = gaussian_setting()
    found = gradients(model, lambda model, key: reparameterised(model, view, OPTIONS, key, batch, ONE_STEP)[0])
    assert off_by(found, exact_gradient(model, view, batch)).max() < 4


def test_mirrored_trials_give_the_gradient_in_the_limit():
    view = integrator()
    options = FitOptions("evolution", model=Model(depth=1, width=2), loss="l2", goals="all", batch=4, spread=1e-3)
    model = fresh(jax.random.key(1), view.frame, view.actions, options.model)
    batch = draw(view, options, jax.random.key(3))
    exact = gradients(model, lambda model, key: deterministic(model, view, options, key, batch, ONE_STEP)[0])[0]
    found = gradients(model, lambda model, key: evolution(model, view, options, key, batch)[0])
    assert np.abs(found.mean(axis=0) - exact).max() < 0.05 * np.abs(exact).max()


@pytest.mark.parametrize("loss", ["l1", "l2", "huber"])
def test_the_slope_is_the_derivative_of_the_loss(loss):
    options = FitOptions(loss=loss, huber=0.1)
    errors = jnp.array([-2.0, -0.05, 0.03, 0.5])
    np.testing.assert_allclose(
        jax.vmap(jax.grad(lambda e: estimators.size(options, e)))(errors), estimators.slope(options, errors)
    )


@pytest.mark.parametrize(
    ("horizon", "at"),
    [
        (3, {0: [3], 99: [3]}),
        ((1, 4), {0: [1, 4], 99: [1, 4]}),
        (HorizonSchedule(1, 3, 0.5), {0: [1], 16: [1], 17: [2], 34: [3], 99: [3]}),
        (HorizonSchedule(3, 2, 1.0, (1,)), {0: [1, 3], 50: [1, 2]}),
    ],
)
def test_horizons_follow_their_schedule(horizon, at):
    options = FitOptions(horizon=horizon, steps=100)
    for update, lengths in at.items():
        wanted = estimators.wanted(options, jnp.int32(update))
        assert wanted.shape == (options.reach,)
        assert (np.flatnonzero(wanted) + 1).tolist() == lengths
