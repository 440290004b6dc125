"""Transitions that a training keeps: true ones, evenly, and at no cost to the training."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest

from tests.agents.pqn.conftest import SIZE, first_updates, make_options
from wmlab.agents.pqn.keeping import room_for
from wmlab.agents.pqn.training import train, train_seeds

OPTIONS = make_options(steps=8_192)
TOTAL = OPTIONS.updates * OPTIONS.envs * OPTIONS.rollout


@pytest.fixture(scope="module")
def keep(chain):
    return partial(train, chain.simulator, chain.goal_set, OPTIONS, 0)


@pytest.fixture(scope="module")
def kept(keep):
    return keep(transitions=1_000)


def test_a_training_that_keeps_transitions_leaves_the_same_bytes_beside_them(keep, kept):
    plain = keep()
    assert plain.transitions == {} and set(kept.transitions) == {"state", "action", "after"}
    for one, other in zip(plain.checkpoints, kept.checkpoints, strict=True):
        assert all(one[name].tobytes() == other[name].tobytes() for name in one)
    for name, curve in plain.curves.items():
        np.testing.assert_array_equal(curve, kept.curves[name])
    np.testing.assert_array_equal(plain.visits, kept.visits)


def test_what_is_kept_happened(chain, kept):
    state, action, after = (kept.transitions[name] for name in ("state", "action", "after"))
    assert len(state) == len(action) == len(after) == 1_000
    assert (chain.world.kernel.to_dense()[state, action, after] > 0).all()
    assert len(np.unique(state)) == SIZE


def test_with_room_for_all_of_them_every_step_is_kept_once(keep):
    everything = keep(transitions=10 * TOTAL)
    assert room_for(OPTIONS, 10 * TOTAL) == TOTAL == len(everything.transitions["state"])
    np.testing.assert_array_equal(np.bincount(everything.transitions["state"], minlength=SIZE), everything.visits)


def test_an_interrupted_training_keeps_the_same_transitions(keep, kept):
    resumed = keep(transitions=1_000, resume=first_updates(9, partial(keep, transitions=1_000))[-1])
    for name, array in kept.transitions.items():
        np.testing.assert_array_equal(array, resumed.transitions[name])


@pytest.mark.slow
def test_seeds_that_train_together_keep_what_each_saw(chain):
    options = dataclasses.replace(OPTIONS, steps=2_048)
    apart = [train(chain.simulator, chain.goal_set, options, seed, transitions=64) for seed in (0, 1)]
    both = train_seeds([chain.simulator] * 2, [chain.goal_set] * 2, options, (0, 1), transitions=64)
    for one, other in zip(apart, both, strict=True):
        first = -(-64 // options.updates)  # of the first update, before rounding can tell them apart
        for name in ("state", "action", "after"):
            np.testing.assert_array_equal(one.transitions[name][:first], other.transitions[name][:first])
    assert not np.array_equal(both[0].transitions["state"], both[1].transitions["state"])
