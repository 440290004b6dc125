"""Tabular Q-learning: where it converges to, and by which steps."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.pqn.conftest import first_updates, make_goals, make_world, optimal_values
from tests.explain.specs import GENERIC, RANDOM, resolved
from wmlab.agents.learning import LearnedValues
from wmlab.agents.pqn.rollout import Transitions
from wmlab.agents.q_learning import q_learning
from wmlab.agents.q_learning import updates as updates
from wmlab.agents.q_learning.options import Options, StepSize, check
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.simulator import finite_goals
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.core.programs import exact
from wmlab.errors import StageError
from wmlab.explain.explain import explain
from wmlab.registry import Scope, build

CHAIN, ENDS = make_world(), make_goals(0, 4)
SMALL = {"discount": 0.9, "steps": 40_000, "envs": 8, "explore": 0.5, "checkpoints": 2}


def options_of(**changes: Any) -> Options:
    made: Options = build(Options, SMALL | changes)
    return made


def learn(
    options: Options, world: FiniteWorld = CHAIN, goals: Goals = ENDS, seed: int = 0, **hooks: Any
) -> LearnedValues:
    learnt: LearnedValues = q_learning(options, world, goals, seed, **hooks)
    return learnt


def make_random(states: int = 6, actions: int = 3, goals: int = 4) -> tuple[FiniteWorld, Goals]:
    """A world with any transition in it, and goals that pay everywhere; every other one ends in some states."""
    drawn = np.random.default_rng(0)
    space = FiniteSpace(tuple(f"s{index}" for index in range(states)), tuple(f"a{index}" for index in range(actions)))
    kernel = Kernel.dense(drawn.dirichlet(np.full(states, 0.5), (states, actions)))
    continues = np.ones((goals, states))
    continues[::2, ::3] = 0
    labels = tuple(f"g{index}" for index in range(goals))
    return FiniteWorld(space, kernel, np.full(states, 1 / states), 50), Goals(
        drawn.uniform(size=(goals, states)), continues, labels
    )


def same(one: LearnedValues, other: LearnedValues) -> bool:
    """Whether two trainings left the same bytes."""
    leaves = [jax.tree.leaves(dataclasses.asdict(result)) for result in (one, other)]
    return all(np.array_equal(a, b, equal_nan=True) and a.dtype == b.dtype for a, b in zip(*leaves, strict=True))


@pytest.fixture(scope="module")
def learnt() -> LearnedValues:
    return learn(options_of())


def test_it_finds_the_optimal_values_of_a_chain(learnt):
    np.testing.assert_allclose(learnt.q[-1], optimal_values(CHAIN, ENDS, 0.9), atol=1e-6)


def test_it_finds_the_optimal_values_of_a_random_world_for_every_goal_at_once():
    world, goals = make_random()
    options = options_of(discount=0.8, steps=400_000, envs=128, explore=1.0, step_size={"power": 0.8})
    found, wanted = learn(options, world, goals).q, optimal_values(world, goals, 0.8)
    errors = np.abs(found - wanted).max(axis=(1, 2, 3))
    assert errors[1] < 0.03  # of values up to 5
    assert errors[1] < errors[0]


@pytest.mark.slow
def test_a_uniform_policy_has_the_values_of_acting_at_random_though_the_learner_acts_otherwise():
    values = np.zeros((2, 5))
    for _ in range(500):
        q = CHAIN.kernel.expect(ENDS.reward + 0.9 * ENDS.continues * values)
        values = q.mean(-1)
    learnt = learn(options_of(policy="uniform", step_size={"power": 0.6}))
    np.testing.assert_allclose(learnt.q[-1], q, atol=1e-3)


def test_steps_shrink_with_the_number_of_the_visit():
    sizes = updates.step_size(StepSize(scale=2.0, offset=3.0, power=1.0), np.array([1, 2, 5]))
    np.testing.assert_allclose(sizes, [2 / 4, 2 / 5, 2 / 8])
    np.testing.assert_allclose(updates.step_size(StepSize(power=0.75), np.array([1, 16])), [1, 1 / 8])


@exact()
def test_visits_of_one_pair_at_once_count_as_visits_one_after_the_other():
    options = StepSize(scale=0.9, offset=1.0, power=0.6)
    state, action = jnp.array([2, 0, 2, 2, 1]), jnp.array([1, 0, 1, 0, 1])
    counts = jnp.array([[0, 0], [0, 7], [4, 2]])
    weights = np.asarray(jax.jit(updates.visit_weights, static_argnums=0)(options, counts, state, action))
    alpha = partial(updates.step_size, options)
    by_hand = [alpha(3) * (1 - alpha(4)), alpha(1), alpha(4), alpha(5), alpha(8)]
    np.testing.assert_allclose(weights, by_hand, rtol=1e-12)


@exact()
def test_a_transition_teaches_each_goal_its_own_target_and_an_end_is_worth_no_more_than_its_reward():
    q = jnp.zeros((5, 2, 2)).at[4].set(1.0)  # arriving in s4 would be worth 0.9, if goal s4 did not end there
    there = (jnp.array([value]) for value in (3, 1, 4, 0, 0, 0))
    moved, counts, error = updates.learn(
        q,
        jnp.zeros((5, 2), int),
        Transitions(*there),
        finite_goals(ENDS, dtype=jnp.float64),
        options_of(step_size={"scale": 0.5}),
    )
    np.testing.assert_allclose(error, [[0.9, 1.0]])
    np.testing.assert_allclose(moved[3, 1], [0.45, 0.5])
    assert int(counts[3, 1]) == int(counts.sum()) == 1


def test_the_same_seed_leaves_the_same_bytes_and_another_seed_others(learnt):
    assert same(learnt, learn(options_of()))
    assert not same(learnt, learn(options_of(), seed=1))


def test_a_resumed_training_leaves_the_same_bytes_as_an_uninterrupted_one(learnt):
    begin = partial(learn, options_of())
    saved = first_updates(options_of().updates // 2 + 2, begin)  # a checkpoint lies behind the last of them
    for state in (saved[0], saved[-1]):
        assert same(learnt, begin(resume=state))


def test_nothing_is_compiled_twice_between_updates_seeds_and_worlds(learnt):
    def sizes() -> tuple[int, ...]:
        return tuple(part._cache_size() for part in (updates._start, updates.advance, updates._returns))

    before = sizes()
    learn(options_of(), goals=make_goals(1, 3), seed=5)
    assert sizes() == before


def test_a_result_is_in_float64_and_has_all_its_times(learnt):
    assert learnt.q.shape == (2, 2, 5, 2)
    assert learnt.q.dtype == np.float64
    assert learnt.steps.tolist() == [19_968, 39_936]  # 78 updates of 64 steps in 8 environments
    assert learnt.visits.sum() == 39_936
    assert learnt.returns.shape == (2, 2)
    assert {len(curve) for curve in learnt.curves.values()} == {options_of().updates}


def test_epsilon_falls_as_it_is_told_and_a_number_stays():
    falling = options_of(explore={"from": 0.8, "to": 0.2, "over": 0.5}).exploration
    found = [float(updates.falling(falling, np.int32(update), 8)) for update in (0, 2, 4, 8)]
    np.testing.assert_allclose(found, [0.8, 0.5, 0.2, 0.2], rtol=1e-6)
    assert float(updates.falling(options_of(explore=0.3).exploration, np.int32(0), 8)) == pytest.approx(0.3)


def test_rewards_beyond_all_numbers_stop_it():
    huge = Goals(np.full((2, 5), 1e308), np.ones((2, 5)), ENDS.labels)
    with pytest.raises(StageError, match=r"seed 0 diverged in update \d+ of .*; lower the rewards, or the discount$"):
        learn(options_of(), goals=huge)


def findings(**changes: Any) -> list[tuple[tuple[str | int, ...], str]]:
    return [(found.path, found.message) for found in check(options_of(**changes), Scope())]


def test_options_that_cannot_work_are_found():
    assert findings() == []
    assert findings(steps=15) == [(("steps",), "15 steps of 8 envs are too few for 2 checkpoints")]
    assert findings(step_size={"scale": 2.0}) == [
        (("step_size", "scale"), "the first step, 2, would go past its target")
    ]
    assert findings(step_size={"scale": 2.0, "offset": 3.0}) == []


def test_a_spec_may_ask_for_it_and_the_theory_takes_its_values_as_learnt(tmp_path):
    found = explain(resolved(tmp_path, mdp=RANDOM, goals=GENERIC, agent={"kind": "q_learning"} | SMALL))
    assert "values are exact" in {premise.says for premise in found.statement.unmet}
    assert found.warnings[-1].startswith("learnt values need not be right for a good model")
