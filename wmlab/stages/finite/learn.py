"""Training that takes long: what is kept on the way, and what it leaves.

Shapes: C checkpoints, G goals, S states, A actions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.agents.learning import LearnedValues
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.select import places
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import AgentTraits, Kind
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import store_view
from wmlab.stages.hooks import hooks_of

CHECKPOINTS = "checkpoints/q"


def learn(
    kind: Kind[AgentTraits],
    options: Any,
    world: FiniteWorld,
    goals: Goals,
    asked: Mapping[str, Any],
    seed: int,
    context: Any,
) -> Result:
    """Train in a finite world."""
    learnt = kind.run(options, world, goals, seed, at=places_of(asked, world.space), **hooks_of(context))
    return store_learned(learnt, goals, world, options)


def places_of(asked: Mapping[str, Any], space: FiniteSpace) -> np.ndarray | None:
    """The states [G] of the goals, where every goal is one state."""
    states = places(asked["at"], space) if asked.get("at") is not None else None
    return np.asarray(states) if isinstance(states, list) else None


def store_learned(learnt: LearnedValues, goals: Goals, world: FiniteWorld, options: Any) -> Result:
    """The final view, Q at each checkpoint, weights, curves and visits."""
    view = view_of(learnt.q[-1], goals, world, options)
    stored = store_view(view, {"goals": list(goals.labels), "steps": learnt.steps.tolist()})
    arrays = {
        **stored.arrays,
        CHECKPOINTS: learnt.q,
        "returns": learnt.returns,
        "visits": learnt.visits,
        **{f"curves/{name}": curve for name, curve in learnt.curves.items()},
        **{f"weights/{name}": array for name, array in learnt.weights.items()},
    }
    return Result(arrays, stored.data)


def view_of(q: np.ndarray, goals: Goals, world: FiniteWorld, options: Any) -> FiniteView:
    """What a trained agent says, as a view: exact work on it is done in float64."""
    values = q.astype(np.float64)  # [G, S, A]
    actions = values.shape[-1]
    best = np.eye(actions)[values.argmax(axis=-1)]
    policy = best if options.policy == "greedy" else np.full(values.shape, 1 / actions)
    discount = np.full(len(values), options.discount)
    return FiniteView(values, policy, goals.reward, goals.continues, discount, world.space)


def views_at_checkpoints(agent: Result, final: FiniteView) -> list[FiniteView]:
    """The view at each checkpoint: other values, and the policy that goes with them."""
    greedy = bool(((final.policy == 0) | (final.policy == 1)).all())
    views = []
    for q in agent.arrays[CHECKPOINTS].astype(np.float64):
        policy = np.eye(q.shape[-1])[q.argmax(axis=-1)] if greedy else final.policy
        views.append(dataclasses.replace(final, q=q, policy=policy))
    return views
