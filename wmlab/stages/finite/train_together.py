"""train_together: the agents of several seeds in a finite world, trained in one program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.errors import StageError
from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.stages.finite.learn import places_of, store_learned
from wmlab.stages.finite.records import goals_of, world_of
from wmlab.stages.hooks import hooks_of
from wmlab.stages.one_seed import pack


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    seeds, kind = params["seeds"], agents[params["agent"]["kind"]]
    options = kind.build(params["agent"])
    worlds = [world_of(params["mdp"], seed) for seed in seeds]
    goals = [goals_of(params["goals"], world.space, seed) for world, seed in zip(worlds, seeds, strict=True)]
    at = places_of(params["goals"], worlds[0].space)
    assert kind.traits.together is not None  # else the agent's options have no `seeds: together`
    learnt = kind.traits.together(options, worlds, goals, seeds, at=at, **hooks_of(context))
    results = [
        one if isinstance(one, StageError) else store_learned(one, aims, world, options)
        for one, aims, world in zip(learnt, goals, worlds, strict=True)
    ]
    return pack(seeds, results)
