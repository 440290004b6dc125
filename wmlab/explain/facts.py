"""What a resolved experiment says of itself, as far as the statements ask. No kernel and no value is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wmlab.explain.goals import GoalFacts, goal_facts
from wmlab.explain.world import WorldFacts, world_facts
from wmlab.registry import build

DETERMINISTIC_MODELS = ("column_matching", "matching")  # methods whose model has one successor each
SIMPLEX = ("lp", "sparse_lp", "evolution", "score_function")  # methods that know that probabilities sum to one
Values = Literal["exact", "approximate", "learnt", "external", "of another world"]


@dataclass(frozen=True)
class AgentFacts:
    """Whose values they are, and how good."""

    values: Values
    discounts: int  # how many
    policies: int
    conditional: bool  # whether the policy depends on the goal
    discount: float | None  # where there is one
    epsilon: float | None  # how far off the values are, in l1 over goals, where the spec says so


@dataclass(frozen=True)
class MethodFacts:
    """What the extraction assumes."""

    kind: str | None
    deterministic: bool  # its models have one successor each
    simplex: bool  # it knows that probabilities sum to one
    support: int | None  # how many successors a state and action may have at most, by a known support
    sparse: int | None  # how many, where it is not known which


@dataclass(frozen=True)
class Facts:
    """All that explain looks at."""

    world: WorldFacts
    goals: GoalFacts
    agent: AgentFacts
    method: MethodFacts


def facts_of(experiment: Mapping[str, Any]) -> Facts:
    """The facts of one point of a resolved spec."""
    world = world_facts(experiment["mdp"])
    goals = goal_facts(experiment["goals"], world)
    return Facts(world, goals, agent_facts(experiment["agent"], goals), method_facts(experiment, world))


def agent_facts(agent: Mapping[str, Any], goals: GoalFacts) -> AgentFacts:
    drawn = agent.get("discounts")
    several = agent.get("policies") or agent.get("temperatures")
    moved = agent.get("approximate")
    return AgentFacts(
        values=values_of(agent),
        discounts=1 if drawn is None else count_of(drawn),
        policies=1 if several is None else count_of(several),
        conditional=goals.count != 1 and is_conditional(agent),
        discount=agent.get("discount"),
        epsilon=moved["epsilon"] if moved and moved.get("unit", "value") == "value" else None,
    )


def values_of(agent: Mapping[str, Any]) -> Values:
    if agent["kind"] == "external":
        return "external"
    if agent["kind"] != "exact":
        return "learnt"
    if agent.get("world") is not None:
        return "of another world"
    return "approximate" if agent.get("approximate") else "exact"


def count_of(given: Any) -> int:
    return int(given["random"]) if isinstance(given, Mapping) else len(given)


def is_conditional(agent: Mapping[str, Any]) -> bool:
    """Whether the policy is another one for another goal."""
    if agent.get("policies") is not None:
        return bool(agent["policies"].get("conditional", False))
    policy = agent.get("policy", "optimal")
    kind = policy["kind"] if isinstance(policy, Mapping) else policy
    if kind == "uniform":
        return False
    if kind == "table":
        return any(isinstance(acts, Mapping) for acts in policy["act"].values())
    return True


def method_facts(experiment: Mapping[str, Any], world: WorldFacts) -> MethodFacts:
    extract = experiment.get("extract") or {}
    kind = extract.get("kind")
    size = extract.get("size") if kind == "sparse_lp" else None
    projected = bool(extract.get("projected") or extract.get("project"))
    return MethodFacts(
        kind=kind,
        deterministic=kind in DETERMINISTIC_MODELS or size == 1 or extract.get("estimator") == "deterministic",
        simplex=kind in SIMPLEX or projected,
        support=support_size(extract, world),
        sparse=size,
    )


def support_size(extract: Mapping[str, Any], world: WorldFacts) -> int | None:
    """The most candidates that a declared support leaves to a state and an action."""
    prior = extract.get("prior") or {}
    if prior.get("support") is None or world.space is None or world.family != "finite":
        return None
    from wmlab.extraction.options import Prior, candidates_of

    candidates = candidates_of(build(Prior, prior), world.space)
    return None if candidates is None else int((np.asarray(candidates) >= 0).sum(axis=-1).max())
