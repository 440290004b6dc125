"""Exact values of a continuous world, in the place of a training."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.points import goal_points
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    """Values that are computed instead of learnt: the same for every seed, and of no checkpoint but the last."""
    from wmlab.agents.exact import Options
    from wmlab.agents.exact.continuous import make_values
    from wmlab.registry import agents

    options: Options = agents["exact"].build(params["agent"])
    world = world_of(params["mdp"], params.get("seed", 0))
    grid, q = make_values(options, world, continuous_goals(params["goals"], world.space))
    labels = list(goal_points(params["goals"], world.space).labels)
    data = {"goals": labels, "steps": [], "agent": params["agent"], "asked": params["goals"]}
    return Result({"q": q}, data | {"grid": dataclasses.asdict(grid)})
