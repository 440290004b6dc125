"""gymnax environments as dynamics: gymnax's own step, without its rewards, ends and resets."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Chance, Dynamics
from wmlab.core.continuous.space import settled
from wmlab.core.programs import pytree, static
from wmlab.mdps.gymnax.environments import DeclaredEnvironment
from wmlab.mdps.gymnax.library import module_of_gymnax
from wmlab.mdps.gymnax.written import WrittenEnvironment


@pytree
class GymnaxDynamics(Dynamics):
    """What actions do in a gymnax environment, angles wrapped. Shapes: A actions, k components of an action."""

    controls: Array | np.ndarray  # float32 [A, k]
    declared: DeclaredEnvironment | WrittenEnvironment = static()

    @property
    def chances(self) -> tuple[Chance, ...]:
        return ()

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        declared = self.declared

        def one(controls: Array, state: Array, action: Array) -> Array:
            if isinstance(declared, WrittenEnvironment):
                moved = step_of_written(declared, state, controls[action])
            else:
                moved = step_of_declared(declared, state, controls[action])
            return jnp.stack([settled(each, moved[i], jnp) for i, each in enumerate(declared.variables)])

        return jax.vmap(one, (None, 0, 0))(jnp.asarray(self.controls), states, actions)


def step_of_declared(declared: DeclaredEnvironment, state: Array, controls: Array) -> Array:
    """Variables [d] after one step from variables [d] under controls [k], in an environment that wmlab knows."""
    module = module_of_gymnax(declared.module)
    environment = environment_of(declared)
    packed = declared.pack(module, jnp, state)
    params = environment.default_params
    after = environment.step_env(jax.random.key(0), packed, declared.act(jnp, controls), params)[1]
    return declared.unpack(jnp, after)


def step_of_written(declared: WrittenEnvironment, state: Array, controls: Array) -> Array:
    """The same in an environment whose state a spec declares; what it leaves out is as at a reset."""
    environment, key = environment_of(declared), jax.random.key(0)
    params = environment.default_params
    packed = declared.pack(jnp, environment.reset_env(key, params)[1], state)
    return declared.unpack(jnp, environment.step_env(key, packed, action_of(declared, controls), params)[1])


def action_of(declared: WrittenEnvironment, controls: Array) -> Any:
    """gymnax's action: the number of one of several, or a vector of as many numbers as it takes."""
    if declared.act is not None:
        return declared.act(jnp, controls)
    environment = environment_of(declared)
    space = environment.action_space(environment.default_params)
    return controls[0].astype(jnp.int32) if hasattr(space, "n") else controls.reshape(space.shape)


@functools.cache
def environment_of(declared: DeclaredEnvironment | WrittenEnvironment) -> Any:
    """gymnax's environment."""
    if isinstance(declared, DeclaredEnvironment):
        return getattr(module_of_gymnax(declared.module), declared.name)()
    return module_of_gymnax("gymnax").make(declared.env)[0]
