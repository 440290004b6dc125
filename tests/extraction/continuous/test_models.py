"""World models before and after they are fitted: how many draws, and what lies beyond the states that were drawn."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from tests.agents.pqn.conftest import make_goals, make_world
from wmlab.agents.pqn.networks import init
from wmlab.agents.pqn.options import Network
from wmlab.core.continuous.view import Frame
from wmlab.core.finite.simulator import finite_goals, finite_simulator
from wmlab.extraction.continuous.models import NeuralModel, fresh
from wmlab.extraction.continuous.options import Model

LINE = Frame(jnp.array([[-1.0, 1.0]]), ("open",))
ACTION = jnp.zeros(1, int)


def model(**options) -> NeuralModel:
    return fresh(jax.random.key(0), LINE, 1, Model(depth=1, width=4, **options))


def test_several_draws_scatter_around_one_mean_and_one_draw_is_the_first():
    gusty = model(family="gaussian", init_sd=0.1)
    state = jnp.array([[0.3]])
    mean, sd = gusty.moments(state, ACTION)
    drawn = gusty.samples(jax.random.key(1), state, ACTION, 4000)
    assert drawn.shape == (4000, 1, 1)
    np.testing.assert_allclose(drawn.mean(), mean[0, 0], atol=4 * sd[0, 0] / 4000**0.5)
    np.testing.assert_allclose(drawn.std(), sd[0, 0], rtol=0.05)
    one = gusty.sample(jax.random.key(1), state, ACTION)
    np.testing.assert_array_equal(one, gusty.samples(jax.random.key(1), state, ACTION, 1)[0])


def test_what_is_certain_is_drawn_alike():
    steady = model()
    drawn = steady.samples(jax.random.key(1), jnp.array([[0.3]]), ACTION, 3)
    np.testing.assert_array_equal(drawn, jnp.tile(steady.predict(jnp.array([[0.3]]), ACTION), (3, 1, 1)))


def test_a_skip_goes_on_growing_where_hidden_units_are_all_used_up():
    far = jnp.array([[1e3], [2e3], [3e3]])
    for skip, growth in ((False, 0.0), (True, 0.5)):
        built = model(skip=skip, init_scale=1.0)
        weights = {**built.weights, "skip.weight": jnp.array([[0.25], [0.0]])} if skip else built.weights
        change = NeuralModel(weights, LINE, 1, built.options).predict(far, jnp.zeros(3, int)) - far
        np.testing.assert_allclose(jnp.diff(change[:, 0]), growth * 1e3, atol=1e-2)
    assert (model(skip=True).weights["skip.weight"] == 0).all()  # nothing moves in it before it is fitted


def test_a_change_is_in_units_of_the_range_or_as_it_is():
    scaled, plain = model(init_scale=1.0), model(init_scale=1.0, scale="none")
    state = jnp.array([[0.3]])
    moved = [built.predict(state, ACTION)[0, 0] - 0.3 for built in (scaled, plain)]
    np.testing.assert_allclose(moved[0], 2 * moved[1], rtol=1e-5)  # the range is 2 long
    gusty = model(family="gaussian", init_sd=0.1, scale="none")
    np.testing.assert_allclose(gusty.moments(state, ACTION)[1], 0.2, rtol=0.1)  # a share of the range in any case


def test_orthogonal_weights_turn_and_stretch_by_the_root_of_two():
    built = fresh(jax.random.key(0), LINE, 1, Model(depth=2, width=6, init="orthogonal", init_scale=0.01)).weights
    first, second, last = (np.asarray(built[f"{name}.weight"]) for name in ("layer0", "layer1", "output"))
    np.testing.assert_allclose(first @ first.T, 2 * np.eye(2), atol=1e-5)
    np.testing.assert_allclose(second.T @ second, 2 * np.eye(6), atol=1e-5)
    np.testing.assert_allclose(last.T @ last, 1e-4 * np.eye(1), atol=1e-8)
    agent = init(
        jax.random.key(0), finite_simulator(make_world()), finite_goals(make_goals(0, 4)), Network(init="orthogonal")
    )
    hidden, output = np.asarray(agent["layer1.weight"]), np.asarray(agent["output.weight"])
    np.testing.assert_allclose(hidden.T @ hidden, 2 * np.eye(128), atol=1e-4)
    np.testing.assert_allclose(output.T @ output, np.eye(output.shape[1]), atol=1e-4)


SWING = Frame(jnp.array([[-jnp.pi, jnp.pi], [-2.0, 2.0]]), ("wrap", "open"), ("theta", "omega"))


def test_a_variable_with_a_rate_moves_by_one_number_times_what_its_rate_is_next():
    for scale in ("range", "none"):
        options = Model(depth=1, width=4, init_scale=1.0, scale=scale, rates={"theta": "omega"})
        built = fresh(jax.random.key(0), SWING, 1, options)
        states, actions = jnp.array([[0.5, 1.0], [3.1, 2.0], [-2.0, 0.0]]), jnp.zeros(3, int)
        np.testing.assert_array_equal(
            built.predict(states, actions)[:, 0], states[:, 0]
        )  # nothing moves before the fit
        unit = 2 * jnp.pi / 4 if scale == "range" else 1.0
        weights = {**built.weights, "rate.weight": jnp.array([0.05 / unit])}
        after = NeuralModel.of(weights, SWING, 1, options).predict(states, actions)
        np.testing.assert_allclose(after[:, 0], SWING.wrap(states + 0.05 * after[:, 1:])[:, 0], rtol=1e-6)
        assert (after[:, 1] != states[:, 1]).all()  # of the others the network says what they do


def driven(edge: str, bounded: bool, change: float, rate: float, scale: str = "none") -> np.ndarray:
    """Where a place of 0.2 is next, and its speed, by a model of 1 unit of change and one number of the rate."""
    frame = Frame(jnp.array([[-1.0, 1.0], [-0.07, 0.07]]), ("open", edge), ("place", "speed"))
    options = Model(family="affine", scale=scale, bounded=bounded, rates={"place": "speed"})
    built = fresh(jax.random.key(0), frame, 1, options)
    weights = {name: jnp.zeros_like(weight) for name, weight in built.weights.items()}
    weights |= {"output.bias": jnp.array([0.5, change]), "rate.weight": jnp.array([rate])}
    return NeuralModel.of(weights, frame, 1, options).predict(jnp.array([[0.2, 0.06]]), ACTION)[0]


def test_a_rate_drives_as_it_arrives_held_or_wrapped():
    close = partial(np.testing.assert_allclose, rtol=0, atol=1e-7)
    close(driven("clip", True, 0.03, 1.0), [0.2 + 0.07, 0.07])  # 0.06 + 0.03 is held at 0.07
    close(driven("clip", True, -0.15, 2.0), [0.2 - 2 * 0.07, -0.07])
    close(driven("clip", True, -0.02, 2.0), [0.2 + 2 * 0.04, 0.04])  # within its range, as it is
    close(driven("clip", False, 0.03, 1.0), [0.2 + 0.09, 0.09])  # nothing was asked to be held
    close(driven("open", True, 0.03, 1.0), [0.2 + 0.09, 0.09])
    for bounded in (True, False):  # a circle of 0.14 around: 0.09 is -0.05
        close(driven("wrap", bounded, 0.03, 1.0), [0.2 - 0.05, -0.05])
    # in units of the ranges, 2 and 0.14: a change of 0.03 / 0.14, and 0.14 / 2 for a factor of 1
    close(driven("clip", True, 0.03 / 0.14, 0.07, "range"), [0.2 + 0.07, 0.07])


def test_a_gradient_passes_a_rate_that_is_held():
    slope = jax.grad(lambda change: driven("clip", True, change, 2.0)[0])(0.03)
    np.testing.assert_allclose(slope, 2.0, rtol=1e-6)


def test_models_that_differ_in_their_rates_alone_are_different_programs():
    columns = [fresh(jax.random.key(0), SWING, 1, Model(rates=rates)).rates for rates in ({}, {"theta": "omega"})]
    assert columns == [(), ((0, 1),)]
