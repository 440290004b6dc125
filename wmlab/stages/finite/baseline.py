"""baseline: what is attained on an unseen goal without the extracted model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.measure.baselines import BaselineContext
from wmlab.measure.finite.combination import combined
from wmlab.measure.finite.context import starts_of
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.plan import task_of
from wmlab.stages.finite.records import load_view, world_of
from wmlab.stages.params import BaselineParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(BaselineParams, params)
    world = world_of(asked.mdp, asked.seed, asked.files)
    view = load_view(inputs["agent"], world.space)
    task = task_of(asked.goal, asked.discount, world.space)
    acted = combined(view, world.kernel, task, starts_of(asked.starts, world))
    metrics = measure("baseline", "finite", BaselineContext(combined=acted), truth=True)
    return Result({"weights": acted.weights}, {"metrics": metrics})
