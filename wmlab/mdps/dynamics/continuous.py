"""A continuous world written in a spec, compiled to arrays.

Shapes: N states, d variables, A actions, k components of an action, m numbers of noise.
"""

from __future__ import annotations

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import ndtr

from wmlab import expressions
from wmlab.core.continuous.dynamics import Chance, ContinuousWorld, Dynamics, quantile
from wmlab.core.continuous.space import Variable, settled
from wmlab.core.programs import pytree, static
from wmlab.mdps.dynamics.options import NoiseTerm, Options
from wmlab.mdps.dynamics.space import continuous_space
from wmlab.mdps.dynamics.step import WrittenStep


@pytree
class WrittenDynamics(Dynamics):
    """What actions do in a world that is written in expressions."""

    controls: Array | np.ndarray  # float32 [A, k]; of actions from a box, none
    variables: tuple[Variable, ...] = static()  # [d]
    components: tuple[str, ...] = static()  # [k]
    terms: tuple[tuple[str, NoiseTerm], ...] = static()  # [m] of noise, by name
    written: WrittenStep = static()

    @property
    def chances(self) -> tuple[Chance, ...]:
        return tuple(
            Chance("branches", each.probabilities or ()) if each.kind == "categorical" else Chance(each.kind)
            for _, each in self.terms
        )

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        chosen = self.components_of(actions)  # [N, k]
        ranges = {variable.name: variable for variable in self.variables}
        env = {name: states[:, i] for i, name in enumerate(ranges)}
        env |= {name: chosen[:, i] for i, name in enumerate(self.components)}
        env |= {name: shaped(each, noise[:, i]) for i, (name, each) in enumerate(self.terms)}

        def settle(name: str, value: Any) -> Array:
            moved = jnp.broadcast_to(jnp.asarray(value, states.dtype), states.shape[:1])
            return settled(ranges[name], moved, jnp)

        self.written.run(jnp, env, settle)
        return jnp.stack([env[expressions.next_name(name)] for name in ranges], axis=-1)

    def components_of(self, actions: Array) -> Array:
        """The components [N, k] of actions that are said by number [N], or by themselves [N, k]."""
        if actions.ndim == 2:
            return actions
        if not self.controls.shape[0]:
            raise TypeError("actions from a box have no numbers: give their components")
        return jnp.asarray(self.controls)[actions]


def continuous_world(options: Options) -> ContinuousWorld:
    """The world that continuous options describe."""
    space = continuous_space(options)
    controls = np.array(space.control_values, np.float32)[: 0 if space.in_box else None]
    terms, written = tuple(options.noise.items()), WrittenStep.of(options)
    dynamics = WrittenDynamics(controls, space.variables, options.components, terms, written)
    return ContinuousWorld(space, dynamics, options.horizon)


def shaped(noise: NoiseTerm, normal: Array) -> Array:
    """Draws of a noise term from standard normal ones."""
    if noise.kind == "normal":
        return (noise.mean or 0.0) + (noise.sd or 0.0) * normal
    if noise.kind == "uniform":
        low, high = noise.low or 0.0, noise.high or 0.0
        return low + (high - low) * ndtr(normal)
    values, chances = noise.values or (), noise.probabilities or ()
    ends = [quantile(end) for end in itertools.accumulate(chances)][:-1]
    drawn = jnp.full_like(normal, values[0])
    for value, end in zip(values[1:], ends, strict=True):
        drawn = jnp.where(normal >= end, value, drawn)
    return drawn
