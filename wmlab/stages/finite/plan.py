"""plan: a policy for an unseen goal, planned in the extracted model and followed in the true world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.world import FiniteWorld
from wmlab.measure.finite.context import starts_of
from wmlab.measure.plans import PlanContext
from wmlab.planning.value_iteration import FiniteSolution
from wmlab.registry import solvers
from wmlab.registry.metrics import Measured, measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import declared_starts, load_kernel, space_of, task_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    model = load_kernel(inputs["model"])
    if "oracle" not in inputs:  # no truth to act in: what the model promises is all that can be said
        solver = solvers[params["solver"]["kind"]]
        space = space_of(params["mdp"])
        task = task_of(params, space)
        starts = declared_starts(params["starts"], params["mdp"])
        options, discount = solver.build(params["solver"]), params["discount"]
        found = solver.run(options, model, None, task, starts, space=space, discount=discount)
        return Result({"value": found.value}, {"metrics": values_of(PlanContext(found.believed))})
    found, metrics = plan(params, model, world_of(params["mdp"], params.get("seed", 0)), inputs["oracle"])
    return Result({"value": found.value, "path": found.path}, {"metrics": metrics})


def plan(
    params: Mapping[str, Any], model: Kernel, world: FiniteWorld, oracle: Result
) -> tuple[FiniteSolution, Measured]:
    """The plan for one unseen goal, and what it attains beside what can be attained."""
    solver = solvers[params["solver"]["kind"]]
    task, start = task_of(params, world.space), int(oracle.arrays["start"])
    starts = starts_of(params["starts"], world)
    options, discount = solver.build(params["solver"]), params["discount"]
    found: FiniteSolution = solver.run(
        options, model, world, task, starts, space=world.space, discount=discount, start=start
    )
    return found, values_of(PlanContext(found.believed, found.attained, oracle.data["r_star"]))


def values_of(planned: PlanContext) -> Measured:
    return measure("plan", "finite", planned, truth=planned.best is not None)
