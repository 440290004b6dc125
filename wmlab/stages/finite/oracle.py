"""oracle: the best that can be done for an unseen goal, planned in the true world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.finite.context import starts_of
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.finite.plan import solve
from wmlab.stages.finite.records import world_of
from wmlab.stages.params import PlanParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(PlanParams, params)
    world = world_of(asked.mdp, asked.seed, asked.files)
    best = solve(asked, world.kernel, world, starts_of(asked.starts, world), world.space)
    return Result({"value": best.value, "path": best.path, "start": best.start}, {"r_star": best.attained})
