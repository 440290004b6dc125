"""measure: the model and the values against the truth, and the fit, which needs none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.finite.context import FiniteContext
from wmlab.registry import truth_is_known
from wmlab.registry.metrics import Measured, measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_kernel, load_view, row_labels, space_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = params["evaluate"]
    view = load_view(inputs["agent"], space_of(params["mdp"]))
    model = load_kernel(inputs["model"]) if "model" in inputs else None
    world = world_of(params["mdp"], params.get("seed", 0)) if truth_is_known(params["mdp"]) else None
    measured = FiniteContext(view, model, world, asked, row_labels(inputs["agent"], view))
    arrays = {}
    if world is not None and model is not None and "model_error" in asked:
        arrays["tv"] = measured.differences[1] / 2  # [S, A]: where the model is wrong
    misfit = inputs["model"].data["notes"].get("misfit") if "model" in inputs else None
    return Result(arrays, {"metrics": values_of(measured), "misfit": misfit})


def values_of(measured: FiniteContext) -> Measured:
    """The metrics that a spec asks for, of one agent and its model."""
    truth, model = measured.world is not None, measured.model is not None
    return measure("measure", "finite", measured, {"evaluate": measured.asked}, truth=truth, model=model)
