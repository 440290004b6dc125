"""Continuous worlds to act in: how states are drawn, read by networks, and counted.

Shapes: d state variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.encodings import SpaceReader
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.programs import pytree, static
from wmlab.core.simulator import NEVER, Simulator
from wmlab.registry.traits import Encoding

if TYPE_CHECKING:
    from wmlab.core.continuous.dynamics import ContinuousWorld

BINS = {1: 256, 2: 64, 3: 16, 4: 8}  # places per variable in which visits are counted


@pytree
class ContinuousSimulator(Simulator):
    """A continuous world: states are float32 [d], and visits are counted in `place_shape` bins."""

    dynamics: Dynamics
    resets: Array  # [d, 2] evaluations start anywhere in this box
    starts: Array  # [d, 2] training episodes start anywhere in this box
    reader: SpaceReader = static()

    def reset(self, key: Array) -> Array:
        return _anywhere(key, self.resets)

    def start(self, key: Array) -> Array:
        return _anywhere(key, self.starts)

    def step(self, key: Array, state: Array, action: Array) -> Array:
        return self.dynamics.draw(key, state[None], action[None])[0]

    def encode(self, state: Array) -> Array:
        return self.reader.encode(state)

    def place(self, state: Array) -> Array:
        place, space = jnp.int32(0), self.reader.space
        for position, bins in enumerate(place_shape(space)):
            low, high = space.variables[position].scale
            bin_ = jnp.floor((state[position] - low) / (high - low) * bins).astype(jnp.int32)
            place = place * bins + jnp.clip(bin_, 0, bins - 1)
        return place


def continuous_simulator(
    world: ContinuousWorld, *, starts: Literal["reset", "uniform"] = "reset", encoding: Encoding = "normalised"
) -> ContinuousSimulator:
    """A continuous world to act in; `starts`: where training episodes begin, `encoding`: how networks read states."""
    space, reader = world.space, SpaceReader(world.space, encoding)
    reset = np.array(space.starts, np.float32)
    return ContinuousSimulator(
        width=reader.width,
        actions=reader.actions,
        horizon=NEVER if world.horizon is None else int(world.horizon),
        states=reader.states,
        places=int(np.prod(place_shape(space))),
        dynamics=world.dynamics,
        resets=jnp.asarray(reset),
        starts=jnp.asarray(space.ranges() if starts == "uniform" else reset, jnp.float32),
        reader=reader,
    )


def place_shape(space: ContinuousSpace) -> tuple[int, ...]:
    """Bins per variable in which visits are counted; in more than four dimensions, of the first four."""
    counted = min(space.size, 4)
    return (BINS[counted],) * counted


def _anywhere(key: Array, box: Array) -> Array:
    return jax.random.uniform(key, (box.shape[0],), minval=box[:, 0], maxval=box[:, 1])
