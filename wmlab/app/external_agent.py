"""What a spec says to read an exported agent back: the `agent` section that goes with the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace
from wmlab.runtime.result import Result

SHARED = ("depth", "width", "norm", "activation", "output", "goal", "encoding")
EPSILON = 1e-6  # of our own layer normalisation


def agent_block(
    agent: Result, experiment: Mapping[str, Any], space: FiniteSpace | ContinuousSpace, format: str
) -> dict[str, Any] | None:
    """An `agent` of kind external that gives the same values; None where no spec can say it."""
    said = experiment["agent"]
    if isinstance(space, FiniteSpace):
        if len(agent.data["goals"]) != len(agent.arrays["q"]):
            return None  # several discounts or policies: rows that are more than goals
        place = {"file": f"q.{format}", "axes": ["state", "action", "goal"]}
        policy = {"kind": "file", **place, "tensor": "policy"}
        discount = float(agent.arrays["discount"][0])
        return {"kind": "external", "q": {**place, "tensor": "q"}, "policy": policy, "discount": discount}
    common = {
        "actions": list(space.actions),
        "policy": "uniform" if said.get("policy") == "uniform" else "greedy",
        "discount": said.get("discount"),
    }
    if "grid" in agent.data:
        grid = agent.data["grid"]
        ends = {
            name: [low, high]
            for name, low, high, circle in zip(space.names, grid["low"], grid["high"], grid["periodic"], strict=True)
            if not circle
        }
        table: dict[str, Any] = {"file": f"q.{format}", "tensor": "q", "axes": ["goal", "action", *space.names]}
        return {"kind": "external", "q": table | {"grid": ends}, **common}
    network = network_block(agent, said, experiment, space)
    return {"kind": "external", "q": {"file": f"network.{format}", "network": network}, **common}


def network_block(
    agent: Result, said: Mapping[str, Any], experiment: Mapping[str, Any], space: ContinuousSpace
) -> dict[str, Any]:
    """The architecture behind stored weights, which are under our own names, [inputs, outputs]."""
    if "network" in agent.data:  # itself from elsewhere; its weights were put in our order when they were read
        given = {key: value for key, value in agent.data["network"].items() if value is not None}
        return {**given, "layout": "in_out"}
    own = said["network"]
    found = {key: own[key] for key in SHARED} | {"epsilon": EPSILON, "observation": list(space.names)}
    if own["goal"] == "input":
        columns = goal_points(experiment["goals"], space).columns
        found["wanted"] = [space.everything[column].name for column in columns]
    return found
