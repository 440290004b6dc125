"""train: an agent's values, in the world that the spec gives, in the one that it believes in, or from elsewhere.

Shapes: C checkpoints, G goals, S states, A actions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.agents.external.checked import hold_finite
from wmlab.agents.external.table import Arrays, told
from wmlab.agents.learning import LearnedValues
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.places import places
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.sections.experiment import GoalsSection
from wmlab.stages.array_files import read_arrays, read_small_arrays, read_table
from wmlab.stages.finite.records import goals_of, store_view, world_of
from wmlab.stages.params import TrainParams, hooks_of

CHECKPOINTS = "checkpoints/q"


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(TrainParams, params)
    agent = asked.agent
    if not agent.traits.acts:
        return read_agent(asked)
    world = world_of(agent.world or asked.mdp, asked.seed, asked.files)
    goals = goals_of(asked.goals, world.space, asked.seed)
    if not agent.traits.learns:
        view = agent.kind.run(agent.options, world, goals, asked.seed)
        return store_view(view, {"goals": list(goals.labels)})
    at = places_of(asked.goals, world.space)
    learnt = agent.kind.run(agent.options, world, goals, asked.seed, at=at, **hooks_of(context))
    return store_learned(learnt, goals, world, agent.options)


# --- an agent from elsewhere: its files are read here, and nowhere else ------------------------------------------


def read_agent(asked: TrainParams) -> Result:
    """The view that an agent's files give; nothing of the world is looked at but its states and actions."""
    space, agent = asked.mdp.space, asked.agent
    goals = goals_of(asked.goals, space, asked.seed)

    def arrays_of(file: str, last: str, fill: float | None) -> Arrays:
        if not file.lower().endswith(".csv"):
            return read_arrays(file, asked.files)
        names = {"state": space.names, "action": space.actions, "goal": goals.labels}
        return read_table(file, asked.files, names, last, fill)

    files = {"q": arrays_of(agent.options.q.file, "value", None)}
    if not isinstance(agent.options.policy, str):
        files["policy"] = arrays_of(agent.options.policy.file, "probability", 0.0)
    view = agent.kind.run(agent.options, space, goals, asked.seed, files=files)
    check = agent.options.check
    if check is not None:
        probe = read_small_arrays(check.file, asked.files)
        told(check.file, lambda: hold_finite(check, view.q, space, goals.labels, probe))
    return store_view(view, {"goals": list(goals.labels)})


# --- an agent that learns ----------------------------------------------------------------------------------------


def places_of(goals: GoalsSection, space: FiniteSpace) -> np.ndarray | None:
    """The states [G] of the goals, where every goal is one state."""
    states = places(goals.at, space) if goals.at is not None else None
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
