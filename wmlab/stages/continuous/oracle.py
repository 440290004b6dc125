"""oracle: the best that can be done for an unseen goal, planned in the true world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.continuous.plan import estimate as estimate  # a plan's, in the true world
from wmlab.stages.continuous.plan import kept, solve
from wmlab.stages.continuous.records import world_of
from wmlab.stages.params import PlanParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(PlanParams, params)
    world = world_of(asked.mdp, asked.seed)
    best = solve(asked, world.dynamics, world, world.space)
    return Result(kept(best), {"r_star": best.attained, "shape": list(best.shape)})
