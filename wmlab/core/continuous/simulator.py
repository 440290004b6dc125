"""Continuous worlds to act in: how states are drawn, read by networks, and counted.

Shapes: d state variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.encodings import Encoding, encode, encoded_width
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.simulator import NEVER, Simulator

if TYPE_CHECKING:
    from wmlab.core.continuous.world import ContinuousWorld

BINS = {1: 256, 2: 64, 3: 16, 4: 8}  # places per variable in which visits are counted


def continuous_simulator(
    world: ContinuousWorld,
    *,
    starts: Literal["reset", "uniform"] = "reset",
    encoding: Encoding = "normalised",
) -> Simulator:
    """A continuous world to act in. States are vectors [d]; visits are counted in `place_shape` bins."""
    space = world.space
    reset = np.array(space.starts, np.float32)  # [d, 2]
    params = {
        "dynamics": world.dynamics,
        "reset": jnp.asarray(reset),
        "start": jnp.asarray(space.ranges() if starts == "uniform" else reset, jnp.float32),
    }
    return Simulator(
        params,
        _reset,
        _start,
        _step,
        Encode(space, encoding),
        encoded_width(space.variables, encoding),
        len(space.actions),
        NEVER if world.horizon is None else int(world.horizon),
        0,
        Place(space),
        int(np.prod(place_shape(space))),
    )


def place_shape(space: ContinuousSpace) -> tuple[int, ...]:
    """Bins per variable in which visits are counted; in more than four dimensions, of the first four."""
    counted = min(space.size, 4)
    return (BINS[counted],) * counted


def place_edges(space: ContinuousSpace) -> list[np.ndarray]:
    """The edges of those bins, for drawing; the outer bins also count what lies beyond."""
    return [
        np.linspace(*variable.scale, bins + 1)
        for variable, bins in zip(space.variables, place_shape(space), strict=False)
    ]


@dataclass(frozen=True)
class Encode:
    """A state as a network reads it."""

    space: ContinuousSpace
    encoding: Encoding

    def __call__(self, params: Any, state: Array) -> Array:
        return encode(self.space.variables, state, self.encoding)


@dataclass(frozen=True)
class Place:
    """The bin in which a state is counted."""

    space: ContinuousSpace

    def __call__(self, params: Any, state: Array) -> Array:
        place = jnp.int32(0)
        for position, bins in enumerate(place_shape(self.space)):
            low, high = self.space.variables[position].scale
            bin_ = jnp.floor((state[position] - low) / (high - low) * bins).astype(jnp.int32)
            place = place * bins + jnp.clip(bin_, 0, bins - 1)
        return place


def _reset(params: Any, key: Array) -> Array:
    return _anywhere(key, params["reset"])


def _start(params: Any, key: Array) -> Array:
    return _anywhere(key, params["start"])


def _anywhere(key: Array, box: Array) -> Array:
    return jax.random.uniform(key, (box.shape[0],), minval=box[:, 0], maxval=box[:, 1])


def _step(params: Any, key: Array, state: Array, action: Array) -> Array:
    dynamics: Dynamics = params["dynamics"]
    return dynamics.draw(key, state[None], action[None])[0]
