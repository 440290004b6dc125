"""track: extraction and measurement at every checkpoint of a training, as curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.extraction.options import candidates_of
from wmlab.measure.finite.context import FiniteContext
from wmlab.registry import extractions
from wmlab.registry.metrics import prefix
from wmlab.runtime.result import Result
from wmlab.stages.finite.learn import views_at_checkpoints
from wmlab.stages.finite.measure import values_of
from wmlab.stages.finite.plan import plan
from wmlab.stages.finite.records import load_view, row_labels, space_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    seed = params.get("seed", 0)
    agent = inputs["agent"]
    kind = extractions[params["extract"]["kind"]]
    options = kind.build(params["extract"])
    world, space = world_of(params["mdp"], seed), space_of(params["mdp"])
    final = load_view(agent, space, candidates_of(options.prior, space))
    labels = row_labels(agent, final)
    views = views_at_checkpoints(agent, final)
    curves: dict[str, list[Any]] = {}
    for done, view in enumerate(views):
        context.progress(done, len(views))
        model = kind.run(view, options, seed).kernel
        metrics = values_of(FiniteContext(view, model, world, params["evaluate"], labels))
        for name, goal in params["unseen"].items():
            _, attained = plan(goal, model, world, inputs[f"oracle {name}"])
            metrics |= {prefix("plan", name) + key: value for key, value in attained.items()}
        for name, metric in metrics.items():
            curves.setdefault(name, []).append(metric["value"])
    return Result({}, {"curves": curves})
