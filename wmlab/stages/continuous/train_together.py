"""train_together: the agents of several seeds in a continuous world, trained in one program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.errors import StageError
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import aims_of, world_of
from wmlab.stages.continuous.train import kept_of, store_trained
from wmlab.stages.one_seed import pack
from wmlab.stages.params import TrainParams, hooks_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(TrainParams, params)
    agent, seeds = asked.agent, asked.seeds
    worlds = [world_of(asked.mdp, seed) for seed in seeds]
    space = worlds[0].space
    goals = [aims_of(asked.goals, space, agent)] * len(seeds)
    assert agent.traits.together is not None  # else the agent's options have no `seeds: together`
    trained = agent.traits.together(agent.options, worlds, goals, seeds, **kept_of(asked), **hooks_of(context))
    return pack(seeds, [one if isinstance(one, StageError) else store_trained(one, asked, space) for one in trained])
