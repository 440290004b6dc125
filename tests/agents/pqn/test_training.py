from __future__ import annotations

import dataclasses
import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.pqn.conftest import SIZE, first_updates, make_goals, make_options, optimal_values
from wmlab.agents.pqn import evaluate, learner, networks, training
from wmlab.agents.pqn.evaluate import q_values
from wmlab.agents.pqn.learner import batch_loss, gather_samples, shuffle
from wmlab.agents.pqn.networks import NetworkValues
from wmlab.agents.pqn.record import Trained
from wmlab.agents.pqn.training import train
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.simulator import finite_goals
from wmlab.errors import StageError

HEAD = make_options()
INPUT = make_options(network={"goal": "input"}, hindsight={"strategy": "future", "k": 2})


@pytest.fixture(scope="module")
def trained(chain) -> dict:
    """One agent with a head per goal and one that reads its goal."""
    return {options: train(chain.simulator, chain.goal_set, options, 0) for options in (HEAD, INPUT)}


def final_values(chain, trained: Trained, options, goals=None) -> np.ndarray:
    return q_values(trained.checkpoints[-1], chain.simulator, goals or chain.goal_set, options)


def same(one: Trained, other: Trained) -> bool:
    """Whether two trainings left the same bytes."""
    leaves = [jax.tree.leaves(dataclasses.asdict(result)) for result in (one, other)]
    return all(np.array_equal(a, b, equal_nan=True) and a.dtype == b.dtype for a, b in zip(*leaves, strict=True))


@pytest.mark.parametrize("options", [HEAD, INPUT], ids=["head", "input"])
def test_the_learner_solves_a_chain_to_the_optimum(chain, trained, options):
    learnt = final_values(chain, trained[options], options)
    exact = optimal_values(chain.world, chain.goals, 0.9)
    np.testing.assert_allclose(learnt, exact, atol=0.02)
    np.testing.assert_array_equal(learnt.argmax(-1)[:, 1:-1], exact.argmax(-1)[:, 1:-1])


@pytest.mark.slow
def test_returns_over_many_steps_find_the_optimal_policy(chain):
    options = make_options(trace=0.8, epochs=2, explore={"to": 0.1}, optimiser={"kind": "adam", "clip": None})
    learnt = final_values(chain, train(chain.simulator, chain.goal_set, options, 0), options)
    exact = optimal_values(chain.world, chain.goals, 0.9)
    np.testing.assert_array_equal(learnt.argmax(-1)[:, 1:-1], exact.argmax(-1)[:, 1:-1])


@pytest.mark.slow
def test_a_uniform_agent_learns_what_acting_at_random_is_worth_be_it_negative(chain):
    own = make_goals(4)
    perturbed = Goals(own.reward - 0.25, own.continues, own.labels)
    values = np.zeros((1, SIZE))
    for _ in range(500):
        q = chain.world.kernel.expect(perturbed.reward + 0.9 * perturbed.continues * values)
        values = q.mean(-1)
    options = make_options(policy="uniform", network={"output": {"low": -3, "high": 1}})
    goals = finite_goals(perturbed)
    learnt = final_values(chain, train(chain.simulator, goals, options, 0), options, goals)
    np.testing.assert_allclose(learnt, q, atol=0.03)


def test_the_same_seed_leaves_the_same_bytes_and_another_seed_others(chain, trained):
    again, other = (train(chain.simulator, chain.goal_set, HEAD, seed) for seed in (0, 1))
    assert same(trained[HEAD], again)
    assert not same(trained[HEAD], other)


@pytest.mark.parametrize("options", [HEAD, INPUT], ids=["head", "input"])
def test_a_resumed_training_leaves_the_same_bytes_as_an_uninterrupted_one(chain, trained, options):
    begin = partial(train, chain.simulator, chain.goal_set, options, 0)
    saved = first_updates(100, begin)  # a checkpoint lies behind the last of them
    for state in (saved[0], saved[-1]):
        assert same(trained[options], begin(resume=state))


def test_nothing_is_compiled_twice_between_updates_seeds_and_worlds(chain, trained):
    sizes = training.advance._cache_size(), training._returns._cache_size()
    other = Goals(chain.goals.reward / 2, chain.goals.continues, chain.goals.labels)
    begin = partial(train, chain.simulator, finite_goals(other, np.array([0, 4])), HEAD, 1)
    begin(resume=first_updates(3, begin)[-1])
    assert (training.advance._cache_size(), training._returns._cache_size()) == sizes


