"""Models of actions from a box, read out of critics whose world is known."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.external import linear
from tests.agents.external.test_critics import SPACE, options_with, view_of
from wmlab.extraction.continuous.ensemble import extract_ensemble
from wmlab.extraction.continuous.fit import extract
from wmlab.extraction.continuous.options import FitOptimiser, FitOptions, Model

AFFINE = FitOptions(
    steps=200, batch=128, goals="all", optimiser=FitOptimiser(rate=3e-3), model=Model("affine", encoding="normalised")
)
STATE = np.random.RandomState(5).uniform(-1, 1, (200, 2))
ACTION = np.random.RandomState(6).uniform(linear.LOW, linear.HIGH, (200, 2))


def error(model) -> float:
    """Squared error of displacements over their variance."""
    moved = np.asarray(model.step(jnp.asarray(STATE), jnp.asarray(ACTION), jnp.zeros((200, 0)))) - STATE
    true = STATE @ linear.A.T + ACTION @ linear.B.T - STATE
    return float((((moved - true) ** 2).mean(axis=0) / true.var(axis=0)).mean())


OTHERS = ({"actions": "policy", "around": 0.3}, {"horizon": 2}, {"goals": "one"})


@pytest.mark.parametrize("changes", [{}, *(pytest.param(each, marks=pytest.mark.slow) for each in OTHERS)])
def test_a_linear_world_is_read_out_of_its_values(changes):
    found = extract(view_of(options_with()), dataclasses.replace(AFFINE, **changes), seed=0)
    assert error(found.model) < (1e-3 if changes else 1e-4)
    assert found.errors.shape[1:] == (len(SPACE.actions), 2)


@pytest.mark.slow
def test_a_model_reads_what_an_action_is_made_of():
    view = view_of(options_with())
    for family in ("residual", "additive"):
        model = Model(family, depth=1, width=16, encoding="normalised")
        found = extract(view, dataclasses.replace(AFFINE, steps=10, model=model), seed=0).model
        assert found.actions == 2
        twice = [
            found.step(jnp.asarray(STATE), jnp.asarray(each), jnp.zeros((200, 0))) for each in (ACTION, ACTION[::-1])
        ]
        assert np.abs(twice[0] - twice[1]).max() > 1e-4


@pytest.mark.slow
def test_an_ensemble_has_members_that_read_actions_too():
    options = dataclasses.replace(AFFINE, steps=100)
    found = extract_ensemble(view_of(options_with()), options, seed=0, members=3, weighted=True)
    assert error(found.model) < 0.05 and found.model.size == 3
