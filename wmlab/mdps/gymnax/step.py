"""Declared gymnax environments as dynamics: gymnax's own step, without its rewards, ends and resets."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Chance, ContinuousWorld, Dynamics
from wmlab.core.continuous.space import ContinuousSpace, settled
from wmlab.core.programs import pytree, static
from wmlab.mdps.gymnax.environments import DeclaredEnvironment


@pytree
class GymnaxDynamics(Dynamics):
    """What actions do in a gymnax environment, angles wrapped. Shapes: A actions, k components of an action."""

    controls: Array | np.ndarray  # float32 [A, k]
    declared: DeclaredEnvironment = static()

    @property
    def chances(self) -> tuple[Chance, ...]:
        return ()

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        declared, (module, environment) = self.declared, _environment(self.declared)
        params = environment.default_params

        def one(controls: Array, state: Array, action: Array) -> Array:
            packed = declared.pack(module, jnp, state)
            after = environment.step_env(jax.random.key(0), packed, declared.act(jnp, controls[action]), params)[1]
            moved = declared.unpack(jnp, after)
            return jnp.stack([settled(each, moved[i], jnp) for i, each in enumerate(declared.variables)])

        return jax.vmap(one, (None, 0, 0))(jnp.asarray(self.controls), states, actions)


@functools.cache
def _environment(declared: DeclaredEnvironment) -> tuple[Any, Any]:
    """gymnax's module and its environment."""
    module = importlib.import_module(declared.module)
    return module, getattr(module, declared.name)()


def world_of(declared: DeclaredEnvironment, space: ContinuousSpace, horizon: int) -> ContinuousWorld:
    """The world in which the space's actions do what they do in this environment."""
    return ContinuousWorld(space, GymnaxDynamics(np.array(space.control_values, np.float32), declared), horizon)
