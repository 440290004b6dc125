"""The families of kinds, and what a spec's world is by its kind."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wmlab.registry.discovery import KindError, outside
from wmlab.registry.kinds import Family, Finding, KindChoice, Scope
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


class WorldChoice(KindChoice[WorldTraits]):
    """A spec's world."""

    family = mdps

    @property
    def sort(self) -> Sort:
        """finite or continuous: what a world's kind is, or what its options make of it."""
        sort = self.traits.sort
        return sort(self.options) if callable(sort) else sort

    @property
    def knows_truth(self) -> bool:
        """Whether it is said what actions do, and not only which states and actions there are."""
        return self.traits.knows_truth

    @functools.cached_property
    def space(self) -> Any:
        """The states and actions of a world, a FiniteSpace or ContinuousSpace, and nothing of what the actions do."""
        return self.traits.space(self.options)

    @property
    def ordered_data(self) -> dict[str, Any]:
        """Its data and, where it counts, the order in which it was written, which a stage's parameters lose."""
        data, parts = self.data, self.traits.ordered
        order = {part: list(data[part]) for part in parts if isinstance(data.get(part), Mapping)}
        return {**data, "order": order} if order else dict(data)


class RewardChoice(KindChoice[RewardTraits]):
    """What a spec's goals pay."""

    family = rewards


class AgentChoice(KindChoice[AgentTraits]):
    """A spec's agent."""

    family = agents

    @property
    def world(self) -> WorldChoice | None:
        """The world that it believes in, where that is not the spec's own."""
        world: WorldChoice | None = self.get("world")
        return world

    @property
    def trains_together(self) -> bool:
        """Whether all seeds of a point are trained in one program."""
        return bool(self.get("seeds") == "together")


class ExtractionChoice(KindChoice[ExtractionTraits]):
    """How a spec's world model is read out."""

    family = extractions

    @property
    def at_checkpoints(self) -> bool:
        """Whether models are extracted along a training, and not at its end alone."""
        return bool(self.get("when") == "checkpoints")

    @property
    def agents(self) -> int:
        """How many agents are read, whose models are averaged."""
        return self.get("agents") or 1

    @property
    def prior(self) -> Any:
        """What is known of the world beforehand; None where nothing is, or the method does not ask."""
        return self.get("prior")


class SolverChoice(KindChoice[SolverTraits]):
    """How a spec's plans are made."""

    family = solvers


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


# Sections that are no kinds but have a meaning to check: a function of (record, scope), found lazily.
CHECKS = {
    "goals": "wmlab.core.finite.check_goals:check_goals",
    "data": "wmlab.core.continuous.check_log:check_log",
    "evaluate": "wmlab.measure.finite.check:check_evaluate",
}


def section_check(section: str) -> Callable[[Any, Scope], Iterable[Finding]]:
    module, function = CHECKS[section].split(":")
    check: Callable[[Any, Scope], Iterable[Finding]] = getattr(importlib.import_module(module), function)
    return check
