"""Several models from one agent: each is what it would be alone, and together they part where values contradict."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import FunctionDynamics, function_view
from tests.extraction.continuous.test_fit import same
from tests.extraction.continuous.worlds import integrate, integrator, integrator_values
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.view import Frame
from wmlab.core.randomness import jax_key
from wmlab.core.training import Hooks
from wmlab.extraction.continuous import estimators
from wmlab.extraction.continuous.ensemble import at_stakes, extract_ensemble
from wmlab.extraction.continuous.fit import begin, descend, extract, fresh_model, residuals
from wmlab.extraction.continuous.options import FitOptimiser, FitOptions, Model
from wmlab.registry import extractions

OPTIONS = FitOptions(model=Model(depth=1, width=4), steps=40, batch=4)
CIRCLE = Frame(jnp.array([[-jnp.pi, jnp.pi], [-1.0, 1.0]]), ("wrap", "open"))


def turns(*each: tuple[float, float]) -> Ensemble:
    """Members that each turn, and move, by so much."""
    moves = FunctionDynamics(jnp.array(each), lambda move, states, actions, noise: CIRCLE.wrap(states + move))
    return Ensemble(moves, CIRCLE, 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_two_angles_is_the_direction_midway_on_the_circle(seed):
    random = np.random.default_rng(seed)
    starts = np.stack([random.uniform(-np.pi, np.pi, 200), np.zeros(200)], axis=1).astype(np.float32)
    first, second = random.uniform(-1.2, 1.2, 2)
    found = turns((first, 0.2), (second, 0.4)).predict(starts, jnp.zeros(200, int))
    midway = np.exp(1j * (starts[:, 0] + first)) + np.exp(1j * (starts[:, 0] + second))
    assert np.abs(np.exp(1j * np.asarray(found[:, 0])) - midway / np.abs(midway)).max() < 1e-5
    np.testing.assert_allclose(found[:, 1], 0.3, rtol=1e-6)


def test_one_member_is_no_ensemble_and_every_bit_is_that_of_a_single_fit():
    kind, view = extractions["p_learning"], integrator()
    data = {"model": {"depth": 1, "width": 4}, "steps": 40, "batch": 4}
    alone = extract(view, OPTIONS, 3)
    for more in ({}, {"ensemble": 1}, {"ensemble": {"members": 1}}):
        found = kind.run(view, kind.build(data | more), 3)
        assert same(found, alone) and found.errors.tobytes() == alone.errors.tobytes() and found.notes == alone.notes


def test_a_member_is_the_fit_that_it_would_be_alone_on_its_share_of_the_states():
    view, share = integrator(), dataclasses.replace(OPTIONS, batch=2)
    together = extract_ensemble(view, OPTIONS, 7, members=3, weighted=False)  # 4 states among 3: 2 each
    for member in range(3):
        key = jax.random.key_data(jax_key(7, f"p-learning of member {member}"))
        state = begin(fresh_model(view, OPTIONS, 7, member), share, key)
        alone, _ = descend(estimators.objective, view, state, share, Hooks())
        for name, weight in alone.weights.items():
            np.testing.assert_allclose(together.weights[name][member], weight, rtol=1e-3, atol=1e-5)


def test_an_ensemble_that_was_interrupted_ends_in_the_same_bytes():
    view, kept = integrator(), []
    whole = extract_ensemble(view, OPTIONS, 7, 3, True, save=kept.append, save_every=0.0)
    resumed = extract_ensemble(view, OPTIONS, 7, 3, True, resume=kept[len(kept) // 2])
    assert same(whole, resumed) and whole.curve.tobytes() == resumed.curve.tobytes()
    assert whole.notes["members"] == whole.model.size == 3


def test_stakes_on_goals_leave_the_bellman_equation_of_each_as_it_is():
    view = integrator()
    stakes = jnp.linspace(0.5, 3.0, view.goals)
    state = view.sample(jax.random.key(0), 8)
    after = state[None, :, None] + jnp.array([0.1, -0.2, 0.3])[:, None] * jnp.ones(2)  # [1, N, A, d]
    plain, staked = residuals(view, state, after), residuals(at_stakes(view, stakes), state, after)
    np.testing.assert_allclose(staked, stakes * plain, rtol=1e-4, atol=1e-6)
    one = jnp.tile(jnp.array([[2]]), (8, 1))
    np.testing.assert_allclose(at_stakes(view, stakes).values_at(state, one), stakes[2] * view.values_at(state, one))


def wrong_about_one_goal_on_the_right(params, state):
    """Values of the integrator, one goal of them too high where the position is above 0."""
    return integrator_values(params, state).at[:, 0].add(0.3 * (state[:, :1] > 0))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [True, False])
def test_members_that_weigh_goals_differently_part_where_one_goal_contradicts_the_others(weighted):
    sound = integrator()
    same_as = (sound.params, sound.discount, sound.frame)
    view = function_view(
        *same_as, wrong_about_one_goal_on_the_right, sound.arrive_fn, sound.sample_fn, 3, sound.goals, "uniform"
    )
    model, rate = Model(depth=1, width=32, encoding="normalised"), FitOptimiser(rate=1e-2)
    options = FitOptions(model=model, optimiser=rate, loss="l2", goals="all", steps=600, batch=160)
    ensemble = extract_ensemble(view, options, 0, 5, weighted).model
    states = sound.sample(jax.random.key(9), 600)
    after = ensemble.steps_apart(states, jnp.ones(600, int), jnp.zeros((600, 0)))  # [K, N, d]
    apart = np.asarray((after / sound.frame.span).var(axis=0).sum(axis=-1))
    wrong = np.abs(np.asarray(ensemble.predict(states, jnp.ones(600, int)) - integrate(states, jnp.ones(600, int))))
    right = np.asarray(states[:, 0] > 0)
    assert wrong[right].mean() > 3 * wrong[~right].mean()
    assert (apart[right].mean() > 5 * apart[~right].mean()) == weighted
