"""measure: the model and the values against the truth, and the fit, which needs none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.evaluate.finite import agent_return, fit, model_error, value_error
from wmlab.runtime.result import Result
from wmlab.stages.finite import load_kernel, load_view, space_of, starts_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = params["evaluate"]
    view = load_view(inputs["agent"], space_of(params["mdp"]))
    goals = inputs["agent"].data["goals"]
    labels = goals if len(goals) == view.rows else None  # several discounts or policies have no one name per row
    metrics: dict[str, Any] = {}
    if "fit" in asked and "model" in inputs:
        metrics |= fit(view, load_kernel(inputs["model"]))
    if asked.keys() - {"fit"}:
        world = world_of(params["mdp"], params.get("seed", 0))
        if "model_error" in asked and "model" in inputs:
            metrics |= model_error(world.kernel, load_kernel(inputs["model"]), world.space)
        if "value_error" in asked:
            metrics |= value_error(view, world.kernel, labels)
        if "return" in asked:
            metrics |= agent_return(view, world.kernel, starts_of(asked["return"]["starts"], world), labels)
    return Result({}, {"metrics": metrics})
