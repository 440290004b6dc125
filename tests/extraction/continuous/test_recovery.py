"""From exact values the world comes back."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.extraction.continuous.worlds import GUST, TIME, delta_nmse, integrate, integrator, windy, windy_mean
from wmlab.extraction.continuous.fit import extract, held_out, residuals
from wmlab.extraction.continuous.options import FitOptimiser, FitOptions, Model

QUICK = {"optimiser": FitOptimiser(rate=1e-2), "goals": "all"}
SMALL = {"depth": 2, "width": 32, "encoding": "normalised"}


def true_successors(view, states, truth):
    return truth(states[:, None], jnp.arange(view.actions)[None])[None]


def test_the_values_of_the_double_integrator_are_exact():
    view = integrator()
    states = held_out(view, 0)
    assert np.abs(residuals(view, states, true_successors(view, states, integrate))).max() < 2e-4


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ({"model": Model(family="affine", encoding="normalised")}, 200),
        ({"model": Model(**SMALL)}, 400),
        ({"model": Model(family="additive", **SMALL), "estimator": "evolution", "loss": "l2", "draws": 2}, 400),
        pytest.param(
            *({"model": Model(family="affine"), "horizon": 3, "loss": "l2", "draws": 2, "goals": "one"}, 300),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["affine", "residual", "additive by evolution", "three steps"],
)
def test_a_double_integrator_with_gaussian_goals_is_recovered(changes, steps):
    view = integrator()
    found = extract(view, FitOptions(**{**QUICK, "steps": steps, "batch": 64, **changes}), 0)
    assert delta_nmse(found.model.predict, integrate, held_out(view, 1)).max() <= 1e-3


def test_of_a_variable_whose_rate_is_known_the_time_of_a_step_is_found():
    view = integrator()
    model = Model(**SMALL, rates={"position": "velocity"})
    found = extract(view, FitOptions(**QUICK, model=model, steps=400, batch=64), 0)
    assert found.weights["rate.weight"] * 2 == pytest.approx(TIME, rel=0.01)  # positions span twice what velocities do
    assert delta_nmse(found.model.predict, integrate, held_out(view, 1)).max() <= 1e-3


def test_the_residual_at_held_out_states_needs_no_truth_and_agrees_with_it():
    view = integrator()
    found = extract(view, FitOptions(**QUICK, model=Model(family="affine"), steps=200, batch=128), 0)
    assert found.states.shape == (256, 2) and found.errors.shape == (256, 3, 6)
    assert found.notes["residual"] == pytest.approx(np.abs(found.errors).mean(), rel=1e-5)
    still = jnp.broadcast_to(found.states[None, :, None], (1, 256, 3, 2))
    assert found.notes["residual"] < 0.02 * np.abs(residuals(view, jnp.asarray(found.states), still)).mean()


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "error"), [("score", 0.15), ("reparameterised", 0.05)])
def test_a_gust_is_recovered_with_its_mean_and_variance(estimator, error):
    view = windy()
    model = Model(family="gaussian", depth=1, width=8, encoding="normalised", init_sd=0.1)
    options = FitOptions(estimator, model=model, loss="l2", **QUICK, draws=8, steps=400, batch=48)
    found = extract(view, options, 0).model
    states = held_out(view, 1)
    assert delta_nmse(found.predict, windy_mean, states).max() < 0.01
    _, sd = found.moments(states, jnp.zeros(len(states), int))
    np.testing.assert_allclose((sd / GUST).mean(axis=0), 1.0, atol=error)
    drawn = found.sample(jax.random.key(0), jnp.zeros((4000, 2)), jnp.ones(4000, int))
    np.testing.assert_allclose(drawn.std(axis=0), GUST, rtol=0.15)
