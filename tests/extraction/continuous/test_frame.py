"""Variables that wrap, and variables that end."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tests.environments import function_view
from wmlab.core.continuous.view import Frame
from wmlab.extraction.continuous.fit import extract
from wmlab.extraction.continuous.models import NeuralModel, fresh
from wmlab.extraction.continuous.options import FitOptimiser, FitOptions, Model

MIXED = Frame(jnp.array([[-jnp.pi, jnp.pi], [-1.0, 1.0], [0.0, 2.0]]), ("wrap", "clip", "open"))
TURNS = jnp.array([-0.4, 0.0, 0.4])
CIRCLE = Frame(jnp.array([[-jnp.pi, jnp.pi]]), ("wrap",))


def test_each_variable_meets_its_own_edge():
    state = jnp.array([[4.0, 1.5, 3.0], [-4.0, -1.5, -1.0]])
    np.testing.assert_allclose(MIXED.wrap(state), [[4 - 2 * np.pi, 1.5, 3.0], [2 * np.pi - 4, -1.5, -1.0]], rtol=1e-6)
    np.testing.assert_allclose(MIXED.confine(state)[:, 1:], [[1.0, 3.0], [-1.0, -1.0]])
    np.testing.assert_allclose(
        MIXED.difference(jnp.array([3.0, 0, 0]), jnp.array([-3.0, 0, 0]))[0], 6 - 2 * np.pi, rtol=1e-5
    )


def test_gradients_pass_a_bound_so_that_nothing_gets_stuck_there():
    gradient = jax.grad(lambda state: MIXED.confine(state)[0, 1])(jnp.array([[0.0, 1.5, 0.0]]))
    assert gradient.tolist() == [[0.0, 1.0, 0.0]]


def test_sines_and_cosines_hide_the_seam():
    seam = jnp.array([[np.pi, 0.0, 1.0], [-np.pi, 0.0, 1.0]])
    one, other = MIXED.encode(seam, "sincos")
    np.testing.assert_allclose(one, other, atol=1e-6)
    assert MIXED.width("sincos") == 4 and MIXED.width("raw") == 3
    np.testing.assert_allclose(MIXED.encode(seam[:1], "normalised"), [[1.0, 0.0, 0.0]], atol=1e-6)


def test_a_bounded_model_ends_where_the_variable_does_and_a_free_one_does_not():
    for bounded in (True, False):
        model = fresh(jax.random.key(0), MIXED, 2, Model(family="affine", bounded=bounded))
        pushed = model.weights | {"output.bias": jnp.ones(3)}  # everything moves by its whole range
        after = NeuralModel(pushed, MIXED, 2, model.options).predict(jnp.zeros((1, 3)), jnp.zeros(1, int))
        np.testing.assert_allclose(after, [[0.0, 1.0 if bounded else 2.0, 2.0]], atol=0.05)


def circle_reward(params, state):
    return jnp.exp(jnp.cos(state - params)), jnp.ones((state.shape[0], params.shape[0]))


def circle_values(params, state):
    return jnp.exp(jnp.cos(state[:, None] + TURNS - params[:, None]))


def test_a_rotation_is_recovered_across_the_seam():
    view = function_view(
        jnp.array([0.0, 2.0, 4.0]),
        jnp.float32(0.0),
        CIRCLE,
        circle_values,
        circle_reward,
        lambda params, key, count: CIRCLE.uniform(key, count),
        3,
        3,
    )
    model = Model(depth=1, width=16, encoding="sincos")
    found = extract(
        view, FitOptions(model=model, optimiser=FitOptimiser(rate=1e-2), goals="all", steps=300, batch=64), 0
    ).model
    state = jnp.array([[3.1], [-3.1], [0.5], [3.1]])
    after = found.predict(state, jnp.array([2, 0, 1, 1]))
    np.testing.assert_allclose(after, [[3.5 - 2 * np.pi], [2 * np.pi - 3.5], [0.5], [3.1]], atol=0.02)
