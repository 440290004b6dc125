"""explore: what a page lets one look at in a continuous world: truth and model on a grid of states, and ways from many.

Shapes: P points of the grid, G goals, A actions, d variables, v of them that can be chosen, S starts, T knots of a way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import ContinuousWorld, Dynamics
from wmlab.core.continuous.grid import grid_of, interpolate
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import AgentView, ContinuousView
from wmlab.core.programs import map_in_batches
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.explorer_grid import KNOTS, ExplorerGrid, explorer_grid
from wmlab.measure.continuous.rollouts import follow_values
from wmlab.measure.continuous.value_error import exact_values
from wmlab.planning.continuous.solver import NODES
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.sections.experiment import ValueError_
from wmlab.stages.continuous.records import Agent, evaluated_bytes, known_world, load_agent, load_model
from wmlab.stages.params import ExplorePlanesParams

BATCH = 1024  # states whose values are asked for at once, at most
DRAWS = 64  # of next states, where a model or the world is stochastic
STEPS = 200  # of a way, at most
Arrays = dict[str, np.ndarray]

_interpolate = jax.jit(interpolate, static_argnums=0)


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int:
    """Bytes that asking the agent for all of its values takes."""
    return evaluated_bytes(build(ExplorePlanesParams, params), inputs)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(ExplorePlanesParams, params)
    space, world = asked.mdp.space, known_world(asked)
    agent = load_agent(inputs["agent"], space)
    model = load_model(inputs["model"], space) if "model" in inputs else None
    how = asked.evaluate.value_error if world is not None else None
    grid = explorer_grid(asked.explore, space, len(agent.labels), exact=how is not None)
    kept, states = min(len(agent.labels), asked.explore.goals), jnp.asarray(grid.states(grid.sizes))
    arrays = own_values(agent.view(), states, kept)
    if world is not None and how is not None:
        arrays |= best_values(agent, world, how, asked.bounds, states, kept)
    sides = {"truth": None if world is None else world.dynamics, "model": model}
    known = {name: dynamics for name, dynamics in sides.items() if dynamics is not None}
    arrays |= outcomes(agent.view(), space, known, states, kept)
    arrays |= ways(agent.view(), known, grid, kept, STEPS if world is None else world.horizon or STEPS)
    arrays |= visits_over(inputs["agent"].arrays.get("visits"), grid)
    data = {
        "variables": list(grid.variables),
        "ranges": [list(pair) for pair in grid.ranges],
        "sizes": list(grid.sizes),
        "starts": list(grid.starts),
        "fixed": grid.fixed,
        "goals": list(agent.labels[:kept]),
        "goals_left_out": len(agent.labels) - kept,
        "policy": agent.policy,
    }
    return Result(arrays, data)


def own_values(view: AgentView, states: Array, goals: int) -> Arrays:
    """The agent's Q [G, A, P] and V [G, P], and where the goals end an episode, bool [G, P]."""
    q, v, continues = _own_values(view, states)
    return {
        "q": np.moveaxis(np.asarray(q), 0, -1)[:goals],
        "v": np.asarray(v).T[:goals],
        "ends": np.asarray(continues == 0).T[:goals],
    }


@jax.jit
def _own_values(view: AgentView, states: Array) -> tuple[Array, Array, Array]:
    def at(state: Array) -> tuple[Array, Array, Array]:
        one = state[None]
        return view.values(one)[0], view.worth_at(one, view.all_goals(1))[0], view.arrive(one)[1][0]

    return map_in_batches(at, states, BATCH)


def best_values(
    agent: Agent,
    world: ContinuousWorld,
    how: ValueError_,
    bounds: Mapping[str, tuple[float, ...]],
    states: Array,
    goals: int,
) -> Arrays:
    """Exact Q [G, A, P] and V [G, P] on the grid of `value_error`: the best, or those of a uniform policy."""
    grid = grid_of(world.space, how.grid, bounds)
    count = len(world.space.actions)
    policy = None if agent.policy == "greedy" else jnp.full((count, grid.count), 1 / count)
    q, v = [], []
    for goal in range(goals):
        nodes = how.quadrature or NODES
        exact = exact_values(grid, world.dynamics, agent.goals, goal, policy, agent.discount, count, nodes=nodes)
        worth = exact.max(axis=0) if policy is None else exact.mean(axis=0)
        q.append(np.stack([np.asarray(_interpolate(grid, each, states)) for each in exact]))
        v.append(np.asarray(_interpolate(grid, worth, states)))
    return {"exact/q": np.stack(q), "exact/v": np.stack(v)}


