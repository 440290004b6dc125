"""train_together: the agents of several seeds in a continuous world, trained in one program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.errors import StageError
from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import aims_of, world_of
from wmlab.stages.continuous.train import store_trained
from wmlab.stages.hooks import hooks_of
from wmlab.stages.one_seed import pack


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    seeds, kind = params["seeds"], agents[params["agent"]["kind"]]
    options = kind.build(params["agent"])
    worlds = [world_of(params["mdp"], seed) for seed in seeds]
    goals = [aims_of(params["goals"], worlds[0].space, params["agent"])] * len(seeds)
    assert kind.traits.together is not None  # else the agent's options have no `seeds: together`
    keep = params.get("keep", "final")
    trained = kind.traits.together(options, worlds, goals, seeds, keep=keep, **hooks_of(context))
    results = [one if isinstance(one, StageError) else store_trained(one, params, worlds[0].space) for one in trained]
    return pack(seeds, results)
