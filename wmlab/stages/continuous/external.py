"""An agent from elsewhere in a continuous world: its files are read here, and nowhere else.

Shapes: G goals, A actions, N grid points, d variables.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.agents.external import Options
from wmlab.agents.external.expect import chosen_tensor, network_shapes, table_shape
from wmlab.agents.external.options import ValuesFile, plain
from wmlab.agents.external.table import in_order, order_of, read_weights, told
from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.errors import StageError
from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.stages.array_files import read_arrays


def read_agent(params: Mapping[str, Any], space: ContinuousSpace) -> Result:
    """The values that an agent's file gives; nothing of the world is looked at but its variables and actions."""
    agent = params["agent"]
    options: Options = agents[agent["kind"]].build(plain(dict(agent)))
    labels = goal_points(params["goals"], space).labels
    order = order_of(options.actions, space.actions)
    asked = {"discount": options.discount, "policy": options.policy}
    data = {"goals": list(labels), "agent": asked, "asked": params["goals"]}
    if options.q.network is None:
        theirs = dataclasses.replace(space, actions=options.actions or space.actions)  # messages name their actions
        q, grid = read_grid(options.q, read_arrays(agent["q"]), theirs, labels)
        return Result({"q": np.ascontiguousarray(q[:, order])}, data | {"grid": grid})
    network = options.q.network
    expected = network_shapes(network, space, goal_points(params["goals"], space))
    weights = read_weights(options.q, network, read_arrays(agent["q"]), expected, order)
    arrays = {f"weights/{name}": array for name, array in weights.items()}
    return Result(arrays, data | {"network": {**agent["q"]["network"], "tensors": None}})


def read_grid(
    q: ValuesFile, arrays: Mapping[str, np.ndarray], space: ContinuousSpace, labels: tuple[str, ...]
) -> tuple[np.ndarray, dict[str, Any]]:
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
    grid = {
        "shape": list(table.shape[2:]),
        "low": [float(low) for low, _ in ends],
        "high": [float(high) for _, high in ends],
        "periodic": [variable.periodic for variable in space.variables],
    }
    return np.ascontiguousarray(table.reshape(*table.shape[:2], -1)), grid
