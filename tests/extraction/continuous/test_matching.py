"""A search for next states finds what gradients cannot."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import function_view
from tests.extraction.continuous.worlds import delta_nmse, integrate, integrator
from wmlab.core.continuous.controls import cloud
from wmlab.core.continuous.view import ContinuousView, Frame
from wmlab.extraction.continuous.fit import extract, held_out
from wmlab.extraction.continuous.options import FitOptions, Model
from wmlab.registry import Scope, extractions

JUMP = 1.0
FAR = Frame(jnp.array([[-1.0, 1.0]]), ("clip",))


def bumps(params, state):
    """Goals that pay only close to themselves, all of them on the far side."""
    return jnp.exp(-0.5 * ((state - params["goals"]) / 0.03) ** 2), jnp.ones((state.shape[0], params["goals"].shape[0]))


def jump(state, action):
    return state + JUMP + 0.05 * (action - 1)[..., None]


def jump_values(params, state):
    reward = [bumps(params, jump(state, jnp.full(state.shape[0], action)))[0] for action in range(3)]
    return jnp.stack(reward, axis=-1)


def near_side(params, key, count):
    return FAR.uniform(key, count) * 0.2 - 0.6


def across() -> ContinuousView:
    """Every step jumps over a stretch on which nothing pays: no gradient leads across."""
    params = {"goals": jnp.linspace(0.05, 0.75, 24)}
    return function_view(params, jnp.float32(0.0), FAR, jump_values, bumps, near_side, 3, 24)


@pytest.mark.slow
def test_matching_crosses_a_flat_stretch_that_gradients_cannot():
    view = across()
    states = held_out(view, 1)
    gradient = extract(view, FitOptions(model=Model(depth=1, width=16), goals="all", steps=300, batch=64), 0)
    kind = extractions["matching"]
    options = kind.build({"search": {"radius": 0.6, "candidates": 256}, "grid": 41})
    matched = kind.run(view, options, 0)
    assert delta_nmse(gradient.model.predict, jump, states) > 0.9
    assert delta_nmse(matched.model.predict, jump, states) < 1e-3


@pytest.mark.slow
def test_a_network_fitted_to_matched_states_is_polished_and_resumes_to_the_same_bytes():
    view, kept = across(), []
    kind = extractions["matching"]
    options = kind.build(
        {
            "search": {"radius": 0.6, "candidates": 64, "rounds": 2, "beam": 1},
            "store": "network",
            "model": {"depth": 1, "width": 16, "encoding": "normalised"},
            "optimiser": {"rate": 1e-2},
            "goals": "all",
            "samples": 512,
            "batch": 64,
            "steps": 300,
            "polish": 100,
            "polish_rate": 3e-4,
        }
    )
    rough = kind.run(view, dataclasses.replace(options, polish=0), 0)
    whole = kind.run(view, options, 0, save=kept.append, save_every=0.0)
    assert delta_nmse(whole.model.predict, jump, held_out(view, 1)) < 1e-3
    assert whole.notes["residual"] < 0.5 * rough.notes["residual"]
    for partial in (kept[3], kept[-1]):
        resumed = kind.run(view, options, 0, resume=partial)
        assert all(whole.weights[name].tobytes() == resumed.weights[name].tobytes() for name in whole.weights)


@pytest.mark.slow
@pytest.mark.parametrize(("between", "error"), [("linear", 1e-3), ("nearest", 0.05)])
def test_a_grid_of_matched_states_is_a_model_of_the_double_integrator(between, error):
    view = integrator()
    kind = extractions["matching"]
    options = kind.build({"grid": 9, "between": between, "search": {"radius": 0.25, "norm": "l2"}})
    found = kind.run(view, options, 0)
    assert found.weights["change"].shape == (81, 3, 2)
    inside = held_out(view, 1) * 0.8
    # nothing beyond the ranges is a candidate: the grid's own points are held to what stays inside
    stays = np.abs(np.asarray(integrate(inside[:, None], jnp.arange(3)[None]))).max(axis=1) < [1.3, 0.7]
    assert delta_nmse(found.model.predict, integrate, inside[stays.all(axis=1)]).max() < 10 * error


def test_a_cloud_of_candidates_is_even_and_starts_at_its_centre():
    points = cloud(1024, 2)
    counts = np.histogram2d(*points.T, bins=8, range=[[-1, 1], [-1, 1]])[0]
    assert (points[0] == 0).all() and np.abs(points).max() <= 1
    assert counts.min() >= 12 and counts.max() <= 20


def test_a_beam_wider_than_the_candidates_is_a_finding():
    kind = extractions["matching"]
    (finding,) = kind.check(kind.build({"search": {"candidates": 4, "beam": 3}}), Scope())
    assert finding.path == ("search", "beam")
    (finding,) = kind.check(kind.build({"store": "network", "model": {"family": "gaussian"}}), Scope())
    assert finding.path == ("model", "family")
