"""extract: a world model from an agent's view. The method gets the view and nothing of the world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import evaluated_bytes, load_agent, log_of, store_model, view_for
from wmlab.stages.params import ExtractParams, hooks_of


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int:
    """Bytes that asking the agent for all of its values takes."""
    return evaluated_bytes(build(ExtractParams, params), inputs)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(ExtractParams, params)
    method, agent = asked.extract, load_agent(inputs["agent"], asked.mdp.space)
    view = view_for(method.options, agent, log=log_of(asked, inputs["agent"]))
    return store_model(method.kind.run(view, method.options, asked.seed, **hooks_of(context)))
