"""Seeds that train together share all devices that there are: four give the same numbers as one."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.architecture.imports import ROOT

TRAIN = """
import sys
import jax, numpy as np
from tests.stages.test_train_together import TOGETHER, answer, planned
used, real = [1], jax.shard_map
jax.shard_map = lambda each, *, mesh, **how: used.append(mesh.size) or real(each, mesh=mesh, **how)
plan = planned(sys.argv[1], TOGETHER, "seeds=[0, 1, 2, 3]")
trained = answer(plan.stage(plan.runs[0].stage("train_together")))
np.savez(sys.argv[2], devices=max(used), **trained.arrays)
"""


def trained(world, devices, folder):
    """The arrays of a training on so many devices of the host, and how many of them its program was laid out for."""
    file = folder / f"{world}{devices}.npz"
    flags = f"--xla_cpu_multi_thread_eigen=false --xla_force_host_platform_device_count={devices}"
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    subprocess.run([sys.executable, "-c", TRAIN, world, str(file)], cwd=ROOT, env=environment, check=True)
    with np.load(file) as arrays:
        return dict(arrays)


@pytest.mark.slow
@pytest.mark.parametrize("world", ["finite", "continuous"])
def test_four_devices_give_the_same_numbers_as_one(world, tmp_path):
    one, four = trained(world, 1, tmp_path), trained(world, 4, tmp_path)
    assert (one.pop("devices"), four.pop("devices")) == (1, 4) and one.keys() == four.keys()
    for name, array in one.items():
        np.testing.assert_allclose(four[name], array, rtol=2e-5, atol=2e-6, err_msg=name)
