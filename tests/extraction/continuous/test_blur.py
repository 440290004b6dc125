"""Slopes from around a state, and what they cure."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.extraction.continuous.test_unroll import PLANE, line_view, smooth_view
from wmlab.extraction.continuous.unroll import blurred, returns

KEY = jax.random.key(5)


@pytest.fixture(scope="module")
def state():
    return PLANE.uniform(jax.random.key(2), 5)


def test_blurred_values_are_the_same_values(state):
    view = smooth_view()
    np.testing.assert_array_equal(blurred(view, KEY, 0.1, 3).values(state), view.values(state))


def test_blurred_slopes_are_means_of_slopes_around(state):
    view = smooth_view()
    noise = 0.1 * PLANE.span * jax.random.normal(KEY, (3, *state.shape))

    def total(of):
        return jax.grad(lambda state: of.values(state).sum())

    expected = np.mean([total(view)(state + one) for one in noise], axis=0)
    np.testing.assert_allclose(total(blurred(view, KEY, 0.1, 3))(state), expected, atol=1e-5)


# --- values that rise by 1 a step of 1, and wiggle ------------------------------------------------------------------

START = -50 + 40 * jax.random.uniform(KEY, (4000, 1))
GOAL = jnp.zeros((len(START), 1), int)


def wiggly(params, place):
    worth = place + jnp.sin(1.5 * place)
    return jnp.stack([worth, worth - 1], axis=-1)


def after_steps(view, step, horizon: int, slopes):
    """What the agent makes of that many steps, with slopes from another view of it."""
    wanted = jnp.arange(1, horizon + 1) == horizon
    return returns(view, lambda key, state, action: state + step, KEY, START + step, GOAL, wanted, slopes)[-1]


@pytest.mark.slow
def test_the_end_of_a_longer_walk_is_blurred_too():
    view = line_view(wiggly, discount=1.0)
    slope = jax.grad(lambda step: after_steps(view, step, 2, blurred(view, KEY, 0.1, 2)).mean())(1.0)
    places = START + 2.0 + jax.random.normal(KEY, (2, *START.shape))  # the range is 10
    assert slope == pytest.approx(2 * float((1 + 1.5 * jnp.cos(1.5 * places)).mean()), rel=1e-3)


def test_a_wiggle_in_the_values_shrinks_the_motion_and_a_blur_restores_it():
    view = line_view(wiggly, discount=1.0)
    target = view.values(START)[:, :, 0] + 1  # a true step is worth 1

    def motion(width: float) -> float:
        """The step that a descent on squared residuals settles at."""
        slopes = blurred(view, KEY, width, 4)
        slope = jax.jit(jax.grad(lambda step: ((after_steps(view, step, 1, slopes) - target) ** 2).mean()))
        step = jnp.float32(0.0)
        for _ in range(60):
            step -= 0.1 * slope(step)
        return float(step)

    # least of (c - 1)² + 1 - cos 1.5 c, where 2 (c - 1) + 1.5 sin 1.5 c = 0
    assert motion(0.0) == pytest.approx(0.494, abs=0.02)
    assert motion(0.2) == pytest.approx(1.0, abs=0.05)
