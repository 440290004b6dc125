"""A continuous world written in a spec, compiled to arrays.

Shapes: N states, d variables, A actions, k components of an action, m numbers of noise.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import ndtr

from wmlab import expressions
from wmlab.core.continuous.dynamics import Chance, Dynamics, quantile
from wmlab.core.continuous.space import Variable, settled
from wmlab.core.continuous.world import ContinuousWorld
from wmlab.core.pytree import pytree, static
from wmlab.expressions.findings import text_of
from wmlab.mdps.dynamics.check import waits
from wmlab.mdps.dynamics.options import Noise, Options
from wmlab.mdps.dynamics.order import ordered
from wmlab.mdps.dynamics.space import continuous_space

Texts = tuple[tuple[str, str], ...]  # name and expression


@dataclass(frozen=True)
class WrittenStep:
    """What a step does, as it is written; equal steps hash alike, so that programs are compiled once."""

    variables: tuple[Variable, ...]  # [d]
    components: tuple[str, ...]  # [k]
    noise: tuple[tuple[str, Noise], ...]  # [m]
    let: Texts  # in order
    next: Texts  # [d] each behind those that it waits for


@pytree
class WrittenDynamics(Dynamics):
    """What actions do in a world that is written in expressions."""

    controls: Array | np.ndarray  # float32 [A, k]
    written: WrittenStep = static()

    @property
    def chances(self) -> tuple[Chance, ...]:
        return tuple(chance_of(each) for _, each in self.written.noise)

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        written = self.written
        chosen = jnp.asarray(self.controls)[actions]  # [N, k]
        env = {variable.name: states[:, i] for i, variable in enumerate(written.variables)}
        env |= {name: chosen[:, i] for i, name in enumerate(written.components)}
        env |= {name: shaped(each, noise[:, i]) for i, (name, each) in enumerate(written.noise)}
        helpers, steps = _programs(written)
        for name, program in helpers:
            env[name] = program(jnp, env)
        ranges = {variable.name: variable for variable in written.variables}
        for name, program in steps:
            moved = jnp.broadcast_to(jnp.asarray(program(jnp, env), states.dtype), states.shape[:1])
            env[expressions.next_name(name)] = settled(ranges[name], moved, jnp)
        return jnp.stack([env[expressions.next_name(variable.name)] for variable in written.variables], axis=-1)


@functools.cache
def _programs(step: WrittenStep) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """The helpers and the steps as functions of arrays, in the order in which they are worked out."""
    names = [variable.name for variable in step.variables]
    given = [*names, *step.components, *(name for name, _ in step.noise)]
    known: dict[str, expressions.Type] = dict.fromkeys(given, "number")
    helpers = []
    for name, text in step.let:
        kind = expressions.type_of(expressions.parse(text), known)
        helpers.append((name, expressions.compile(text, known, want=kind)))
        known[name] = kind
    return helpers, [(name, expressions.compile(text, known, allow_next=names)) for name, text in step.next]


def continuous_world(options: Options) -> ContinuousWorld:
    """The world that continuous options describe."""
    space = continuous_space(options)
    step = WrittenStep(
        space.variables,
        options.components,
        tuple(options.noise.items()),
        tuple((name, text_of(said)) for name, said in options.let.items()),
        tuple((name, text_of(options.next[name])) for name in ordered(waits(options))),
    )
    controls = np.array(space.control_values, np.float32)
    return ContinuousWorld(space, WrittenDynamics(controls, step), options.horizon)


def chance_of(noise: Noise) -> Chance:
    """How a noise term is spread over the standard normal number that it is made of."""
    if noise.kind == "categorical":
        return Chance("branches", noise.probabilities or ())
    return Chance(noise.kind)


def shaped(noise: Noise, normal: Array) -> Array:
    """Draws of a noise term from standard normal ones."""
    if noise.kind == "normal":
        return (noise.mean or 0.0) + (noise.sd or 0.0) * normal
    if noise.kind == "uniform":
        low, high = noise.low or 0.0, noise.high or 0.0
        return low + (high - low) * ndtr(normal)
    values, chances = noise.values or (), noise.probabilities or ()
    ends = [quantile(end) for end in itertools.accumulate(chances)][:-1]
    found = jnp.full_like(normal, values[0])
    for value, end in zip(values[1:], ends, strict=True):
        found = jnp.where(normal >= end, value, found)
    return found
