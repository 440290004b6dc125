"""regress: a model of the transitions that a training kept, for the extracted one to be seen beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.continuous.regression import regress
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import below, evaluated_bytes, load_agent, log_of, store_model, view_for
from wmlab.stages.params import ExtractParams, hooks_of


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int:
    """Bytes that asking the agent for all of its values takes."""
    return evaluated_bytes(build(ExtractParams, params), inputs)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(ExtractParams, params)
    options, stored = asked.extract.options, inputs["agent"]
    view = view_for(options, load_agent(stored, asked.mdp.space), log=log_of(asked, stored))
    return store_model(regress(view, below(stored.arrays, "transitions/"), options, asked.seed, **hooks_of(context)))
