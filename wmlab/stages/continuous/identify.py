"""identify: how much of a next state the agent's values tell, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.identify.local import local_ranks
from wmlab.measure.continuous.identification import LocalContext
from wmlab.measure.continuous.model_error import binned
from wmlab.measure.continuous.states import states_of
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.sections.experiment import Evaluate
from wmlab.stages.continuous.records import evaluated_bytes, load_agent
from wmlab.stages.params import IdentifyParams

ACROSS = 2  # a map of ranks is over the first two variables
BINS = 24  # along each of them


def estimate(params: Mapping[str, Any], inputs: Mapping[str, Result]) -> int:
    """Bytes that asking the agent for all of its values takes."""
    return evaluated_bytes(build(IdentifyParams, params), inputs)


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(IdentifyParams, params)
    space, identify = asked.mdp.space, asked.identify
    assert identify.states is not None and identify.samples is not None  # defaults of a continuous world
    view = load_agent(inputs["agent"], space).view()
    states = states_of(identify.states, space, identify.samples, "states of what is identified")
    local = local_ranks(view, states, identify.rank_tolerance)
    sections = {"evaluate": Evaluate(identify=identify)}
    metrics = measure("identify", "continuous", LocalContext(space, local), sections, truth=False, model=False)
    arrays = {}
    if space.size >= ACROSS:
        first, second = space.names[:ACROSS]
        drawn = binned(space, states, local.rank.astype(float), (first, second), BINS)
        arrays = {f"rank/{name}": array for name, array in drawn.items()}
    return Result(arrays, {"metrics": metrics, "across": list(space.names[:ACROSS]), "variables": space.size})
