"""look: what a report draws of an agent and its model: values, displacements and ways, over two variables.

Shapes: m points along a variable, k arrows along one, S starts, T steps, d variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from wmlab.core.continuous.controls import named_actions
from wmlab.core.continuous.dynamics import ContinuousWorld, Dynamics
from wmlab.core.continuous.grid import grid_of, interpolate
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import map_in_chunks
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.moves import moves
from wmlab.measure.continuous.rollouts import follow_values
from wmlab.measure.continuous.states import Slice, slice_of, states_of
from wmlab.measure.continuous.value_error import exact_values
from wmlab.planning.continuous.solver import NODES
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.sections.experiment import Look
from wmlab.stages.continuous.records import Agent, known_world, load_agent, load_model
from wmlab.stages.params import LookParams

POINTS = 61  # along a variable, of what is drawn in colours
ARROWS = 13
STEPS = 200  # of a way, at most
DRAWS = 64  # of next states, where a model or the world is stochastic
Arrays = dict[str, np.ndarray]

_interpolate = jax.jit(interpolate, static_argnums=0)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(LookParams, params)
    look, space, world = asked.look, asked.mdp.space, known_world(asked)
    agent = load_agent(inputs["agent"], space)
    models = {
        name.removeprefix("other "): load_model(stored, space) for name, stored in inputs.items() if name != "agent"
    }
    place = slice_of(space, look.across, look.at)
    arrays = values(agent, world, place, asked)
    name, action = drawn_action(space, look)
    arrays |= displacements(space, world, models, place, action)
    arrays |= ways(agent.view(), space, world, models["model"], place, look)
    data = {
        "across": list(place.across),
        "fixed": place.fixed,
        "ranges": [list(pair) for pair in place.ranges],
        "goal": agent.labels[look.goal],
        "action": name,
        "others": [name for name in models if name != "model"],
    }
    return Result({name: array.astype(np.float32) for name, array in arrays.items()}, data)


def values(agent: Agent, world: ContinuousWorld | None, place: Slice, asked: LookParams) -> Arrays:
    """The agent's V [m, m] for one goal, and the exact one where the spec asks for exact values at all."""
    states, shape, goal = place.states(POINTS), (POINTS, POINTS), asked.look.goal
    drawn = {"value": np.asarray(_worth(agent.view(), states, jnp.int32(goal))).reshape(shape)}
    how = asked.evaluate.value_error
    if world is None or how is None:
        return drawn
    grid = grid_of(world.space, how.grid, asked.bounds)
    count = len(world.space.actions)
    policy = None if agent.policy == "greedy" else jnp.full((count, grid.count), 1 / count)
    nodes = how.quadrature or NODES
    q = exact_values(grid, world.dynamics, agent.goals, goal, policy, agent.discount, count, nodes=nodes)
    best = q.max(axis=0) if policy is None else q.mean(axis=0)
    return drawn | {"exact": np.asarray(_interpolate(grid, best, states)).reshape(shape)}


@jax.jit
def _worth(view: ContinuousView, states: jax.Array, goal: jax.Array) -> jax.Array:
    return map_in_chunks(lambda part: view.worth_at(part, jnp.full((part.shape[0], 1), goal)), states)


def drawn_action(space: ContinuousSpace, look: Look) -> tuple[str, int | np.ndarray]:
    """The action whose displacements are drawn: its name, and its number or its components [k]."""
    if space.in_box:
        highest = np.array([high for _, high in space.control_ranges], np.float32)
        return named_actions(space.controls, highest[None])[0], highest
    action = len(space.actions) - 1 if look.action is None else space.actions.index(look.action)
    return space.actions[action], action


def displacements(
    space: ContinuousSpace,
    world: ContinuousWorld | None,
    models: Mapping[str, Dynamics],
    place: Slice,
    action: int | np.ndarray,
) -> Arrays:
    """Mean displacements of the two variables under one action: in colours [m, m, 2], and as arrows [k, k, 2]."""
    drawn: Arrays = {}
    key = jax_key(0, "draws of what is drawn")
    for what, points in (("change", POINTS), ("arrow", ARROWS)):
        states = place.states(points)
        taken = jnp.int32(action) if isinstance(action, int) else jnp.tile(action, (len(states), 1))
        for name, model in models.items():
            truth = world.dynamics if world is not None else model
            pair = moves(space, truth, model, states, taken, key, DRAWS)[:2]
            true, guess = (np.asarray(part)[:, place.columns].reshape(points, points, 2) for part in pair)
            drawn |= {f"{what}/{name}": guess} | ({f"{what}/truth": true} if world is not None else {})
    return drawn


def ways(
    view: ContinuousView,
    space: ContinuousSpace,
    world: ContinuousWorld | None,
    model: Dynamics,
    place: Slice,
    look: Look,
) -> Arrays:
    """The agent's own policy, followed from the same starts in the world and in its model: [T + 1, S, 2]."""
    starts = states_of(look.starts, space, look.starts, "starts of ways that are drawn")
    horizon = min(STEPS, world.horizon) if world is not None and world.horizon is not None else STEPS
    key = jax_key(0, "chance on ways that are drawn")
    drawn: Arrays = {}
    for name, dynamics in (("world", None if world is None else world.dynamics), ("model", model)):
        if dynamics is not None:
            way = follow_values(view, dynamics, starts, look.goal, horizon, key)
            drawn |= {f"way/{name}": way.states[..., place.columns], f"steps/{name}": way.steps}
    return drawn
