"""Exact values of a continuous world, in the place of a training."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.points import goal_points
from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    """Values that are computed instead of learnt: the same for every seed, and of no checkpoint but the last."""
    kind, seed = agents[params["agent"]["kind"]], params.get("seed", 0)
    world = world_of(params["mdp"], seed)
    grid, q = kind.run(kind.build(params["agent"]), world, continuous_goals(params["goals"], world.space), seed)
    labels = list(goal_points(params["goals"], world.space).labels)
    data = {"goals": labels, "steps": [], "agent": params["agent"], "asked": params["goals"]}
    return Result({"q": q}, data | {"grid": dataclasses.asdict(grid)})
