"""track: extraction and measurement at every checkpoint of a training, as curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.extraction.options import candidates_of
from wmlab.measure.finite.context import FiniteContext
from wmlab.registry import build
from wmlab.registry.metrics import prefix
from wmlab.runtime.result import Result
from wmlab.stages.finite.measure import values_of
from wmlab.stages.finite.plan import plan
from wmlab.stages.finite.records import load_view, row_labels, world_of
from wmlab.stages.finite.train import views_at_checkpoints
from wmlab.stages.params import TrackParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked, agent = build(TrackParams, params), inputs["agent"]
    method, space = asked.extract, asked.mdp.space
    world = world_of(asked.mdp, asked.seed, asked.files)
    final = load_view(agent, space, candidates_of(method.prior, space))
    labels = row_labels(agent, final)
    views = views_at_checkpoints(agent, final)
    curves: dict[str, list[Any]] = {}
    for done, view in enumerate(views):
        context.progress(done, len(views))
        model = method.kind.run(view, method.options, asked.seed).kernel
        metrics = values_of(FiniteContext(view, model, world, asked.evaluate, labels))
        for name, goal in asked.unseen.items():
            _, attained = plan(goal, model, world, inputs[f"oracle {name}"])
            metrics |= {prefix("plan", name) + key: value for key, value in attained.items()}
        for name, metric in metrics.items():
            curves.setdefault(name, []).append(metric["value"])
    return Result({}, {"curves": curves})
