"""Tells what the process of a stage looks like."""

from __future__ import annotations

import os
from collections import Counter

from wmlab.runtime.result import Result


def run(params, inputs, context):
    import jax
    import jax.numpy as jnp

    values = jax.jit(lambda x: jnp.tanh(x @ x.T).sum(axis=0))(jnp.linspace(-1, 1, 64 * 32).reshape(64, 32))
    names = Counter(_name(thread) for thread in os.listdir("/proc/self/task"))
    data = {
        "xla": names["tf_XLAEigen"],
        "blas": os.environ["OPENBLAS_NUM_THREADS"],
        "x64": jax.config.jax_enable_x64,
        "cache": jax.config.jax_compilation_cache_dir,
    }
    return Result({"values": values}, {} if params.get("bytes only") else data)


def _name(thread):
    with open(f"/proc/self/task/{thread}/comm") as file:
        return file.read().strip()
