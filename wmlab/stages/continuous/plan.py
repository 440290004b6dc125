"""plan: a policy for an unseen goal, planned in the extracted model and followed in the true world.

Shapes: N grid points, S starts, T steps, d variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.continuous.dynamics import ContinuousWorld, Dynamics
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.goals import unseen_task
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.states import STARTS, states_of
from wmlab.measure.plans import PlanContext
from wmlab.planning.grid_value_iteration import (
    GridSolution,
    Options,
    planning_bytes,
    points_of,
    tables_of,
    with_lattice,
)
from wmlab.registry import build
from wmlab.registry.metrics import Measured, measure
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import load_model, world_of
from wmlab.stages.params import PlanParams, PlanTask

MOST = 500_000  # grid points whose values are kept; finer grids can be solved again


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int | None:
    """Bytes that planning takes, as the check of the spec counts them; None where its solver does not say."""
    return planned_bytes(build(PlanParams, params), inputs)


def planned_bytes(asked: PlanParams, inputs: Mapping[str, Result]) -> int | None:
    options, mdp = asked.solver.options, asked.mdp
    if not isinstance(options, Options):
        return None
    outcomes = mdp.traits.outcomes(mdp.options, options.quadrature)
    if "model" in inputs:
        model = load_model(inputs["model"], mdp.space)
        tables = tables_of(options, model.size if isinstance(model, Ensemble) else 1)
        outcomes = max(outcomes, tables * options.quadrature**model.noise)
    space = with_lattice(options, mdp.space)
    return planning_bytes(points_of(options.grid, space), space.size, len(space.actions), outcomes)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(PlanParams, params)
    space = asked.mdp.space
    model = load_model(inputs["model"], space)
    oracle = inputs.get("oracle")
    if oracle is None:  # no truth to act in: what the model promises is all that can be said
        solved = solve(asked, model, None, space)
        metrics = values_of(PlanContext(solved.believed))
    else:
        solved, metrics = plan(asked, model, world_of(asked.mdp, asked.seed), oracle)
    coarser = None if oracle is None else oracle.data["coarser"]
    return Result(kept(solved), {"metrics": metrics, "shape": list(solved.shape), "coarser": coarser})


def plan(asked: PlanTask, model: Dynamics, world: ContinuousWorld, oracle: Result) -> tuple[GridSolution, Measured]:
    """The plan for one unseen goal, and what it attains beside what can be attained."""
    solved = solve(asked, model, world, world.space)
    known = (oracle.data["r_star"], oracle.data.get("free_peaks", {}))
    return solved, values_of(PlanContext(solved.believed, solved.attained, *known))


def values_of(planned: PlanContext) -> Measured:
    return measure("plan", "continuous", planned, truth=planned.best is not None)


def solve(asked: PlanTask, model: Dynamics, world: ContinuousWorld | None, space: ContinuousSpace) -> GridSolution:
    """Plan in a model and act in the world; oracle and plans start from the same states, whatever the seed."""
    starts = states_of(asked.starts, space, STARTS, "starts for unseen goals")
    task, key = unseen_task(asked.goal, space), jax_key(0, "chance on the way to unseen goals")
    solve_with, options, discount = asked.solver.kind.run, asked.solver.options, asked.discount
    solved: GridSolution = solve_with(options, model, world, task, starts, space=space, discount=discount, key=key)
    return solved


def kept(solved: GridSolution) -> dict[str, np.ndarray]:
    """What is stored of a plan: returns, the way from the first start, and values where the grid is not too fine."""
    arrays = {"returns": solved.returns, "path": solved.path} if solved.path.size else {}
    if 0 < solved.value.size <= MOST:
        arrays["value"] = solved.value.astype(np.float32).reshape(solved.shape)
    return arrays
