"""baseline: what is attained on an unseen goal without the extracted model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.core.continuous.goals import unseen_task
from wmlab.measure.baselines import BaselineContext
from wmlab.measure.continuous.combination import combined
from wmlab.measure.continuous.states import STARTS, states_of
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.continuous.plan import planned_bytes, solve
from wmlab.stages.continuous.records import load_agent, load_model, world_of
from wmlab.stages.params import BaselineParams


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int | None:
    """Bytes that planning in the model of the data takes; None where no plan is made."""
    return planned_bytes(build(BaselineParams, params), inputs) if "model" in inputs else None


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(BaselineParams, params)
    world = world_of(asked.mdp, asked.seed)
    regressed = acted = None
    if "model" in inputs:
        regressed = solve(asked, load_model(inputs["model"], world.space), world, world.space).attained
    if asked.combination:
        starts = states_of(asked.starts, world.space, STARTS, "starts for unseen goals")
        view = load_agent(inputs["agent"], world.space).view()
        acted = combined(view, world, unseen_task(asked.goal, world.space), asked.discount, starts)
    found = BaselineContext(regressed, acted)
    weights = {} if acted is None else {"weights": acted.weights}
    return Result(weights, {"metrics": measure("baseline", "continuous", found, truth=True)})
