"""Declared gymnax environments as dynamics: gymnax's own step, without its rewards, ends and resets."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.space import ContinuousSpace, settled
from wmlab.mdps.gymnax.declared import Declared


def dynamics(declared: Declared, space: ContinuousSpace) -> Dynamics:
    """What the space's actions do in this environment."""
    return Dynamics(np.array(space.control_values, np.float32), step_function(declared))


@functools.cache  # one function an environment, so that programs are compiled once
def step_function(declared: Declared) -> Callable[[Any, Array, Array, Array], Array]:
    """(controls [A, k], states [N, d], actions [N], no noise) -> next states [N, d], angles wrapped."""
    module = importlib.import_module(declared.module)
    environment = getattr(module, declared.name)()
    params = environment.default_params

    def one(controls: Array, state: Array, action: Array) -> Array:
        packed = declared.pack(module, jnp, state)
        after = environment.step_env(jax.random.key(0), packed, declared.act(jnp, controls[action]), params)[1]
        moved = declared.unpack(jnp, after)
        return jnp.stack([settled(each, moved[i], jnp) for i, each in enumerate(declared.variables)])

    def step(controls: Array, states: Array, actions: Array, noise: Array) -> Array:
        return jax.vmap(one, (None, 0, 0))(jnp.asarray(controls), states, actions)

    return step
