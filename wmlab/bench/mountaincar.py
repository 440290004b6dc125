"""MountainCar with position goals, as a load for benchmarks.

State: position, velocity [2]. Goals: four positions, reached within 0.1.
"""

from __future__ import annotations

from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.simulator import GoalSet, Simulator

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


def simulator(starts: Literal["reset", "uniform"] = "reset", normalised: bool = True) -> Simulator:
    """The classic dynamics, without their own reward and end."""
    return Simulator(
        params=(),
        reset_fn=_reset,
        start_fn=_anywhere if starts == "uniform" else _reset,
        step_fn=_step,
        encode_fn=_normalised if normalised else _raw,
        width=2,
        actions=3,
        horizon=200,
    )


def goals() -> GoalSet:
    """Four positions from wall to wall; arriving pays 1 and ends the episode."""
    positions = jnp.linspace(-1.2, 0.6, 4)
    return GoalSet(
        params=positions,
        features=positions[:, None],
        ending=jnp.array([1.0, 1.0]),
        lasting=jnp.array([0.0, 0.0]),
        arrive_fn=lambda params, state: _near(jnp.abs(state[0] - params)),
        reward_of_fn=lambda params, state, goal: _near(jnp.abs(state[0] - goal[0])),
        count=4,
        width=1,
        achieved_fn=lambda params, state: state[:1],
    )


def _near(distance: Array) -> tuple[Array, Array]:
    reached = (distance < RADIUS).astype(jnp.float32)
    return reached, 1 - reached


def _reset(params: Any, key: Array) -> Array:
    return jnp.stack([jax.random.uniform(key, minval=-0.6, maxval=-0.4), 0.0])


def _anywhere(params: Any, key: Array) -> Array:
    return jax.random.uniform(key, (2,), minval=LOW, maxval=HIGH)


def _step(params: Any, key: Array, state: Array, action: Array) -> Array:
    position, velocity = state
    velocity = jnp.clip(velocity + (action - 1) * 0.001 - jnp.cos(3 * position) * 0.0025, LOW[1], HIGH[1])
    position = jnp.clip(position + velocity, LOW[0], HIGH[0])
    return jnp.stack([position, jnp.where((position == LOW[0]) & (velocity < 0), 0.0, velocity)])


def _raw(params: Any, state: Array) -> Array:
    return state


def _normalised(params: Any, state: Array) -> Array:
    return 2 * (state - LOW) / (HIGH - LOW) - 1
