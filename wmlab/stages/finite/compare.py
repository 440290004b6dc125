"""compare: the distance between the models of two agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.finite.context import FinitePair
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_kernel
from wmlab.stages.params import CompareParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(CompareParams, params)
    model, other = load_kernel(inputs["model"]), load_kernel(inputs["other"])
    pair = FinitePair(model, other, asked.mdp.space, asked.compare)
    return Result({}, {"metrics": measure("compare", "finite", pair, truth=asked.mdp.knows_truth)})
