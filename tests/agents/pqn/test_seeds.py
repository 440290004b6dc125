from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from tests.agents.pqn.conftest import first_updates, make_options
from tests.agents.pqn.test_training import endless
from wmlab.agents.pqn.training import devices_for, train, train_seeds

SEEDS = [5, 6]
ON_TWO_DEVICES = """
import sys, jax, numpy as np
from functools import partial
from tests.agents.pqn.conftest import first_updates, make_goals, make_options, make_world
from wmlab.agents.pqn.training import devices_for, train_seeds
from wmlab.core.finite.simulator import finite_goals, finite_simulator

assert jax.device_count() == 2 and devices_for(4) == 2 and devices_for(3) == 1
worlds, aims = [finite_simulator(make_world())] * 2, [finite_goals(make_goals(0, 4), np.array([0, 4]))] * 2
saved = first_updates(4, partial(train_seeds, worlds, aims, make_options(), [5, 6]))
np.savez(sys.argv[1], **saved[-1])
"""


def together(chain):
    """A training of two seeds in one program."""
    return partial(train_seeds, [chain.simulator] * 2, [chain.goal_set] * 2, make_options(), SEEDS)


def close(one, other) -> None:
    """The same whole numbers, and floats that rounding alone sets apart."""
    assert one.dtype == other.dtype
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_seeds_that_train_together_learn_what_each_learns_alone(chain):
    both = first_updates(4, together(chain))[-1]
    for index, seed in enumerate(SEEDS):
        alone = first_updates(4, partial(train, chain.simulator, chain.goal_set, make_options(), seed))[-1]
        assert both.keys() == alone.keys()
        for name, array in alone.items():
            close(both[name][index], array[0])


@pytest.mark.slow
def test_two_devices_share_the_seeds(chain, tmp_path):
    flags = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    subprocess.run([sys.executable, "-c", ON_TWO_DEVICES, tmp_path / "shared.npz"], check=True, env=flags)
    shared = np.load(tmp_path / "shared.npz")
    for name, array in first_updates(4, together(chain))[-1].items():
        close(shared[name], array)


def test_a_seed_that_diverges_leaves_the_others_be(chain):
    options, aims = make_options(), [chain.goal_set, endless(chain)]
    fine, broken = train_seeds([chain.simulator] * 2, aims, options, SEEDS)
    assert len(fine.checkpoints) == options.checkpoints
    assert str(broken).startswith("training of seed 6 diverged in update 1 of 256")
    assert str(broken).endswith("; fine: seeds 5")


def test_seeds_that_train_together_resume_to_the_same_bytes(chain):
    begin = together(chain)
    whole, resumed = begin(), begin(resume=first_updates(2, begin)[-1])
    for one, other in zip(whole, resumed, strict=True):
        for name, weights in one.checkpoints[-1].items():
            np.testing.assert_array_equal(other.checkpoints[-1][name], weights)


def test_one_device_takes_all_seeds():
    assert devices_for(10) == 1
