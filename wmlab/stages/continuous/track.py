"""track: extraction and measurement at every checkpoint of a training, as curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.core.continuous.log import Log
from wmlab.measure.continuous.context import Fitted
from wmlab.registry import build
from wmlab.registry.metrics import Measured, prefix
from wmlab.runtime.result import Result
from wmlab.stages.continuous.measure import context_of, values_of
from wmlab.stages.continuous.plan import plan
from wmlab.stages.continuous.records import Agent, TrainedAgent, load_agent, log_of, view_for, world_of
from wmlab.stages.params import TrackParams

Curves = dict[str, list[Any]]


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(TrackParams, params)
    world = world_of(asked.mdp, asked.seed)
    agent = load_agent(inputs["agent"], world.space)
    partial = context.partial.load()
    curves: Curves = {} if partial is None else {name: list(curve) for name, curve in partial.data["curves"].items()}
    assert isinstance(agent, TrainedAgent)  # values that are not learnt have no checkpoints
    total, log = len(agent.checkpoints), log_of(asked, inputs["agent"])
    for done in range(0 if partial is None else int(partial.data["done"]), total):
        context.progress(done, total)
        for name, metric in at_checkpoint(asked, inputs, agent, world, done, log).items():
            curves.setdefault(name, []).append(metric["value"])
        if done + 1 < total:
            context.partial.save(Result({}, {"curves": curves, "done": done + 1}))
    return Result({}, {"curves": curves})


def at_checkpoint(
    asked: TrackParams,
    inputs: Mapping[str, Result],
    agent: Agent,
    world: ContinuousWorld,
    checkpoint: int,
    log: Log | None,
) -> Measured:
    """Everything that is asked for, of the agent as it was then."""
    method, options = asked.extract.kind, asked.extract.options
    extraction = method.run(view_for(options, agent, checkpoint, log), options, asked.seed)
    model = extraction.model
    fitted = Fitted(model, extraction.states, extraction.errors)
    metrics = values_of(context_of(asked, agent, fitted, world, checkpoint, log))
    for name, goal in asked.unseen.items():
        _, attained = plan(goal, model, world, inputs[f"oracle {name}"])
        metrics |= {prefix("plan", name) + key: value for key, value in attained.items()}
    return metrics
