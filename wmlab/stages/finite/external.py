"""An agent from elsewhere in a finite world: its files are read here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.agents.external.options import plain
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import agents
from wmlab.runtime.result import Result
from wmlab.stages.array_files import Arrays, read_arrays, read_table
from wmlab.stages.finite.records import goals_of, space_of, store_view


def read_agent(params: Mapping[str, Any]) -> Result:
    """The view that an agent's files give; nothing of the world is looked at but its states and actions."""
    space = space_of(params["mdp"])
    goals = goals_of(params["goals"], space, params.get("seed", 0))
    agent = params["agent"]
    kind = agents[agent["kind"]]
    files = {"q": arrays_of(agent["q"], space, goals, "value", None)}
    if isinstance(agent["policy"], Mapping):
        files["policy"] = arrays_of(agent["policy"], space, goals, "probability", 0.0)
    view = kind.run(kind.build(plain(dict(agent))), space, goals, params.get("seed", 0), files=files)
    return store_view(view, {"goals": list(goals.labels)})


def arrays_of(source: Mapping[str, Any], space: FiniteSpace, goals: Goals, last: str, fill: float | None) -> Arrays:
    if not source["file"].lower().endswith(".csv"):
        return read_arrays(source)
    names = {"state": space.names, "action": space.actions, "goal": goals.labels}
    return read_table(source, names, last, fill)
