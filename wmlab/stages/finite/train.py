"""train: an agent's values, in the world that the spec gives, in the one that it believes in, or from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import goals_of, store_view, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    seed = params.get("seed", 0)
    kind = agents[params["agent"]["kind"]]
    if not kind.traits.acts:
        from wmlab.stages.finite.external import read_agent

        return read_agent(params)
    options = kind.build(params["agent"])
    world = world_of(params["agent"].get("world") or params["mdp"], seed)
    goals = goals_of(params["goals"], world.space, seed)
    if kind.traits.learns:
        from wmlab.stages.finite.learn import learn

        return learn(kind, options, world, goals, params["goals"], seed, context)
    return store_view(kind.run(options, world, goals, seed), {"goals": list(goals.labels)})
