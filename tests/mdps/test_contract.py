"""What every finite world must be, whatever its kind."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.mdps.fourrooms import MAP
from wmlab.registry import Scope, mdps

EXAMPLES = {
    "gridworld": {"map": MAP, "slip": {"straight": 0.5, "left": 0.5}, "actions": ["up", "left", "stay"]},
    "tabular": {"states": 2, "actions": 1, "transitions": {"s0": {"a0": "s1"}, "s1": {"a0": {"s0": 0.1, "s1": 0.9}}}},
    "random": {"states": 9, "actions": 2, "branching": 3},
    "dynamics": {
        "state": {"n": {"integers": [0, 4], "edge": "clip"}, "m": {"integers": [1, 3], "edge": "wrap"}},
        "actions": {"step": [-1, 1]},
        "noise": {"wind": {"kind": "categorical", "values": [0, 1], "probabilities": [0.3, 0.7]}},
        "next": {"n": "n + step * wind", "m": "m + next(n)"},
    },
    "gymnax": {
        "env": "Breakout-MinAtar",
        "state": {"pos": {"integers": [0, 9]}},
        "actions": {"move": [0, 1, 2]},
    },
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_world_is_a_distribution_over_states_for_every_state_and_action(name):
    kind = mdps[name]
    options = kind.build(EXAMPLES[name])
    assert list(kind.check(options, Scope())) == []
    world, space = kind.run(options, 3), kind.traits.space(options)
    assert world.space.names == space.names and world.space.actions == space.actions
    kernel = world.kernel
    assert kernel.successors.shape[:2] == (space.size, len(space.actions))
    assert kernel.successors.dtype == np.int32 and kernel.probabilities.dtype == np.float64
    assert ((kernel.successors >= 0) & (kernel.successors < space.size)).all()
    assert (kernel.probabilities >= 0).all()
    np.testing.assert_allclose(kernel.probabilities.sum(axis=-1), 1, atol=1e-12)
    assert abs(world.reset.sum() - 1) < 1e-12 and (world.reset >= 0).all()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_world_has_as_many_successors_as_its_options_say(name):
    kind = mdps[name]
    options = kind.build(EXAMPLES[name])
    world = kind.run(options, 3)
    most = kind.traits.max_successors(options, world.space)
    assert (world.kernel.probabilities > 0).sum(axis=-1).max() == most


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_seed_makes_the_same_world_to_the_bit(name):
    kind = mdps[name]
    first, second = (kind.run(kind.build(EXAMPLES[name]), 7).kernel for _ in range(2))
    assert (first.successors == second.successors).all() and (first.probabilities == second.probabilities).all()


def test_every_finite_world_has_an_example_here():
    finite = {name for name in mdps.own if mdps[name].traits.sort != "continuous" and mdps[name].traits.knows_truth}
    assert finite == set(EXAMPLES)


def test_the_kinds_of_worlds_rewards_and_exact_agents_are_read_without_jax():
    code = """
import sys
from wmlab.registry import agents, mdps, rewards
kinds = [mdps[name] for name in ("dynamics", "gridworld", "gymnax", "random", "tabular")] + [agents["exact"]]
kinds += [rewards[name] for name in ("gaussian", "generic", "indicator", "table")]
space = mdps["gridworld"].traits.space(mdps["gridworld"].build({"map": "..."}))
assert space.size == 3 and len(kinds) == 10
sys.exit("jax" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
