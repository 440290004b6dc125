"""Which kinds there are, and what a spec's world is by its kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wmlab.registry.kinds import Family, Finding, Scope

mdps = Family(
    "mdp",
    "world",
    "wmlab.mdps",
    ["dynamics", "gridworld", "gymnax", "random", "tabular", "unknown"],
    "The world: states, actions and what they do.",
)
rewards = Family(
    "reward",
    "reward",
    "wmlab.rewards",
    ["expression", "gaussian", "generic", "indicator", "table"],
    "What each goal pays for arriving in a state.",
)
agents = Family(
    "agent", "agent", "wmlab.agents", ["exact", "external", "pqn", "q_learning"], "Whose values are inverted."
)
extractions = Family(
    "extract",
    "extraction",
    "wmlab.extraction",
    [
        "column_matching",
        "evolution",
        "lp",
        "matching",
        "p_learning",
        "pseudo_inverse",
        "score_function",
        "sparse_lp",
        "tabular_p_learning",
    ],  # fmt: skip
    "How a world model is read out of values.",
)
solvers = Family(
    "solver",
    "solver",
    "wmlab.planning",
    ["grid_value_iteration", "value_iteration"],
    "How plans for unseen goals are made.",
)
FAMILIES = {family.name: family for family in (mdps, rewards, agents, extractions, solvers)}


def world_of(mdp: Mapping[str, Any]) -> str:
    """finite or continuous: what a world's kind is, or what its options make of it (its trait is then a function)."""
    sort = mdps[mdp["kind"]].traits["world"]
    return str(sort(mdp) if callable(sort) else sort)


def truth_is_known(mdp: Mapping[str, Any]) -> bool:
    """Whether a spec says what actions do, and not only which states and actions there are."""
    return bool(mdps[mdp["kind"]].traits.get("truth", True))


def in_order(mdp: Mapping[str, Any]) -> dict[str, Any]:
    """A world's options and, where it counts, the order in which they were written, which a stage's parameters lose."""
    parts = mdps[mdp["kind"]].traits.get("ordered", ())
    order = {part: list(mdp[part]) for part in parts if isinstance(mdp.get(part), Mapping)}
    return {**mdp, "order": order} if order else dict(mdp)


# Sections that are no kinds but have a meaning to check: a function of (data, scope), found lazily.
CHECKS = {"goals": "wmlab.core.finite.check_goals:check_goals", "evaluate": "wmlab.measure.finite.check:check_evaluate"}


def section_check(section: str) -> Callable[[Mapping[str, Any], Scope], Iterable[Finding]]:
    module, function = CHECKS[section].split(":")
    found: Callable[[Mapping[str, Any], Scope], Iterable[Finding]] = getattr(importlib.import_module(module), function)
    return found
