"""measure: the model and the values against the truth, and the fit, which needs none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.finite.context import FiniteContext
from wmlab.measure.finite.yardsticks import yardsticks
from wmlab.registry import build
from wmlab.registry.metrics import Measured, measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import known_world, load_kernel, load_view, row_labels
from wmlab.stages.params import MeasureParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(MeasureParams, params)
    view = load_view(inputs["agent"], asked.mdp.space)
    model = load_kernel(inputs["model"]) if "model" in inputs else None
    world = known_world(asked)
    measured = FiniteContext(view, model, world, asked.evaluate, row_labels(inputs["agent"], view))
    arrays = {}
    if world is not None and model is not None and asked.evaluate.model_error is not None:
        arrays["tv"] = measured.differences[1] / 2  # [S, A]: where the model is wrong
    notes = inputs["model"].data["notes"] if "model" in inputs else {}
    data = {"metrics": values_of(measured), "yardsticks": yardsticks(measured), "extraction": notes}
    return Result(arrays, data)


def values_of(measured: FiniteContext) -> Measured:
    """The metrics that a spec asks for, of one agent and its model."""
    truth, model = measured.world is not None, measured.model is not None
    return measure("measure", "finite", measured, {"evaluate": measured.asked}, truth=truth, model=model)
