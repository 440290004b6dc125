"""measure: the model and the values against the truth, and the fit, which needs none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.core.continuous.log import Log
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.measure.continuous.context import ContinuousContext, Fitted, TrainedWeights
from wmlab.measure.continuous.disagreement import doubt_by_state
from wmlab.measure.continuous.logged import error_by_transition
from wmlab.measure.continuous.model_error import binned, error_map
from wmlab.measure.continuous.yardsticks import yardsticks
from wmlab.registry import build
from wmlab.registry.metrics import Measured, measure
from wmlab.runtime.result import Result
from wmlab.stages.continuous.records import (
    Agent,
    TrainedAgent,
    evaluated_bytes,
    known_world,
    load_agent,
    load_model,
    log_of,
)
from wmlab.stages.params import MeasureParams

ACROSS = 2  # a map of errors is over the first two variables


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int:
    """Bytes that asking the agent for all of its values takes."""
    return evaluated_bytes(build(MeasureParams, params), inputs)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(MeasureParams, params)
    space, world, stored = asked.mdp.space, known_world(asked), inputs.get("model")
    agent = load_agent(inputs["agent"], space)
    model = None
    if stored is not None:
        dynamics = load_model(stored, space)
        model = Fitted(dynamics, stored.arrays["held_out"], stored.arrays["residual"])
    measured = context_of(asked, agent, model, world, log=log_of(asked, inputs["agent"]))
    if "regressed" in inputs:
        measured = replace(measured, regressed=load_model(inputs["regressed"], space))
    data: dict[str, Any] = {"metrics": values_of(measured), "yardsticks": yardsticks(measured)}
    if model is None or stored is None:
        return Result({}, data)
    arrays = maps(measured, space)
    return Result(arrays, data | {"across": list(space.names[:ACROSS]), "extraction": stored.data["notes"]})


def context_of(
    asked: MeasureParams,
    agent: Agent,
    model: Fitted | None,
    world: ContinuousWorld | None,
    checkpoint: int = -1,
    log: Log | None = None,
) -> ContinuousContext:
    """What is measured of an agent as it was at a checkpoint."""
    network = TrainedWeights(agent.options, agent.checkpoints[checkpoint]) if isinstance(agent, TrainedAgent) else None
    return ContinuousContext(agent, model, world, asked.evaluate, asked.bounds, checkpoint, network, log=log)


def values_of(measured: ContinuousContext) -> Measured:
    """The metrics that a spec asks for, of one agent and its model."""
    asked, logged = {"evaluate": measured.asked}, measured.log is not None
    truth, model = measured.world is not None, measured.model is not None
    return measure("measure", "continuous", measured, asked, truth=truth, model=model, logged=logged)


def maps(measured: ContinuousContext, space: ContinuousSpace) -> dict[str, np.ndarray]:
    """Where the model is wrong and where its members disagree, over the first two variables, where there are two."""
    if space.size < ACROSS:
        return {}
    first, second = space.names[:ACROSS]
    drawn: dict[str, np.ndarray] = {}
    if measured.against_data:
        moves = measured.logged
        errors = binned(space, moves.states, error_by_transition(moves), (first, second))
        drawn |= {f"map/{name}": array for name, array in errors.items()}
    elif measured.asked.model_error is not None and measured.world is not None:
        errors = error_map(measured.sampled, (first, second))
        drawn |= {f"map/{name}": array for name, array in errors.items()}
    if measured.asked.disagreement is not None:
        apart = measured.members
        doubts = binned(space, apart.states, doubt_by_state(apart), (first, second))
        drawn |= {f"doubt/{name}": array for name, array in doubts.items()}
    return drawn
