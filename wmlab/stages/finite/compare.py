"""compare: the distance between the models of two agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.finite.errors import model_error
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_kernel, space_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    one, other = load_kernel(inputs["model"]), load_kernel(inputs["other"])
    distance = params["compare"]["distance"]
    found = model_error(other, one, space_of(params["mdp"]))[f"wm.{distance}"]
    return Result({}, {"metrics": {distance: found}})
