"""track: extraction and measurement at every checkpoint of a training, as curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.extraction.options import candidates_of
from wmlab.registry import extractions
from wmlab.runtime.result import Result
from wmlab.stages.finite.learn import views_at_checkpoints
from wmlab.stages.finite.measure import measure
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
        metrics = measure(params["evaluate"], view, model, world, labels)
        for name, goal in params["unseen"].items():
            _, found = plan(goal, model, world, inputs[f"oracle {name}"])
            metrics |= {f"unseen.{name}.{key}": value for key, value in found.items()}
        for name, metric in metrics.items():
            curves.setdefault(name, []).append(metric["value"])
    return Result({}, {"curves": curves})
