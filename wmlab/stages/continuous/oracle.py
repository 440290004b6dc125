"""oracle: the best that can be done for an unseen goal, planned in the true world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.runtime.result import Result
from wmlab.stages.continuous.plan import kept, solve
from wmlab.stages.continuous.records import world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    world = world_of(params["mdp"], params.get("seed", 0))
    found = solve(params, world.dynamics, world, world.space)
    return Result(kept(found), {"r_star": found.attained, "shape": list(found.shape)})
