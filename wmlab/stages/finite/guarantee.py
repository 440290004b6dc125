"""guarantee: what is certain and what is possible of an unseen goal, over all worlds that explain the values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.core.finite.world import FiniteWorld
from wmlab.extraction.options import candidates_of
from wmlab.identify.guarantee import Guarantee, guarantee, least_slack
from wmlab.measure.finite.context import starts_of
from wmlab.measure.guarantees import GuaranteeContext
from wmlab.planning.finite.values import Tasks, evaluate_plan, returns
from wmlab.registry import build
from wmlab.registry.metrics import measure
from wmlab.runtime.result import Result
from wmlab.stages.finite.plan import task_of
from wmlab.stages.finite.records import declared_starts, known_world, load_view
from wmlab.stages.params import GuaranteeParams


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(GuaranteeParams, params)
    space = asked.mdp.space
    view = load_view(inputs["agent"], space, candidates_of(asked.prior, space))
    task = task_of(asked.goal, asked.discount, space)
    found = guarantee(view, task, asked.guarantee.slack)
    world = known_world(asked)
    starts = declared_starts(asked.starts, asked.mdp) if world is None else starts_of(asked.starts, world)
    certain, possible = (float(returns(value[None], task, starts)[0]) for value in (found.certain, found.possible))
    arrays = {name: getattr(found, name) for name in ("certain", "possible", "cautious", "hopeful", "open")}
    arrays |= {"worst/successors": found.worst.successors, "worst/probabilities": found.worst.probabilities}
    data: dict[str, Any] = {"rounds": found.rounds, "settled": found.settled}
    measured = GuaranteeContext(certain, possible)
    if world is not None:
        attained = followed(found, world, task)
        arrays |= {"attained": attained, "best": inputs["oracle"].arrays["value"]}
        cautious = float(returns(attained[None], task, starts)[0])
        needed = least_slack(view, world.kernel, found.least)
        told = needed if np.isfinite(needed) else None
        measured = GuaranteeContext(certain, possible, cautious, inputs["oracle"].data["r_star"], told)
        data |= {"truth_fits": needed <= asked.guarantee.slack, "slack_needed": told}
    metrics = measure("guarantee", "finite", measured, truth=world is not None)
    return Result(arrays, {"metrics": metrics, **data})


def followed(found: Guarantee, world: FiniteWorld, task: Tasks) -> np.ndarray:
    """V [S] of the cautious policy in the true world."""
    policy = np.eye(world.kernel.actions)[found.cautious][None]  # [1, S, A]
    value: np.ndarray = evaluate_plan(world.kernel, policy, task)[0]
    return value
