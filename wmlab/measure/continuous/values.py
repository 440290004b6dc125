"""What an agent's values are worth in a continuous world: its return, and its distance from exact values.

Shapes: N states, A actions, G goals, d variables, D draws, P states with an action each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.pqn import evaluate
from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.grid import grid_of
from wmlab.core.continuous.simulator import continuous_simulator
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import map_in_batches
from wmlab.core.randomness import jax_key
from wmlab.extraction.continuous.fit import DRAWS, residuals
from wmlab.measure.continuous.context import ContinuousContext, TrainedWeights
from wmlab.measure.continuous.rollouts import follow_values
from wmlab.measure.continuous.states import STARTS, states_of
from wmlab.measure.continuous.value_error import Probes, errors, grid_states, read_grid
from wmlab.planning.continuous.solver import NODES
from wmlab.registry.metrics import Measured

PURPOSE = "starts of the agent's return"
ROWS = 8192  # states whose values are asked for together, at most
ALL_GOALS = 4 << 30  # bytes of values for all goals that are held at once

_returns = jax.jit(evaluate.returns, static_argnames=("options", "starts"))


def agent_return(context: ContinuousContext) -> Measured:
    """agent.return: the mean over goals and starts of the policy's discounted return in the true world."""
    assert context.asked.return_ is not None
    starts = context.asked.return_.starts
    each = _of_values(context, starts) if context.network is None else _of_network(context, context.network, starts)
    return {"agent.return": {"value": float(each.mean()), "by": {"goal": by_goal(context.agent.labels, each)}}}


def _of_network(context: ContinuousContext, network: TrainedWeights, starts: str | int) -> np.ndarray:
    """Returns [G] of what a network learnt here, acting as it did in training."""
    encoding: Any = network.options.network.encoding
    begin: Literal["uniform", "reset"] = "uniform" if starts == "uniform" else "reset"
    simulator = continuous_simulator(context.truth, starts=begin, encoding=encoding)
    simulator = dataclasses.replace(simulator, resets=simulator.starts)
    count = STARTS if isinstance(starts, str) else starts
    weights = jax.tree.map(jnp.asarray, network.weights)
    key = jax_key(0, PURPOSE)
    return np.asarray(_returns(weights, key, simulator, context.agent.goals, network.options, count), np.float64)


def _of_values(context: ContinuousContext, starts: str | int) -> np.ndarray:
    """The same of an agent whose values are a table, or come from elsewhere."""
    view, world = context.view, context.truth
    states, key = states_of(starts, world.space, STARTS, PURPOSE), jax_key(0, PURPOSE)
    goals = range(context.agent.goals.count)
    ways = [follow_values(view, world.dynamics, states, goal, world.horizon, key) for goal in goals]
    return np.array([way.returns.mean(dtype=np.float64) for way in ways])


def value_error(context: ContinuousContext) -> Measured:
    """q.*: the agent's values against those of its own policy, at states of the spec's, and the best ones on a grid."""
    asked, agent, world, view = context.asked.value_error, context.agent, context.truth, context.view
    assert asked is not None
    grid = grid_of(world.space, asked.grid, context.bounds)
    states = states_of(asked.states, world.space, asked.samples, "states of the values' error", context.bounds)
    probes = Probes.of(states, view.actions)
    q, nodes = values_at(view, grid_states(grid)), asked.quadrature or NODES
    on_grid = read_grid(grid, world.dynamics, agent.goals, q, agent.discount, agent.policy, probes, nodes)
    at = values_at(view, states)
    mine = np.stack([probes.chosen(at(goal)) for goal in range(view.goals)])  # [G, P]
    return errors(view, world.dynamics, probes, mine, on_grid, agent.labels)


def values_at(view: ContinuousView, states: np.ndarray) -> Callable[[int], np.ndarray]:
    """A goal's values [N, A] at states [N, d]. A network with a head per goal is asked once for all, if they fit."""
    if view.reads_goal or 4 * len(states) * view.goals * view.actions > ALL_GOALS:
        return lambda goal: np.asarray(_of_goal(view, states, jnp.int32(goal)))
    everything = np.asarray(_of_all(view, states))  # [N, G, A]
    return lambda goal: everything[:, goal]


@jax.jit
def _of_all(view: ContinuousView, states: Array) -> Array:
    return map_in_batches(lambda state: view.values(state[None])[0], states, ROWS)


@jax.jit
def _of_goal(view: ContinuousView, states: Array, goal: Array) -> Array:
    return map_in_batches(lambda state: view.values_at(state[None], goal[None, None])[0, 0], states, ROWS)


def fit(context: ContinuousContext) -> Measured:
    """The Bellman residual that a model leaves: mean, root mean square, greatest. It needs no truth."""
    assert context.model is not None
    sizes = np.abs(context.model.residual.astype(np.float64))
    by = {"goal": by_goal(context.agent.labels, sizes.mean(axis=(0, 1)))}
    return {
        "fit.residual": {"value": float(sizes.mean()), "by": by},
        "fit.residual_rms": {"value": float(np.sqrt((sizes**2).mean()))},
        "fit.residual_max": {"value": float(sizes.max())},
    }


def td_error(context: ContinuousContext) -> Measured:
    """agent.td_error: the residual that the true world itself leaves, below which a fit says nothing of a model."""
    assert context.model is not None
    view, dynamics, states = context.view, context.truth.dynamics, jnp.asarray(context.model.states)
    key = jax_key(0, "draws of the agent's TD error")
    after = _successors(view, dynamics, states, key, DRAWS if dynamics.noise else 1)
    sizes = np.abs(np.asarray(residuals(view, states, after), np.float64))  # [N, A, G]
    by = {"goal": by_goal(context.agent.labels, sizes.mean(axis=(0, 1)))}
    return {"agent.td_error": {"value": float(sizes.mean()), "by": by}}


@partial(jax.jit, static_argnames="draws")
def _successors(view: ContinuousView, dynamics: Dynamics, states: Array, key: Array, draws: int) -> Array:
    """True next states [D, N, A, d] under every action; of a box, under those that are listed."""
    count, actions = states.shape[0], view.actions
    action = jnp.tile(jnp.repeat(jnp.arange(actions, dtype=jnp.int32), count), draws)
    action = action if view.controls is None else view.controls.listed[action]
    after = dynamics.draw(key, jnp.tile(states, (draws * actions, 1)), action)
    return jnp.swapaxes(after.reshape(draws, actions, count, -1), 1, 2)


def by_goal(labels: Sequence[str], each: np.ndarray) -> dict[str, float]:
    return {name: float(one) for name, one in zip(labels, each, strict=True)}
