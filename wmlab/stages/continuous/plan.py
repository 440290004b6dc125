"""plan: a policy for an unseen goal, planned in the extracted model and followed in the true world.

Shapes: N grid points, S starts, T steps, d variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.continuous.dynamics import ContinuousWorld, Dynamics
from wmlab.core.continuous.goals import unseen_task
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.states import STARTS, states_of
from wmlab.measure.plans import PlanContext
from wmlab.planning.grid_value_iteration import GridSolution
from wmlab.registry import solvers
from wmlab.registry.metrics import Measured, measure
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import load_model, space_of, world_of

MOST = 500_000  # grid points whose values are kept; finer grids can be solved again


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    space = space_of(params["mdp"])
    model = load_model(inputs["model"], space)
    if "oracle" not in inputs:  # no truth to act in: what the model promises is all that can be said
        found = solve(params, model, None, space)
        metrics = values_of(PlanContext(found.believed))
    else:
        found, metrics = plan(params, model, world_of(params["mdp"], params.get("seed", 0)), inputs["oracle"])
    return Result(kept(found), {"metrics": metrics, "shape": list(found.shape)})


def plan(
    params: Mapping[str, Any], model: Dynamics, world: ContinuousWorld, oracle: Result
) -> tuple[GridSolution, Measured]:
    """The plan for one unseen goal, and what it attains beside what can be attained."""
    found = solve(params, model, world, world.space)
    return found, values_of(PlanContext(found.believed, found.attained, oracle.data["r_star"]))


def values_of(planned: PlanContext) -> Measured:
    return measure("plan", "continuous", planned, truth=planned.best is not None)


def solve(
    params: Mapping[str, Any], model: Dynamics, world: ContinuousWorld | None, space: ContinuousSpace
) -> GridSolution:
    """Plan in a model and act in the world; oracle and plans start from the same states, whatever the seed."""
    solver = solvers[params["solver"]["kind"]]
    starts = states_of(params["starts"], space, STARTS, "starts for unseen goals")
    task, key = unseen_task(params["goal"], space), jax_key(0, "chance on the way to unseen goals")
    options = solver.build(params["solver"])
    found: GridSolution = solver.run(
        options, model, world, task, starts, space=space, discount=params["discount"], key=key
    )
    return found


def kept(found: GridSolution) -> dict[str, np.ndarray]:
    """What is stored of a plan: returns, the way from the first start, and values where the grid is not too fine."""
    arrays = {"returns": found.returns, "path": found.path} if found.path.size else {}
    if found.value.size <= MOST:
        arrays["value"] = found.value.astype(np.float32).reshape(found.shape)
    return arrays
