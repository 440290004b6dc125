"""Errors of models and values in finite worlds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.making import make_goals
from tests.mdps.fourrooms import fourrooms
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.measure.finite.context import FiniteContext, FinitePair, differences
from wmlab.measure.finite.errors import agent_return, comparison, fit, model_error, value_error
from wmlab.registry import agents
from wmlab.sections.experiment import Evaluate, Return
from wmlab.sections.spec import Compare

TWO = FiniteSpace.named(2, 2)


def agent(variant="windy", at=(0, 30), terminate="on_arrival", **options):
    world = fourrooms(variant)
    goals = make_goals({"kind": "indicator"}, world.space, at, terminate, 0)
    kind = agents["exact"]
    return world, kind.run(kind.build({"discount": 0.99, **options}), world, goals, 0)


def error_of(kernel, model, space):
    """The error of a model alone: there is no agent to look at."""
    return model_error(FiniteContext(None, model, FiniteWorld(space, kernel, None)))


def returns_of(view, world, starts="all", labels=None):
    return agent_return(FiniteContext(view, None, world, Evaluate(return_=Return(starts)), labels))["agent.return"]


def test_the_error_of_a_model_by_hand():
    world = Kernel.dense(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.0, 1.0]]]))
    model = Kernel.dense(np.array([[[0.0, 1.0], [0.25, 0.75]], [[0.0, 1.0], [0.0, 1.0]]]))
    found = error_of(world, model, TWO)
    assert found["wm.mse"]["value"] == (2 + 2 / 16) / 8
    assert found["wm.mse"]["by"]["action"] == {"a0": 0.5, "a1": 0.03125}
    assert found["wm.tv"]["value"] == (1 + 0.25) / 4 and found["wm.tv"]["by"]["max"] == 1
    assert found["wm.l1_max"] == {"value": 2.0, "by": {"at": "s0 a0"}}
    for distance in ("mse", "tv"):
        assert comparison(FinitePair(model, world, TWO, Compare("other.yaml", distance))) == {
            distance: found[f"wm.{distance}"]
        }


def test_a_perfect_model_has_no_error():
    world = fourrooms("teleporting")
    found = error_of(world.kernel, Kernel.dense(world.kernel.to_dense()), world.space)
    assert [metric["value"] for metric in found.values()] == [0, 0, 0]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([3, 40]))
def test_differences_of_lists_and_of_tables_are_the_same(seed, size):
    draw = np.random.default_rng(seed)
    tables = np.where(draw.random((2, size, 2, size)) < 2 / size, draw.normal(size=(2, size, 2, size)), 0)
    squared, absolute = differences(Kernel.dense(tables[0]), Kernel.dense(tables[1]))
    np.testing.assert_allclose(squared, ((tables[0] - tables[1]) ** 2).sum(axis=-1), atol=1e-12)
    np.testing.assert_allclose(absolute, np.abs(tables[0] - tables[1]).sum(axis=-1), atol=1e-12)


def test_large_local_kernels_are_compared_without_a_square_array():
    size = 200_000
    there, here = (np.stack([(np.arange(size) + step) % size] * 2, axis=1) for step in (1, 0))
    found = error_of(Kernel.deterministic(there), Kernel.deterministic(here), FiniteSpace.named(size, 2))
    assert found["wm.l1_max"]["value"] == 2 and found["wm.mse"]["value"] == pytest.approx(2 / size)


def test_an_exact_agent_makes_no_error_of_value():
    world, view = agent()
    found = value_error(FiniteContext(view, None, world, labels=["first", "second"]))
    assert found["q.max_error"]["value"] < 1e-12
    assert found["q.l1_max"]["value"] < 1e-12
    assert found["q.nmse"]["value"] < 1e-24 and set(found["q.nmse"]["by"]["goal"]) == {"first", "second"}


def test_q_errors_are_measured_against_the_best_and_against_the_agents_own_policy():
    world, view = agent(policy="uniform")
    found = value_error(FiniteContext(view, world=world))
    assert found["q.max_error"]["value"] > 0.1  # far from the best policy's
    assert found["q.l1_max"]["value"] < 1e-12  # exactly its own
    moved = value_error(FiniteContext(dataclasses.replace(view, q=view.q + 0.25), world=world))
    assert moved["q.l1_max"]["value"] == pytest.approx(0.5)  # two goals
    assert moved["q.nmse"]["value"] == pytest.approx(0.0625 / view.q.var())


def test_values_that_never_vary_have_no_normalised_error():
    world, view = agent(discount=0.0, at=(0,))
    still = dataclasses.replace(view, reward=np.zeros_like(view.reward), q=np.zeros_like(view.q))
    assert value_error(FiniteContext(still, world=world))["q.nmse"]["value"] == 0
    wrong = dataclasses.replace(still, q=still.q + 1)
    assert value_error(FiniteContext(wrong, world=world))["q.nmse"]["value"] is None


def test_the_true_world_fits_the_values_and_another_does_not():
    world, view = agent()
    assert fit(FiniteContext(view, world.kernel))["fit.residual_max"]["value"] < 1e-12
    other = fit(FiniteContext(view, fourrooms("deterministic").kernel))
    most, square, mean = (other[f"fit.{name}"]["value"] for name in ("residual_max", "residual_rms", "residual"))
    assert most > square > mean > 1e-4
    still = np.abs(view.backup[:, :, None] - view.q).mean()  # of a world in which nothing moves
    assert other["fit.explained"]["value"] == pytest.approx(1 - mean / still)
    assert fit(FiniteContext(view, world.kernel))["fit.explained"]["value"] == pytest.approx(1)
    unmoved = Kernel.deterministic(np.tile(np.arange(world.kernel.size)[:, None], (1, view.q.shape[2])))
    assert fit(FiniteContext(view, unmoved))["fit.explained"]["value"] == pytest.approx(0)


def test_the_return_is_the_mean_over_goals_and_starts():
    world, view = agent("deterministic", at=(0, 67))
    found = returns_of(view, world, labels=["top", "bottom"])
    values = [np.delete(view.value[0], 0).mean(), np.delete(view.value[1], 67).mean()]
    assert found["value"] == pytest.approx(np.mean(values), abs=1e-12)
    assert found["by"]["goal"] == pytest.approx({"top": values[0], "bottom": values[1]})
    cornered = dataclasses.replace(world, reset=np.eye(68)[1])
    assert returns_of(view, cornered, "reset")["value"] == pytest.approx((1 + 0.99**14) / 2)
