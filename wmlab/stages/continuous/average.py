"""average: what the models of several agents predict on average, held against the values of the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.continuous.ensemble import joined
from wmlab.extraction.continuous.fit import conclude
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import evaluated_bytes, load_agent, load_model, log_of, store_model, view_for
from wmlab.stages.params import ExtractParams

COMMON = ("updates", "polish")  # notes that all extractions with the same options share


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int:
    """Bytes that asking the agent for all of its values takes."""
    return evaluated_bytes(build(ExtractParams, params), inputs)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(ExtractParams, params)
    space, models = asked.mdp.space, [stored for name, stored in inputs.items() if name != "agent"]
    view = view_for(asked.extract.options, load_agent(inputs["agent"], space), log=log_of(asked, inputs["agent"]))
    average = joined([load_model(one, space) for one in models], view.frame, view.actions)
    losses = np.mean([one.arrays["curve"] for one in models], axis=0)
    same = {name: value for name, value in models[0].data["notes"].items() if name in COMMON}
    notes = {**same, "agents": len(models), "members": average.size}
    return store_model(conclude(view, average, losses, asked.seed, notes))
