"""oracle: the best that can be done for an unseen goal, planned in the true world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.finite.context import starts_of
from wmlab.registry import solvers
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import task_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    world = world_of(params["mdp"], params.get("seed", 0))
    task = task_of(params, world.space)
    solver = solvers[params["solver"]["kind"]]
    options, starts, discount = solver.build(params["solver"]), starts_of(params["starts"], world), params["discount"]
    found = solver.run(options, world.kernel, world, task, starts, space=world.space, discount=discount)
    return Result({"value": found.value, "path": found.path, "start": found.start}, {"r_star": found.attained})
