"""plan: a policy for an unseen goal, planned in the extracted model and followed in the true world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.select import states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.measure.finite.context import starts_of
from wmlab.measure.plans import PlanContext
from wmlab.planning.finite.values import Tasks
from wmlab.planning.value_iteration import FiniteSolution
from wmlab.registry import build
from wmlab.registry.metrics import Measured, measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import declared_starts, load_kernel, world_of
from wmlab.stages.params import PlanParams, PlanTask


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(PlanParams, params)
    model = load_kernel(inputs["model"])
    if "oracle" not in inputs:  # no truth to act in: what the model promises is all that can be said
        solved = solve(asked, model, None, declared_starts(asked.starts, asked.mdp), asked.mdp.space)
        return Result({"value": solved.value}, {"metrics": values_of(PlanContext(solved.believed))})
    solved, metrics = plan(asked, model, world_of(asked.mdp, asked.seed, asked.files), inputs["oracle"])
    return Result({"value": solved.value, "path": solved.path}, {"metrics": metrics})


def plan(asked: PlanTask, model: Kernel, world: FiniteWorld, oracle: Result) -> tuple[FiniteSolution, Measured]:
    """The plan for one unseen goal, and what it attains beside what can be attained."""
    start = int(oracle.arrays["start"])
    solved = solve(asked, model, world, starts_of(asked.starts, world), world.space, start)
    return solved, values_of(PlanContext(solved.believed, solved.attained, oracle.data["r_star"]))


def solve(
    asked: PlanTask,
    model: Kernel,
    world: FiniteWorld | None,
    starts: np.ndarray | None,
    space: FiniteSpace,
    start: int | None = None,
) -> FiniteSolution:
    """Plan in a model and act in the world, where there is one; the way from `start` is drawn."""
    solver, fixed = asked.solver, {"space": space, "discount": asked.discount, "start": start}
    solved: FiniteSolution = solver.kind.run(solver.options, model, world, task_of(asked, space), starts, **fixed)
    return solved


def task_of(asked: PlanTask, space: FiniteSpace) -> Tasks:
    """What to reach and what to avoid."""
    goal = asked.goal
    reach = [state for target in goal.targets for state in states_of(target, space, ("reach",))]
    return Tasks.of(space.size, [reach], [states_of(goal.avoid, space, ("avoid",))], asked.discount)


def values_of(planned: PlanContext) -> Measured:
    return measure("plan", "finite", planned, truth=planned.best is not None)
