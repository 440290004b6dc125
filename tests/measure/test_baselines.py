"""What is had without the extracted model: from transitions, and from values alone."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from tests.environments import world
from tests.extraction.continuous.worlds import GUST, delta_nmse, integrate, integrator, windy, windy_mean
from tests.making import continuous_goals, unseen_task
from tests.measure.test_finite import agent
from wmlab.core.continuous.grid import grid_of, grid_view
from wmlab.extraction.continuous.options import FitOptimiser, FitOptions, Model
from wmlab.measure.baselines import BaselineContext, Combined, nearest, returns
from wmlab.measure.check_baselines import check_baselines
from wmlab.measure.continuous import combination
from wmlab.measure.continuous.regression import regress
from wmlab.measure.continuous.value_error import exact_values
from wmlab.measure.finite.combination import combined
from wmlab.planning.finite.values import Tasks, evaluate_plan, plan
from wmlab.planning.finite.values import returns as mean_return
from wmlab.registry import AgentChoice, Scope, WorldChoice
from wmlab.sections.experiment import Baselines, Combination, Evaluate, ModelError, Regression

# --- a linear combination of trained values -----------------------------------------------------------------------


def test_the_nearest_combination_is_that_of_least_squares():
    trained, wanted = np.random.default_rng(0).random((3, 40)), np.random.default_rng(1).random(40)
    weights, misfit = nearest(trained, wanted)
    found = lsq_linear(trained.T, wanted)
    np.testing.assert_allclose(weights, found.x, atol=1e-10)
    assert misfit == pytest.approx(2 * found.cost / (wanted**2).sum())
    assert nearest(trained, 2 * trained[1])[1] == pytest.approx(0, abs=1e-20)


def attained(view, kernel, state):
    task = Tasks.of(68, [[state]], [[]], 0.99)
    best = plan(kernel, task)
    return combined(view, kernel, task, None), float(mean_return(evaluate_plan(kernel, best.policy, task), task)[0])


def test_a_goal_that_was_trained_is_attained_and_one_outside_the_span_is_left_to_chance():
    world_, view = agent("windy", at=(0, 30))
    seen, best = attained(view, world_.kernel, 30)
    assert seen.misfit == pytest.approx(0, abs=1e-12) and seen.attained == pytest.approx(best)
    np.testing.assert_allclose(seen.weights, [0, 1], atol=1e-12)
    unseen, best = attained(view, world_.kernel, 67)
    anything = np.full((1, 68, 4), 0.25)
    task = Tasks.of(68, [[67]], [[]], 0.99)
    at_random = float(mean_return(evaluate_plan(world_.kernel, anything, task), task)[0])
    assert unseen.misfit == 1 and unseen.attained == pytest.approx(at_random) and at_random < 0.5 * best


def test_in_a_continuous_world_likewise():
    car = world("MountainCar-v0")
    goals = continuous_goals(
        {"reward": {"kind": "indicator", "radius": 0.1}, "at": {"position": [-1.0, 0.5]}}, car.space
    )
    grid = grid_of(car.space, 40)
    q = np.stack([np.asarray(exact_values(grid, car.dynamics, goals, goal, None, 0.99, 3)) for goal in range(2)])
    view = grid_view(q, grid, car.space, goals, 0.99, "greedy")
    starts = car.space.sample(np.random.default_rng(0), 32, "reset")
    tried = [
        combination.combined(view, car, unseen_task(goal, car.space), 0.99, starts)
        for goal in ({"reach": {"position": 0.5}, "within": 0.1}, {"reach": {"velocity": 0.06}, "within": 0.01})
    ]
    np.testing.assert_allclose(tried[0].weights, [0, 1], atol=1e-6)
    assert tried[0].misfit < 1e-9 and tried[0].attained > 0.25
    assert tried[1].misfit > 0.5


def test_what_was_not_asked_for_is_not_told():
    assert returns(BaselineContext()) == {}
    assert set(returns(BaselineContext(0.5))) == {"r_regression"}
    assert set(returns(BaselineContext(combined=Combined(np.ones(1), 0.1, 0.2)))) == {
        "r_combined",
        "combination_misfit",
    }


# --- a model of transitions ---------------------------------------------------------------------------------------


def transitions(view, step, count=3000):
    state = view.sample(jax.random.key(5), count)
    action = jnp.arange(count) % 3
    return {"state": np.asarray(state), "action": np.asarray(action), "after": np.asarray(step(state, action))}


def test_a_model_of_transitions_finds_what_they_were_made_by():
    view = integrator()
    options = FitOptions(model=Model(family="affine"), optimiser=FitOptimiser(rate=1e-2), steps=600, batch=256)
    found = regress(view, transitions(view, integrate), options, 0)
    assert delta_nmse(found.model.predict, integrate, view.sample(jax.random.key(1), 100)).max() < 1e-3
    assert found.notes["transitions"] == 3000 and found.curve[-1] < 1e-3 < found.curve[0]


@pytest.mark.slow
def test_a_normal_model_of_transitions_finds_their_spread():
    view = windy()
    gust = jax.random.normal(jax.random.key(2), (3000, 2)) * GUST
    model = Model(family="gaussian", depth=1, width=16, init_sd=0.05)
    options = FitOptions("reparameterised", model=model, optimiser=FitOptimiser(rate=1e-2), steps=400, batch=512)
    found = regress(view, transitions(view, lambda *pair: windy_mean(*pair) + gust), options, 0).model
    _, sd = found.moments(view.sample(jax.random.key(3), 200), jnp.zeros(200, int))
    np.testing.assert_allclose(np.asarray(sd).mean(axis=0), GUST, rtol=0.1)


# --- what cannot be asked -----------------------------------------------------------------------------------------

CAR = {"kind": "gymnax", "env": "MountainCar-v0"}
EXACT, PQN = AgentChoice({"kind": "exact", "discount": 0.9}), AgentChoice({"kind": "pqn"})
MEASURED = Evaluate(model_error=ModelError())


@pytest.mark.parametrize(
    ("asked", "agent_", "evaluate", "words"),
    [
        (Baselines(regression=Regression()), EXACT, MEASURED, "agent.kind exact has none to keep"),
        (Baselines(regression=Regression()), PQN, Evaluate(), "is measured where the model's error is"),
        (Baselines(combination=Combination()), PQN, MEASURED, "for unseen goals, and there are none"),
        (Baselines(regression=Regression()), PQN, MEASURED, None),
    ],
)
def test_baselines_that_there_is_nothing_to_make_of_are_refused(asked, agent_, evaluate, words):
    mdp = WorldChoice(CAR)
    scope = Scope(mdp.space, mdp=mdp, agent=agent_, extracts=True)
    findings = [finding.message for finding in check_baselines(asked, evaluate, scope)]
    assert [words in message for message in findings] == ([True] if words else [])
