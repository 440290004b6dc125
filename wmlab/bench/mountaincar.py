"""MountainCar with position goals, as a load for benchmarks.

State: position, velocity [2]. Goals: four positions, reached within 0.1.
"""

from __future__ import annotations

from typing import Literal

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.goals import GoalSet
from wmlab.core.programs import pytree, static
from wmlab.core.simulator import Simulator

# The same world written as expressions, as a spec would say it.
WRITTEN = {
    "state": {
        "position": {"range": [-1.2, 0.6], "edge": "clip"},
        "velocity": {"range": [-0.07, 0.07], "edge": "clip"},
    },
    "actions": {"push": [-1, 0, 1]},
    "let": {"rolling": "clip(velocity + 0.001 * push - 0.0025 * cos(3 * position), -0.07, 0.07)"},
    "next": {"position": "position + rolling", "velocity": "where(next(position) <= -1.2 and rolling < 0, 0, rolling)"},
    "reset": {"position": {"uniform": [-0.6, -0.4]}, "velocity": 0},
    "horizon": 200,
}
LOW, HIGH = jnp.array([-1.2, -0.07]), jnp.array([0.6, 0.07])
RADIUS = 0.1


@pytree
class MountainCar(Simulator):
    """The classic dynamics, without their own reward and end."""

    anywhere: bool = static()  # whether training episodes start in any state
    normalised: bool = static()

    def reset(self, key: Array) -> Array:
        return jnp.stack([jax.random.uniform(key, minval=-0.6, maxval=-0.4), 0.0])

    def start(self, key: Array) -> Array:
        return jax.random.uniform(key, (2,), minval=LOW, maxval=HIGH) if self.anywhere else self.reset(key)

    def step(self, key: Array, state: Array, action: Array) -> Array:
        position, velocity = state
        velocity = jnp.clip(velocity + (action - 1) * 0.001 - jnp.cos(3 * position) * 0.0025, LOW[1], HIGH[1])
        position = jnp.clip(position + velocity, LOW[0], HIGH[0])
        return jnp.stack([position, jnp.where((position == LOW[0]) & (velocity < 0), 0.0, velocity)])

    def encode(self, state: Array) -> Array:
        return 2 * (state - LOW) / (HIGH - LOW) - 1 if self.normalised else state

    def place(self, state: Array) -> Array:
        return jnp.int32(0)


@pytree
class PositionGoals(GoalSet):
    """Positions to be near to; arriving pays 1 and ends the episode."""

    def arrive(self, state: Array) -> tuple[Array, Array]:
        return self._near(jnp.abs(state[0] - self.features[:, 0]))

    def reward_of(self, state: Array, features: Array) -> tuple[Array, Array]:
        return self._near(jnp.abs(state[0] - features[0]))

    def achieved(self, state: Array) -> Array:
        return state[:1]

    def encode(self, features: Array) -> Array:
        return features

    def _near(self, distance: Array) -> tuple[Array, Array]:
        reached = (distance < RADIUS).astype(jnp.float32)
        return reached, 1 - reached


def simulator(starts: Literal["reset", "uniform"] = "reset", normalised: bool = True) -> MountainCar:
    """A mountain car whose training episodes start at resets or anywhere."""
    return MountainCar(
        width=2, actions=3, horizon=200, states=0, places=0, anywhere=starts == "uniform", normalised=normalised
    )


def goals() -> PositionGoals:
    """Four positions from wall to wall."""
    positions = jnp.linspace(-1.2, 0.6, 4)
    return PositionGoals(positions[:, None], jnp.array([1.0, 1.0]), jnp.array([0.0, 0.0]), 4, 1)
