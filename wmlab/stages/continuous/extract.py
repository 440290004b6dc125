"""extract: a world model from an agent's view. The method gets the view and nothing of the world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.registry import extractions
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import load_agent, space_of, store_model, view_for
from wmlab.stages.hooks import hooks_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    kind = extractions[params["extract"]["kind"]]
    options = kind.build(params["extract"])
    agent = load_agent(inputs["agent"], space_of(params["mdp"]))
    seed = params.get("seed", 0)
    return store_model(kind.run(view_for(options, agent), options, seed, **hooks_of(context)))
