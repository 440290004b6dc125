"""compare: the distance between the models of two agents, and how far each is from the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.continuous.context import ContinuousPair
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import known_world, load_model
from wmlab.stages.params import CompareParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(CompareParams, params)
    space, world = asked.mdp.space, known_world(asked)
    model, other = (load_model(inputs[name], space) for name in ("model", "other"))
    pair = ContinuousPair(model, other, space, world, asked.compare)
    return Result({}, {"metrics": measure("compare", "continuous", pair, truth=world is not None)})
