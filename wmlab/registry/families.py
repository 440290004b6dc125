"""The families of kinds, and what a spec's world is by its kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wmlab.registry.discovery import KindError, outside
from wmlab.registry.kinds import Family, Finding, Kind, Scope
from wmlab.registry.traits import (
    AgentTraits,
    Extract,
    ExtractionTraits,
    MakeAgent,
    MakeRewards,
    MakeWorld,
    RewardTraits,
    Solve,
    SolverTraits,
    Sort,
    WorldTraits,
)

mdps: Family[WorldTraits, MakeWorld] = Family(
    "mdp", "world", "mdps", "wmlab.mdps", "The world: states, actions and what they do."
)
rewards: Family[RewardTraits, MakeRewards] = Family(
    "reward", "reward", "rewards", "wmlab.rewards", "What each goal pays for arriving in a state."
)
agents: Family[AgentTraits, MakeAgent] = Family(
    "agent", "agent", "agents", "wmlab.agents", "Whose values are inverted."
)
extractions: Family[ExtractionTraits, Extract] = Family(
    "extract", "extraction", "extractions", "wmlab.extraction", "How a world model is read out of values."
)
solvers: Family[SolverTraits, Solve] = Family(
    "solver", "solver", "solvers", "wmlab.planning", "How plans for unseen goals are made."
)
FAMILIES: dict[str, Family[Any, Any]] = {
    family.name: family for family in (mdps, rewards, agents, extractions, solvers)
}


def chosen_kind(experiment: Mapping[str, Any], section: str) -> tuple[Kind[Any], Any] | None:
    """The kind that a section of a spec names, and its options; None where it is left out or in error."""
    data = experiment.get(section)
    if not data:
        return None
    kind = FAMILIES[section][data["kind"]]
    return kind, kind.build(data)


def world_of(mdp: Mapping[str, Any]) -> Sort:
    """finite or continuous: what a world's kind is, or what its options make of it."""
    kind = mdps[mdp["kind"]]
    sort = kind.traits.sort
    return sort(kind.build(mdp)) if callable(sort) else sort


def truth_is_known(mdp: Mapping[str, Any]) -> bool:
    """Whether a spec says what actions do, and not only which states and actions there are."""
    return mdps[mdp["kind"]].traits.knows_truth


def in_order(mdp: Mapping[str, Any]) -> dict[str, Any]:
    """A world's options and, where it counts, the order in which they were written, which a stage's parameters lose."""
    parts = mdps[mdp["kind"]].traits.ordered
    order = {part: list(mdp[part]) for part in parts if isinstance(mdp.get(part), Mapping)}
    return {**mdp, "order": order} if order else dict(mdp)


def broken_kinds() -> tuple[str, ...]:
    """What is wrong with the kinds of other packages, all of which are imported to see."""
    problems = list(outside().problems)
    for (register, name), declared in outside().kinds.items():
        family = next(family for family in FAMILIES.values() if family.registered_by == register)
        try:
            if name in family.own:
                one = declared[0]
                raise KindError(f"{one.module} of the package {one.package} registers '{name}', a name of wmlab's own")
            family[name]
        except KindError as error:
            problems.append(str(error))
    return tuple(dict.fromkeys(problems))


# Sections that are no kinds but have a meaning to check: a function of (data, scope), found lazily.
CHECKS = {"goals": "wmlab.core.finite.check_goals:check_goals", "evaluate": "wmlab.measure.finite.check:check_evaluate"}


def section_check(section: str) -> Callable[[Mapping[str, Any], Scope], Iterable[Finding]]:
    module, function = CHECKS[section].split(":")
    check: Callable[[Mapping[str, Any], Scope], Iterable[Finding]] = getattr(importlib.import_module(module), function)
    return check
