"""plan: a policy for an unseen goal, planned in the extracted model and followed in the true world."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.world import FiniteWorld
from wmlab.planning.value_iteration import Solved
from wmlab.registry import solvers
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import declared_starts, load_kernel, space_of, starts_of, task_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    model = load_kernel(inputs["model"])
    if "oracle" not in inputs:  # no truth to act in: what the model promises is all that can be said
        solver = solvers[params["solver"]["kind"]]
        space = space_of(params["mdp"])
        task = task_of(params, space)
        starts = declared_starts(params["starts"], params["mdp"])
        options, discount = solver.build(params["solver"]), params["discount"]
        found = solver.run(options, model, None, task, starts, space=space, discount=discount)
        return Result({"value": found.value}, {"metrics": {"r_believed": {"value": found.believed}}})
    found, metrics = plan(params, model, world_of(params["mdp"], params.get("seed", 0)), inputs["oracle"])
    return Result({"value": found.value, "path": found.path}, {"metrics": metrics})


def plan(
    params: Mapping[str, Any], model: Kernel, world: FiniteWorld, oracle: Result
) -> tuple[Solved, dict[str, dict[str, float]]]:
    """The plan for one unseen goal, and what it attains beside what can be attained."""
    solver = solvers[params["solver"]["kind"]]
    task, start = task_of(params, world.space), int(oracle.arrays["start"])
    starts = starts_of(params["starts"], world)
    options, discount = solver.build(params["solver"]), params["discount"]
    found: Solved = solver.run(options, model, world, task, starts, space=world.space, discount=discount, start=start)
    best = oracle.data["r_star"]
    return found, {
        "r_star": {"value": best},
        "r_wm": {"value": found.attained},
        "ratio": {"value": found.attained / best if best else math.nan},
        "r_believed": {"value": found.believed},
    }
