"""How far members are apart, against NumPy, and whether it says where they are wrong."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import FunctionDynamics, certain
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.continuous.view import Frame
from wmlab.measure.continuous.check import check_continuous_evaluate
from wmlab.measure.continuous.context import ContinuousContext, Fitted
from wmlab.measure.continuous.disagreement import against_truth, disagreement, doubt_by_state
from wmlab.measure.continuous.members import members_apart
from wmlab.measure.continuous.moves import sample_errors
from wmlab.registry import ExtractionChoice, Scope
from wmlab.sections.experiment import Disagreement, Evaluate

RING = ContinuousSpace(
    (Variable("angle", -np.pi, np.pi, "wrap"), Variable("x", -1, 1)), ("go",), ("u",), ((0.0,),), ((-1, 1), (-1, 1))
)
PUSH = np.array([-0.02, 0.0, 0.05], np.float32)  # of members
SLOPE = np.array([0.1, 0.05], np.float32)
TRUTH = certain(lambda states, actions: Frame.of(RING).wrap(states + SLOPE * states[:, 1:]))


def pushed(push, states, actions, noise):
    """The truth, and a push that is the greater the further x is from 0."""
    return Frame.of(RING).wrap(states + SLOPE * states[:, 1:] + (0.1 + push) * jnp.abs(states[:, 1:]))


ENSEMBLE = Ensemble(FunctionDynamics(jnp.asarray(PUSH)[:, None], pushed), Frame.of(RING), 1)


@pytest.fixture(scope="module")
def states():
    return RING.sample(np.random.default_rng(0), 500, "uniform").astype(np.float32)


def test_disagreement_is_the_variance_among_members_over_that_of_their_mean_moves(states):
    apart = members_apart(RING, ENSEMBLE, states)
    size = np.abs(states[:, 1])
    np.testing.assert_allclose(apart.variance[0, :, 1], PUSH.var(ddof=1) * size**2, rtol=1e-3, atol=1e-9)
    moves = (0.1 + PUSH.mean()) * size[:, None] + SLOPE * states[:, 1:]
    expected = (PUSH.var(ddof=1) * size[:, None] ** 2 / moves.var(axis=0)).mean(axis=1)
    np.testing.assert_allclose(doubt_by_state(apart), expected, rtol=1e-3)


def test_members_that_part_where_they_err_are_in_order_though_their_deviations_are_too_small(states):
    apart = members_apart(RING, ENSEMBLE, states)
    found = against_truth(apart, sample_errors(RING, TRUTH, ENSEMBLE, states, jax.random.key(0)))
    assert found["wm.disagreement_rank"]["value"] == pytest.approx(1, abs=1e-3)
    assert found["wm.disagreement_covers"]["value"] == 0  # off by 0.11 |x|, with a deviation of 0.036 |x|
    right = against_truth(apart, sample_errors(RING, ENSEMBLE, ENSEMBLE, states, jax.random.key(0)))
    assert right["wm.disagreement_rank"]["value"] is None and right["wm.disagreement_covers"]["value"] == 1


def test_without_a_world_it_is_told_how_far_members_are_apart_and_no_more(states):
    class Agent:
        space = RING

    model = Fitted(ENSEMBLE, states, np.zeros((len(states), 1, 1)))
    found = disagreement(ContinuousContext(Agent(), model, None, Evaluate(disagreement=Disagreement(samples=200))))
    assert set(found) == {"wm.disagreement"} and 0 < found["wm.disagreement"]["value"] < 1
    assert set(found["wm.disagreement"]["by"]["dimension"]) == {"angle", "x"}


@pytest.mark.parametrize(
    ("extract", "words"),
    [
        (None, "there is no `extract`"),
        ({"kind": "p_learning"}, "nobody to disagree with"),
        ({"kind": "matching"}, "nobody to disagree with"),
        ({"kind": "p_learning", "ensemble": {"members": 2}}, None),
    ],
)
def test_disagreement_needs_members(extract, words):
    scope = Scope(RING, extract=extract and ExtractionChoice(extract), extracts=extract is not None)
    findings = list(check_continuous_evaluate(Evaluate(disagreement=Disagreement(states="uniform")), scope))
    assert [words in finding.message for finding in findings] == ([True] if words else [])
