"""What an agent's values are worth in a continuous world: its return, and its distance from exact values.

Shapes: N states, A actions, G goals, d variables, D draws, P states with an action each.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.pqn import evaluate
from wmlab.core.continuous.dynamics import Dynamics, every_outcome
from wmlab.core.continuous.goals import ContinuousGoals
from wmlab.core.continuous.grid import grid_of
from wmlab.core.continuous.simulator import continuous_simulator
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import map_in_batches
from wmlab.core.randomness import jax_key
from wmlab.extraction.continuous.fit import residuals
from wmlab.extraction.residuals import explained_share
from wmlab.measure.continuous.context import ContinuousContext, TrainedWeights
from wmlab.measure.continuous.logged import reward_errors, td_errors
from wmlab.measure.continuous.rollouts import follow_values
from wmlab.measure.continuous.states import STARTS, states_of
from wmlab.measure.continuous.value_error import Probes, errors, grid_states, read_grid
from wmlab.planning.continuous.solver import NODES
from wmlab.registry.metrics import Measured

PURPOSE = "starts of the agent's return"
ROWS = 8192  # states whose values are asked for together, at most
OUTCOMES, MOST_POINTS = 64, 16  # of chance that a TD error is the mean of; of quadrature along a number
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
    still = np.abs(standing_still(context.view, context.model.states))
    labels, each, unmoved = context.agent.labels, sizes.mean(axis=(0, 1)), still.mean(axis=(0, 1))
    shares = [explained_share(float(left), float(whole)) for left, whole in zip(each, unmoved, strict=True)]
    explained = explained_share(float(sizes.mean()), float(still.mean()))
    return {
        "fit.residual": {"value": float(sizes.mean()), "by": {"goal": by_goal(labels, each)}},
        "fit.explained": {"value": explained, "by": {"goal": dict(zip(labels, shares, strict=True))}},
        "fit.residual_rms": {"value": float(np.sqrt((sizes**2).mean()))},
        "fit.residual_max": {"value": float(sizes.max())},
    }


def standing_still(view: ContinuousView, states: np.ndarray) -> np.ndarray:
    """The residuals [N, A, G] of a model in which nothing moves, at states [N, d]."""
    return np.asarray(_unmoved(view, jnp.asarray(states)), np.float64)


@jax.jit
def _unmoved(view: ContinuousView, states: Array) -> Array:
    def one(state: Array) -> Array:
        here = state[None]
        return view.backup(here, view.all_goals(1)) - view.values(here)[0].T

    return map_in_batches(one, states, ROWS)


def td_error(context: ContinuousContext) -> Measured:
    """agent.td_error: the residual that the true world itself leaves, below which a fit says nothing of a model.

    Where transitions were logged, it is that of those that are held out.
    """
    assert context.model is not None
    if context.log is not None:
        off = np.abs(td_errors(context.view, context.held_out))  # [n, G]
        return {
            "agent.td_error": {"value": float(off.mean()), "by": {"goal": by_goal(context.agent.labels, off.mean(0))}}
        }
    view, dynamics, states = context.view, context.truth.dynamics, jnp.asarray(context.model.states)
    noise, weights = outcomes_of_chance(dynamics)
    after = _successors(view, dynamics, states, jnp.asarray(noise))
    found = residuals(view, states, after, None if len(weights) == 1 else jnp.asarray(weights))
    sizes = np.abs(np.asarray(found, np.float64))  # [N, A, G]
    by = {"goal": by_goal(context.agent.labels, sizes.mean(axis=(0, 1)))}
    return {"agent.td_error": {"value": float(sizes.mean()), "by": by}}


def reward_error(context: ContinuousContext) -> Measured:
    """data.reward_error: what the spec's goals pay beside what was paid, over all transitions of the log."""
    log, goals = context.log, context.agent.goals
    if log is None or log.goal is None or log.reward is None:
        return {}
    assert isinstance(goals, ContinuousGoals)
    return {"data.reward_error": {"value": float(np.abs(reward_errors(goals, log)).mean())}}


def outcomes_of_chance(dynamics: Dynamics) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of noise [D, m] and their weights [D]: quadrature, as fine as so many outcomes allow.

    Draws would add their own chance to an error which is smaller than that. Where noise has more numbers than a
    quadrature of three points each allows, it is draws after all.
    """
    for points in range(MOST_POINTS, 2, -1):
        if math.prod(len(chance.nodes(points)[0]) for chance in dynamics.chances) <= OUTCOMES:
            return dynamics.quadrature(points)
    drawn = np.asarray(jax.random.normal(jax_key(0, "draws of the agent's TD error"), (OUTCOMES, dynamics.noise)))
    return drawn, np.full(OUTCOMES, 1.0 / OUTCOMES, np.float32)


@jax.jit
def _successors(view: ContinuousView, dynamics: Dynamics, states: Array, noise: Array) -> Array:
    """True next states [D, N, A, d] under every action, of a box under those that are listed, at noise [D, m]."""
    count, actions = states.shape[0], view.actions
    action = jnp.repeat(jnp.arange(actions, dtype=jnp.int32), count)
    action = action if view.controls is None else view.controls.listed[action]
    after = every_outcome(dynamics, jnp.tile(states, (actions, 1)), action, noise)
    return jnp.swapaxes(after.reshape(len(noise), actions, count, -1), 1, 2)


def by_goal(labels: Sequence[str], each: np.ndarray) -> dict[str, float]:
    return {name: float(one) for name, one in zip(labels, each, strict=True)}
