"""Worlds drawn at random."""

from __future__ import annotations

import numpy as np

from wmlab.registry import Scope, mdps

KIND = mdps["random"]


def make(run=0, **data):
    return KIND.run(KIND.build({"states": 12, "actions": 3, **data}), run)


def findings(**data):
    options = KIND.build({"states": 12, "actions": 3, **data})
    return [(finding.path, finding.message) for finding in KIND.check(options, Scope())]


def test_each_run_has_its_own_world_unless_the_world_has_a_seed():
    assert (make(0).kernel.to_dense() == make(0).kernel.to_dense()).all()
    assert (make(0).kernel.to_dense() != make(1).kernel.to_dense()).any()
    assert (make(0, seed=5).kernel.to_dense() == make(1, seed=5).kernel.to_dense()).all()
    assert KIND.traits.draws(KIND.build({"states": 2, "actions": 1}))
    assert not KIND.traits.draws(KIND.build({"states": 2, "actions": 1, "seed": 0}))


def test_branching_counts_successors_and_one_is_deterministic():
    garnet = make(branching=4).kernel.to_dense()
    assert ((garnet > 0).sum(axis=-1) == 4).all()
    assert (make(branching=1).kernel.probabilities == 1).all()


def test_local_successors_are_near_on_the_ring():
    table = make(local=3).kernel.to_dense()
    state, _, successor = np.nonzero(table)
    assert set(((successor - state) % 12).tolist()) == {11, 0, 1}
    assert ((make(local=5, branching=2).kernel.to_dense() > 0).sum(axis=-1) == 2).all()


def test_a_small_concentration_makes_a_nearly_deterministic_world():
    assert make(concentration=0.01).kernel.to_dense().max(axis=-1).mean() > 0.8
    assert make(concentration=100.0).kernel.to_dense().max() < 0.2


def test_more_successors_than_there_are_states_are_refused():
    assert findings(branching=13) == [(("branching",), "13 successors, of 12 that are possible")]
    assert findings(local=4, branching=5) == [(("branching",), "5 successors, of 4 that are possible")]
    assert findings(local=13) == [(("local",), "13 states around each, of 12")]
