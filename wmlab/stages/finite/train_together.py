"""train_together: the agents of several seeds in a finite world, trained in one program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.errors import StageError
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import goals_of, world_of
from wmlab.stages.finite.train import places_of, store_learned
from wmlab.stages.one_seed import pack
from wmlab.stages.params import TrainParams, hooks_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(TrainParams, params)
    agent, seeds = asked.agent, asked.seeds
    worlds = [world_of(asked.mdp, seed, asked.files) for seed in seeds]
    goals = [goals_of(asked.goals, world.space, seed) for world, seed in zip(worlds, seeds, strict=True)]
    at = places_of(asked.goals, worlds[0].space)
    assert agent.traits.together is not None  # else the agent's options have no `seeds: together`
    learnt = agent.traits.together(agent.options, worlds, goals, seeds, at=at, **hooks_of(context))
    results = [
        one if isinstance(one, StageError) else store_learned(one, aims, world, agent.options)
        for one, aims, world in zip(learnt, goals, worlds, strict=True)
    ]
    return pack(seeds, results)
