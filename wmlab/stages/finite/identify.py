"""identify: how much of the world the agent's values pin down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.extraction.options import Prior, candidates_of
from wmlab.measure.finite.identification import IdentificationContext
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_view, space_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked, space = params["identify"], space_of(params["mdp"])
    prior = build(Prior, params["prior"]) if params["prior"] else None
    view = load_view(inputs["agent"], space, candidates_of(prior, space))
    world = world_of(params["mdp"], params.get("seed", 0)) if asked["bounds"] else None
    evaluate, goals = {"identify": asked}, len(inputs["agent"].data["goals"])
    measured = IdentificationContext(view, world=world, asked=evaluate, goals=goals)
    data = {"evaluate": evaluate}
    metrics = measure("identify", "finite", measured, data, truth=world is not None, model=False)
    arrays = {}
    if "width" in asked:
        interval = measured.identified_set
        arrays = {"low": interval.low, "high": interval.high, "candidates": interval.candidates}
    return Result(arrays, {"metrics": metrics})
