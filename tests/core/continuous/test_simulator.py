"""Continuous worlds to act in."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import world
from wmlab.core.continuous.simulator import continuous_simulator, place_shape

ARM, CAR = world("Reacher-misc"), world("MountainCar-v0")


def test_angles_are_read_as_sine_and_cosine_and_the_rest_normalised():
    simulator = continuous_simulator(ARM, encoding="sincos")
    assert simulator.width == 6 and simulator.actions == 9 and simulator.horizon == 100
    read = simulator.encode(jnp.array([np.pi / 2, np.pi, 1.0, -2.0]))
    np.testing.assert_allclose(read, [1, 0, 0, -1, 0.5, -1], atol=1e-6)
    np.testing.assert_allclose(continuous_simulator(CAR).encode(jnp.array([0.6, 0.0])), [1, 0], atol=1e-6)
    np.testing.assert_allclose(continuous_simulator(CAR, encoding="raw").encode(jnp.array([0.6, 0.0])), [0.6, 0])


def test_episodes_start_at_resets_or_anywhere():
    keys = jax.random.split(jax.random.key(0), 500)
    reset, anywhere = (continuous_simulator(CAR, starts=starts) for starts in ("reset", "uniform"))
    begun = np.asarray(jax.vmap(reset.start)(keys))
    assert (begun[:, 1] == 0).all() and begun[:, 0].min() >= -0.6 and begun[:, 0].max() <= -0.4
    spread = np.asarray(jax.vmap(anywhere.start)(keys))
    assert spread[:, 0].min() < -1.1 and spread[:, 1].max() > 0.06
    assert np.asarray(jax.vmap(anywhere.reset)(keys))[:, 0].max() <= -0.4  # evaluation still begins at resets
    with pytest.raises(LookupError, match="omega1 has no range"):
        continuous_simulator(ARM, starts="uniform")


def test_a_step_is_the_worlds_own():
    simulator, state = continuous_simulator(CAR), jnp.array([-0.5, 0.01])
    after = simulator.step(jax.random.key(0), state, jnp.int32(2))
    np.testing.assert_allclose(after, CAR.dynamics.step(state[None], jnp.array([2]), jnp.zeros((1, 0)))[0])


def test_every_state_has_a_place_and_ends_count_what_lies_beyond():
    simulator = continuous_simulator(ARM)
    assert simulator.places == 8**4 == np.prod(place_shape(ARM.space))
    far = [simulator.place(jnp.array([-np.pi, -np.pi, -50.0, 50.0])), simulator.place(jnp.array([3.14, 3.14, 9, 9]))]
    assert [int(place) for place in far] == [7, 8**4 - 1]


def test_two_simulators_of_one_world_share_their_functions():
    assert jax.tree.structure(continuous_simulator(CAR)) == jax.tree.structure(continuous_simulator(CAR))
