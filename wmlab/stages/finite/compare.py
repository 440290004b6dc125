"""compare: the distance between the models of two agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.finite.context import FinitePair
from wmlab.registry import truth_is_known
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_kernel, space_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    model, other = load_kernel(inputs["model"]), load_kernel(inputs["other"])
    pair = FinitePair(model, other, space_of(params["mdp"]), params["compare"])
    return Result({}, {"metrics": measure("compare", "finite", pair, truth=truth_is_known(params["mdp"]))})
