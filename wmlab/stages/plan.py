"""plan: a policy for an unseen goal, planned in the extracted model and followed in the true world."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wmlab.registry import solvers
from wmlab.runtime.result import Result
from wmlab.stages.finite import load_kernel, space_of, starts_of, task_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    model = load_kernel(inputs["model"])
    solver = solvers[params["solver"]["kind"]]
    options = solver.build(params["solver"])
    if "oracle" not in inputs:  # no truth to act in: what the model promises is all that can be said
        task = task_of(params, space_of(params["mdp"]))
        found = solver.run(options, model, None, task, None)
        return Result({"value": found.value}, {"metrics": {"r_believed": {"value": found.believed}}})
    world = world_of(params["mdp"], params.get("seed", 0))
    task = task_of(params, world.space)
    start = int(inputs["oracle"].arrays["start"])
    found = solver.run(options, model, world.kernel, task, starts_of(params["starts"], world), start)
    best = inputs["oracle"].data["r_star"]
    metrics = {
        "r_star": {"value": best},
        "r_wm": {"value": found.attained},
        "ratio": {"value": found.attained / best if best else math.nan},
        "r_believed": {"value": found.believed},
    }
    return Result({"value": found.value, "path": found.path}, {"metrics": metrics})
