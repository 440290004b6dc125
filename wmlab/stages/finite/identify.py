"""identify: how much of the world the agent's values pin down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.extraction.options import candidates_of
from wmlab.measure.finite.identification import IdentificationContext
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.sections.experiment import Evaluate
from wmlab.stages.finite.records import load_view, world_of
from wmlab.stages.params import IdentifyParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(IdentifyParams, params)
    evaluate, agent = Evaluate(identify=asked.identify), inputs["agent"]
    view = load_view(agent, asked.mdp.space, candidates_of(asked.prior, asked.mdp.space))
    world = world_of(asked.mdp, asked.seed, asked.files) if asked.identify.bounds else None
    measured = IdentificationContext(view, world=world, asked=evaluate, goals=len(agent.data["goals"]))
    sections = {"evaluate": evaluate}
    metrics = measure("identify", "finite", measured, sections, truth=world is not None, model=False)
    arrays = {}
    if asked.identify.width is not None:
        interval = measured.identified_set
        arrays = {"low": interval.low, "high": interval.high, "candidates": interval.candidates}
    return Result(arrays, {"metrics": metrics})
