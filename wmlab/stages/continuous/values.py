"""What an agent's values are worth in a continuous world: its return, and its distance from exact values.

Shapes: N states, A actions, G goals, d variables, D draws.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.pqn import evaluate
from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.grid import grid_of
from wmlab.core.continuous.simulator import continuous_simulator
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.continuous.world import ContinuousWorld
from wmlab.core.randomness import jax_key
from wmlab.extraction.continuous.residual import DRAWS, residuals
from wmlab.measure.continuous.rollouts import follow_values
from wmlab.measure.continuous.value_error import grid_states, value_error
from wmlab.stages.continuous.records import STARTS, Agent, TrainedAgent, states_of

Metrics = dict[str, dict[str, Any]]
ROWS = 8192  # states whose values are asked for together

_returns = jax.jit(evaluate.returns, static_argnames=("options", "starts"))


def agent_return(agent: Agent, world: ContinuousWorld, starts: str | int, checkpoint: int) -> Metrics:
    """agent.return: the mean over goals and starts of the learnt policy's discounted return in the true world."""
    if not isinstance(agent, TrainedAgent):
        return return_of_values(agent, world, starts)
    encoding: Any = agent.options.network.encoding
    simulator = continuous_simulator(world, starts="uniform" if starts == "uniform" else "reset", encoding=encoding)
    simulator = dataclasses.replace(simulator, resets=simulator.starts)
    count = STARTS if isinstance(starts, str) else starts
    weights = jax.tree.map(jnp.asarray, agent.checkpoints[checkpoint])
    key = jax_key(0, "starts of the agent's return")
    each = np.asarray(_returns(weights, key, simulator, agent.goals, agent.options, count), np.float64)
    return {"agent.return": {"value": float(each.mean()), "by": {"goal": by_goal(agent.labels, each)}}}


def return_of_values(agent: Agent, world: ContinuousWorld, starts: str | int) -> Metrics:
    """The same of an agent whose values are a table, or come from elsewhere."""
    view, purpose = agent.view(), "starts of the agent's return"
    states, key = states_of(starts, world.space, STARTS, purpose), jax_key(0, purpose)
    ways = [follow_values(view, world.dynamics, states, goal, world.horizon, key) for goal in range(agent.goals.count)]
    each = np.array([way.returns.mean(dtype=np.float64) for way in ways])
    return {"agent.return": {"value": float(each.mean()), "by": {"goal": by_goal(agent.labels, each)}}}


def value_errors(agent: Agent, world: ContinuousWorld, asked: Mapping[str, Any], checkpoint: int) -> Metrics:
    """q.*: the agent's values against exact ones on a grid."""
    grid = grid_of(world.space, asked["grid"], asked["bounds"])
    view = agent.view(checkpoint=checkpoint)
    q = values_at(view, grid_states(grid))
    return value_error(grid, world.dynamics, agent.goals, q, agent.discount, agent.policy, agent.labels)


def values_at(view: ContinuousView, states: np.ndarray) -> Callable[[int], np.ndarray]:
    """A goal's values [N, A] at states [N, d]; a network with a head per goal is asked once for all of them."""
    if view.reads_goal:
        return lambda goal: np.asarray(_of_goal(view, states, jnp.int32(goal)))
    everything = np.asarray(_of_all(view, states))  # [N, G, A]
    return lambda goal: everything[:, goal]


@jax.jit
def _of_all(view: ContinuousView, states: Array) -> Array:
    return jax.lax.map(lambda state: view.values(state[None])[0], states, batch_size=ROWS)


@jax.jit
def _of_goal(view: ContinuousView, states: Array, goal: Array) -> Array:
    return jax.lax.map(lambda state: view.values_at(state[None], goal[None, None])[0, 0], states, batch_size=ROWS)


def fit(errors: np.ndarray, labels: Sequence[str]) -> Metrics:
    """The Bellman residual [N, A, G] that a model leaves: mean, root mean square, greatest. It needs no truth."""
    sizes = np.abs(errors.astype(np.float64))
    return {
        "fit.residual": {"value": float(sizes.mean()), "by": {"goal": by_goal(labels, sizes.mean(axis=(0, 1)))}},
        "fit.residual_rms": {"value": float(np.sqrt((sizes**2).mean()))},
        "fit.residual_max": {"value": float(sizes.max())},
    }


def td_error(agent: Agent, world: ContinuousWorld, states: np.ndarray, checkpoint: int) -> Metrics:
    """agent.td_error: the residual that the true world itself leaves, below which a fit says nothing of a model."""
    view, draws = agent.view(checkpoint=checkpoint), DRAWS if world.dynamics.noise else 1
    key = jax_key(0, "draws of the agent's TD error")
    after = _successors(world.dynamics, jnp.asarray(states), key, view.actions, draws)
    sizes = np.abs(np.asarray(residuals(view, jnp.asarray(states), after), np.float64))  # [N, A, G]
    value, goals = float(sizes.mean()), by_goal(agent.labels, sizes.mean(axis=(0, 1)))
    return {"agent.td_error": {"value": value, "by": {"goal": goals}}}


@partial(jax.jit, static_argnames=("actions", "draws"))
def _successors(dynamics: Dynamics, states: Array, key: Array, actions: int, draws: int) -> Array:
    """True next states [D, N, A, d] under every action."""
    count = states.shape[0]
    action = jnp.tile(jnp.repeat(jnp.arange(actions, dtype=jnp.int32), count), draws)
    after = dynamics.draw(key, jnp.tile(states, (draws * actions, 1)), action)
    return jnp.swapaxes(after.reshape(draws, actions, count, -1), 1, 2)


def by_goal(labels: Sequence[str], each: np.ndarray) -> dict[str, float]:
    return {name: float(one) for name, one in zip(labels, each, strict=True)}
