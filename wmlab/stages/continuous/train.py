"""train: an agent in a continuous world: trained, at each checkpoint; of exact values; or from elsewhere.

Shapes: G goals, A actions, N grid points, d variables.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wmlab.agents.external import Options
from wmlab.agents.external.checked import hold_network
from wmlab.agents.external.expect import chosen_tensor, network_shapes, part_shapes, table_shape
from wmlab.agents.external.options import ValuesFile
from wmlab.agents.external.parts import parts_of
from wmlab.agents.external.table import Arrays, in_order, order_of, read_weights, told
from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.grid import Grid
from wmlab.core.continuous.points import Points, goal_points
from wmlab.core.continuous.simulator import place_shape
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.errors import StageError
from wmlab.registry import as_data, build
from wmlab.runtime.result import Result
from wmlab.stages.array_files import read_arrays, read_small_arrays
from wmlab.stages.continuous.records import StoredAgent, aims_of, world_of
from wmlab.stages.params import TrainParams, hooks_of

if TYPE_CHECKING:
    from wmlab.agents.pqn.record import Trained


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(TrainParams, params)
    agent, seed = asked.agent, asked.seed
    if not agent.traits.acts:
        return read_agent(asked, asked.mdp.space)
    world = world_of(asked.mdp, seed)
    if agent.traits.learns:
        goals = aims_of(asked.goals, world.space, agent)
        trained = agent.kind.run(agent.options, world, goals, seed, **kept_of(asked), **hooks_of(context))
        return store_trained(trained, asked, world.space)
    # Values that are computed instead of learnt: the same for every seed, and of no checkpoint but the last.
    grid, q = agent.kind.run(agent.options, world, continuous_goals(asked.goals, world.space), seed)
    return stored({"q": q}, asked, world.space, grid=grid)


def kept_of(asked: TrainParams) -> dict[str, Any]:
    """What a training is to leave beside its values: weights of checkpoints, and transitions where they are wanted."""
    return {"keep": asked.keep} | ({"transitions": asked.transitions} if asked.transitions else {})


def store_trained(trained: Trained, asked: TrainParams, space: ContinuousSpace) -> Result:
    """A trained agent's weights, returns, curves and visits, with the goals and options that it carries along."""
    arrays = {
        "returns": trained.returns,
        "visits": trained.visits.reshape(place_shape(space)),
        **{f"curves/{name}": curve for name, curve in trained.curves.items()},
        **{f"transitions/{name}": array for name, array in trained.transitions.items()},
    }
    # The last stands under its own number, also where it is the only one whose weights were kept.
    first = len(trained.steps) - len(trained.checkpoints)
    for index, weights in enumerate(trained.checkpoints, first):
        arrays |= {f"checkpoints/{index}/{name}": array for name, array in weights.items()}
    return stored(arrays, asked, space, steps=tuple(trained.steps.tolist()))


def stored(arrays: dict[str, np.ndarray], asked: TrainParams, space: ContinuousSpace, **more: Any) -> Result:
    """An agent's arrays, and what there is to say of them."""
    labels = goal_points(asked.goals, space).labels
    return Result(arrays, as_data(StoredAgent(labels, asked.goals, asked.agent, **more)))


# --- an agent from elsewhere: its files are read here, and nowhere else ------------------------------------------


def read_agent(asked: TrainParams, space: ContinuousSpace) -> Result:
    """The values that an agent's file gives; nothing of the world is looked at but its variables and actions."""
    options: Options = asked.agent.options
    points = goal_points(asked.goals, space)
    if space.in_box:
        return read_critics(asked, space, options, points)
    arrays, order = read_arrays(options.q.file, asked.files), order_of(options.actions, space.actions)
    if options.q.network is None:
        theirs = dataclasses.replace(space, actions=options.actions or space.actions)  # messages name their actions
        q, grid = read_grid(options.q, arrays, theirs, points.labels)
        return stored({"q": np.ascontiguousarray(q[:, order])}, asked, space, grid=grid)
    network = options.q.network
    expected = network_shapes(network, space, points)
    weights = read_weights(options.q, network, arrays, expected, order)
    if options.check is not None:
        as_they_are = read_weights(options.q, network, arrays, expected, range(len(order)))
        check_probe(asked, space, options, as_they_are)
    named = {f"weights/{name}": array for name, array in weights.items()}
    return stored(named, asked, space, network=dataclasses.replace(network, tensors=None))


def read_critics(asked: TrainParams, space: ContinuousSpace, options: Options, points: Points) -> Result:
    """The same where actions are from a box: critics, and the actor or the V that goes with them."""
    assert options.q.network is not None
    weights: dict[str, np.ndarray] = {}
    for part in parts_of(options, space):
        arrays = read_arrays(part.file, asked.files)
        weights |= read_weights(part, part.network, arrays, part_shapes(part, space, points), range(part.outputs))
    if options.check is not None:
        check_probe(asked, space, options, weights)
    named = {f"weights/{name}": array for name, array in weights.items()}
    return stored(named, asked, space, network=options.q.network.form)


def check_probe(asked: TrainParams, space: ContinuousSpace, options: Options, weights: dict[str, np.ndarray]) -> None:
    """StageError where networks, their outputs in the file's order, do not give the values of their own library."""
    check, network = options.check, options.q.network
    assert check is not None and network is not None
    points, probe = goal_points(asked.goals, space), read_small_arrays(check.file, asked.files)
    ends = None
    if network.output == "bounded":
        low, high = np.asarray(continuous_goals(asked.goals, space).value_range(options.discount))
        ends = (float(low), float(high))
    told(check.file, lambda: hold_network(options, weights, space, points, probe, ends))


def read_grid(
    q: ValuesFile, arrays: Arrays, space: ContinuousSpace, labels: tuple[str, ...]
) -> tuple[np.ndarray, Grid]:
    """Q [G, A, N], and the grid that its last axis runs over."""
    if q.axes is None:
        raise StageError(f"{q.file}: a table over variables needs declared axes")
    name = told(q.file, lambda: chosen_tensor(q.tensor, {each: array.shape for each, array in arrays.items()}))
    told(q.file, lambda: table_shape(q, arrays[name].shape, space, len(labels)))
    table = in_order(np.asarray(arrays[name], np.float32), q.axes, ("goal", "action", *space.names))
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        place = f"{labels[bad[0][0]]}, {space.actions[bad[0][1]]}, point {bad[0][2:].tolist()}"
        raise StageError(f"{q.file}: the value at {place} is {table[tuple(bad[0])]}")
    ends = [q.grid.get(variable.name, (variable.low, variable.high)) for variable in space.variables]
    grid = Grid(
        shape=table.shape[2:],
        low=tuple(float(low) for low, _ in ends),
        high=tuple(float(high) for _, high in ends),
        periodic=tuple(variable.periodic for variable in space.variables),
    )
    return np.ascontiguousarray(table.reshape(*table.shape[:2], -1)), grid