def endless(chain):
    """Goals that pay more than a number can say."""
    rewards = jax.numpy.asarray(np.full((SIZE, 2), np.inf, np.float32))
    return dataclasses.replace(chain.goal_set, rewards=rewards)


def test_a_diverging_training_stops_and_names_the_update(chain):
    with pytest.raises(StageError, match=r"training of seed 7 diverged in update 1 of 256: .* lower optimiser.rate$"):
        train(chain.simulator, endless(chain), HEAD, 7)


def test_progress_tells_steps_speed_return_loss_and_time_left(chain):
    told: list = []
    train(chain.simulator, chain.goal_set, HEAD, 0, progress=lambda *now: told.append(now), progress_every=0)
    assert [note.partition(",")[0] for _, _, note, _ in told[:3]] == ["256 steps", "512 steps", "768 steps"]
    done, total, note, numbers = told[-1]
    assert done == total == 256
    assert re.fullmatch(r"65 536 steps, [\d ]+/s, return [\d.e-]+, loss [\d.e-]+, 0 s left", note)
    assert numbers.keys() == {"return", "loss"} and all(np.isfinite(value) for value in numbers.values())


def test_a_result_has_a_checkpoint_a_return_and_a_curve_point_for_each_of_its_times(trained):
    result = trained[HEAD]
    assert result.steps.tolist() == [16_384, 32_768, 49_152, 65_536]
    assert len(result.checkpoints) == 4
    assert result.returns.shape == (4, 2)
    assert {name: curve.shape for name, curve in result.curves.items()} == dict.fromkeys(result.curves, (256,))
    assert result.visits.sum() == 65_536
    assert {array.dtype for array in result.checkpoints[0].values()} == {np.dtype(np.float32)}


def test_the_return_at_a_checkpoint_is_that_of_the_greedy_policy(chain, trained):
    optimum = optimal_values(chain.world, chain.goals, 0.9).max(-1)  # [G, S]; starts are uniform
    starts = chain.simulator, chain.goal_set, HEAD, 4096
    measured = jax.jit(evaluate.returns, static_argnums=(4, 5))(
        trained[HEAD].checkpoints[-1], jax.random.key(0), *starts
    )
    np.testing.assert_allclose(measured, optimum.mean(-1), atol=0.02)


def test_a_table_of_all_states_gives_the_loss_and_gradient_of_its_rows(chain):
    table, rows = (
        NetworkValues(chain.simulator, chain.goal_set, HEAD),
        NetworkValues(chain.simulator, chain.goal_set, HEAD),
    )
    assert table.tabular
    rows.tabular = False

    @jax.jit
    def both(key):
        state = learner.start(key, chain.simulator, chain.goal_set, HEAD)
        _, seen = learner.act(key, chain.simulator, table, state)
        batch = gather_samples(key, table, state.params, seen)
        return [
            jax.value_and_grad(partial(batch_loss, way), has_aux=True)(state.params, batch) for way in (table, rows)
        ]

    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), *both(jax.random.key(0)))


def test_one_hot_rows_are_gathered_to_the_same_values_as_multiplied(chain):
    state, goal = np.array([0, 3, 4]), np.array([4, 0, 2])
    rows = [np.eye(SIZE, dtype=np.float32)[index] for index in (state, goal)]

    @jax.jit
    def both(key):
        params = networks.init(key, chain.simulator, chain.goal_set, INPUT.network)
        values = partial(networks.apply, params, chain.simulator, chain.goal_set, INPUT)
        return values(state, goal), values(*rows)

    gathered, multiplied = both(jax.random.key(0))
    np.testing.assert_allclose(gathered, multiplied, rtol=1e-5)


@pytest.mark.parametrize("count", [1, 7, 4096])
def test_a_shuffle_is_a_permutation(count: int):
    order = np.asarray(shuffle(jax.random.key(0), count))
    assert sorted(order) == list(range(count))
    assert count < 10 or abs(np.corrcoef(order, np.arange(count))[0, 1]) < 0.1


@pytest.mark.parametrize(("epsilon", "part"), [(1e-8, 100 / 101), (1e-6, 1 / 2), (1e-4, 1 / 101)])
def test_steps_shrink_with_gradients_that_are_smaller_than_epsilon(epsilon, part):
    options = make_options(optimiser={"kind": "adam", "rate": 0.1, "decay": "constant", "epsilon": epsilon})
    method, weight = learner.gradient_steps(options), jnp.zeros(())
    change, _ = method.update(jnp.asarray(1e-6), method.init(weight), weight)
    assert change == pytest.approx(-0.1 * part, rel=1e-3)  # Adam's first step: rate g / (|g| + ε)
