"""compare: the distance between the models of two agents, and how far each is from the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.continuous.context import ContinuousPair
from wmlab.registry import truth_is_known
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import load_model, space_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    space = space_of(params["mdp"])
    world = world_of(params["mdp"], params.get("seed", 0)) if truth_is_known(params["mdp"]) else None
    model, other = (load_model(inputs[name], space) for name in ("model", "other"))
    pair = ContinuousPair(model, other, space, world, params["compare"])
    return Result({}, {"metrics": measure("compare", "continuous", pair, truth=world is not None)})
