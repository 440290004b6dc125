"""Worlds of gymnax environments: continuous, or tables where the declared state is of whole numbers.

Shapes: S states, A actions, d state variables.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.errors import StageError
from wmlab.mdps.dynamics.finite import reset_distribution
from wmlab.mdps.dynamics.options import Options as Dynamics
from wmlab.mdps.dynamics.space import actions_of, ends_of
from wmlab.mdps.gymnax.environments import DeclaredEnvironment
from wmlab.mdps.gymnax.step import GymnaxDynamics, environment_of
from wmlab.mdps.gymnax.trial import try_out
from wmlab.mdps.gymnax.written import WrittenEnvironment


def continuous_world(
    declared: DeclaredEnvironment | WrittenEnvironment, space: ContinuousSpace, horizon: int | None
) -> ContinuousWorld:
    """The world in which the space's actions do what they do in this environment."""
    if isinstance(declared, WrittenEnvironment):
        try_out(declared, space.control_values)
    controls = np.array(space.control_values, np.float32)
    return ContinuousWorld(space, GymnaxDynamics(controls, declared), horizon or own_horizon(declared))


def finite_world(
    declared: WrittenEnvironment, written: Dynamics, space: FiniteSpace, horizon: int | None
) -> FiniteWorld:
    """The table of all steps, where every declared variable is of whole numbers."""
    controls = actions_of(written)[1]
    try_out(declared, controls)
    assert space.coordinates is not None
    states = np.repeat(space.coordinates.values[:, : space.coordinates.own], len(controls), axis=0)  # [S A, d]
    actions = np.tile(np.arange(len(controls)), space.size)
    step = jax.jit(GymnaxDynamics(np.array(controls, np.float32), declared).step)
    after = np.rint(step(jnp.asarray(states, jnp.float32), jnp.asarray(actions), jnp.zeros((len(states), 0))))
    position = np.zeros(len(states))
    for column, (name, (low, high)) in enumerate(zip(written.state, ends_of(written), strict=True)):
        outside = np.flatnonzero((after[:, column] < low) | (after[:, column] > high))
        if len(outside):
            start = space.names[outside[0] // len(controls)]
            message = f"gymnax takes {name} to {after[outside[0], column]:g} from {start}, outside {low} to {high}"
            raise StageError(f"mdp: {message}; widen state.{name}.integers, or say an edge")
        position = position * (high - low + 1) + after[:, column] - low
    kernel = Kernel.deterministic(position.reshape(space.size, len(controls)))
    return FiniteWorld(space, kernel, reset_distribution(written), horizon or own_horizon(declared))


def own_horizon(declared: DeclaredEnvironment | WrittenEnvironment) -> int:
    """Steps after which gymnax cuts an episode."""
    return int(environment_of(declared).default_params.max_steps_in_episode)