def outcomes(
    view: AgentView, space: ContinuousSpace, sides: Mapping[str, Dynamics], states: Array, goals: int
) -> Arrays:
    """Of each side the mean displacement [A, d, P], and what its next states leave of Q: Q - E M, [G, A, P].

    The model's displacement is stored as its distance from the truth, `error`, where there is a truth: a page keeps
    few digits, and they are needed there.
    """
    controls = jnp.asarray(space.control_values, jnp.float32) if space.in_box else jnp.arange(len(space.actions))
    q = np.asarray(_own_values(view, states)[0])  # [P, G, A]
    moves: Arrays = {}
    arrays: Arrays = {}
    for name, dynamics in sides.items():
        draws = DRAWS if dynamics.noise else 1
        keys = jax.random.split(jax_key(0, "draws of what is explored"), draws)
        parts = [_outcome(view, space, dynamics, states, action, keys) for action in controls]
        moves[name] = np.stack([np.asarray(move).T for move, _ in parts])
        backup = np.stack([np.asarray(worth) for _, worth in parts], axis=-1)  # [P, G, A]
        arrays[f"td/{name}"] = np.moveaxis(q - backup, 0, -1)[:goals]
    if "truth" in moves:
        arrays["move/truth"] = moves["truth"]
    if "model" in moves:
        truth = moves.get("truth")
        arrays |= {"move/model": moves["model"]} if truth is None else {"move/error": gap(space, moves["model"], truth)}
    if moves:
        first = next(iter(moves.values()))
        arrays["usual"] = first.std(axis=(0, 2))  # [d] how much moves differ: what sizes of moves are measured by
    return arrays


def gap(space: ContinuousSpace, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The difference of displacements [A, d, P], the short way round on circles."""
    return np.moveaxis(space.difference(np.moveaxis(left, 1, -1), np.moveaxis(right, 1, -1)), -1, 1)


@partial(jax.jit, static_argnames="space")
def _outcome(
    view: ContinuousView, space: ContinuousSpace, dynamics: Dynamics, states: Array, action: Array, keys: Array
) -> tuple[Array, Array]:
    """Mean displacement [P, d] and mean M(s', g) [P, G] of one action; every state meets the same chance."""

    def at(state: Array) -> tuple[Array, Array]:
        def drawn(key: Array) -> tuple[Array, Array]:
            after = dynamics.draw(key, state[None], action[None])
            return space.difference(after, state[None], jnp)[0], view.backup(after, view.all_goals(1))[0]

        move, worth = jax.lax.map(drawn, keys)
        return move.mean(axis=0), worth.mean(axis=0)

    return map_in_batches(at, states, BATCH)


def ways(view: AgentView, sides: Mapping[str, Dynamics], grid: ExplorerGrid, goals: int, horizon: int) -> Arrays:
    """The agent's own policy followed from starts [S, d] on each side: knots [G, S, T, v] and steps [G, S].

    `steps_between` are the steps from one knot to the next; the last knot is where the way ends.
    """
    starts, length = grid.states(grid.starts), min(STEPS, horizon)
    key = jax_key(0, "chance on ways that are explored")
    between = math.ceil(length / KNOTS)
    picked = np.minimum(np.arange(math.ceil(length / between) + 1) * between, length)
    arrays: Arrays = {"starts": starts, "steps_between": np.array(between), "horizon": np.array(length)}
    for name, dynamics in sides.items():
        found = [follow_values(view, dynamics, starts, goal, length, key) for goal in range(goals)]
        knots = np.stack([way.states[picked][..., list(grid.columns)] for way in found])  # [G, T, S, v]
        arrays[f"way/{name}"] = np.swapaxes(knots, 1, 2)
        arrays[f"steps/{name}"] = np.stack([way.steps for way in found])
    return arrays


def visits_over(counts: np.ndarray | None, grid: ExplorerGrid) -> Arrays:
    """Shares of the agent's steps in bins along the chosen variables, where an agent learnt and all were counted."""
    if counts is None or any(column >= counts.ndim for column in grid.columns):
        return {}
    others = tuple(axis for axis in range(counts.ndim) if axis not in grid.columns)
    shares = counts.sum(axis=others) / max(1, counts.sum())
    return {"visits": np.transpose(shares, [sorted(grid.columns).index(column) for column in grid.columns])}
