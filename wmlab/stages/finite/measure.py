"""measure: the model and the values against the truth, and the fit, which needs none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.measure.finite.errors import agent_return, differences, fit, model_error, value_error
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_kernel, load_view, row_labels, space_of, starts_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = params["evaluate"]
    view = load_view(inputs["agent"], space_of(params["mdp"]))
    model = load_kernel(inputs["model"]) if "model" in inputs else None
    world = world_of(params["mdp"], params.get("seed", 0)) if asked.keys() - {"fit"} else None
    metrics = measure(asked, view, model, world, row_labels(inputs["agent"], view))
    arrays = {}
    if world is not None and model is not None and "model_error" in asked:
        arrays["tv"] = differences(world.kernel, model)[1] / 2  # [S, A]: where the model is wrong
    misfit = inputs["model"].data["notes"].get("misfit") if "model" in inputs else None
    return Result(arrays, {"metrics": metrics, "misfit": misfit})


def measure(
    asked: Mapping[str, Any],
    view: FiniteView,
    model: Kernel | None,
    world: FiniteWorld | None,
    labels: list[str] | None,
) -> dict[str, Any]:
    """The metrics that a spec asks for, of one agent and its model."""
    metrics: dict[str, Any] = {}
    if "fit" in asked and model is not None:
        metrics |= fit(view, model)
    if world is None:
        return metrics
    if "model_error" in asked and model is not None:
        metrics |= model_error(world.kernel, model, world.space)
    if "value_error" in asked:
        metrics |= value_error(view, world.kernel, labels)
    if "return" in asked:
        metrics |= agent_return(view, world.kernel, starts_of(asked["return"]["starts"], world), labels)
    return metrics
