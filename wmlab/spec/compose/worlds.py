"""The world of a point, and what defaults depend on: its sort, its size, its chance, where its goals are, a preset."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wmlab.errors import Source
from wmlab.limits import holds_too_large
from wmlab.registry import ExtractionChoice, Finding, RewardChoice, Scope, WorldChoice
from wmlab.registry.defaults import BUDGET, CASES, in_words, within_budget
from wmlab.spec.schema.conform import is_sound
from wmlab.spec.yaml.node import Node, from_plain

DEFAULT = Source("default")
WIDE = 4  # variables, or components of an action: with more, plans are made by sampling
COSTS = {
    "points": "points",
    "actions": "actions",
    "outcomes": "outcomes of a step",
    "true outcomes": "outcomes of a step",
}


@dataclass(frozen=True)
class WorldSection:
    """What a spec says of its world."""

    text: str  # all of it: equal where the world is
    let: tuple[str, ...]  # names that expressions may use
    data: Any = field(compare=False)


@dataclass(frozen=True, eq=False)
class CheckedWorld:
    """A world that keeps the schema's rules."""

    choice: WorldChoice
    findings: tuple[Finding, ...]  # mistakes in its meaning
    space: Any  # None where there are any


def checked_world(mdp: Node, let: Sequence[str]) -> CheckedWorld:
    """The world of a section that keeps the schema's rules, checked once: points and specs share most worlds."""
    return _checked(WorldSection(mdp.text, tuple(let), mdp.plain()))


@functools.lru_cache(maxsize=512)
def _checked(section: WorldSection) -> CheckedWorld:
    world = WorldChoice(section.data)
    if world.sort == "continuous" and holds_too_large(section.data):  # told at their places, and no world to look at
        return CheckedWorld(world, (), None)
    findings = tuple(world.kind.check(world.options, Scope(mdp=world, let=section.let)))
    return CheckedWorld(world, findings, None if findings else world.space)


@dataclass(frozen=True)
class DefaultScope:
    """What defaults depend on. Nothing holds where the world is missing or in error."""

    cases: tuple[str, ...] = ()  # those of CASES that hold
    variables: int = 0  # of a continuous state
    components: int = 0  # of an action from a box
    branches: int = 1  # outcomes of a step, but for continuous random numbers
    random_numbers: int = 0  # continuous ones, in a step of the world
    model_numbers: int = 0  # and of the extracted model

    def default(self, rules: Mapping[str, Any]) -> Node | None:
        """The default of an option, with its reason as its source; None where there is none in this world."""
        if "x-defaults" not in rules:
            return from_plain(rules["default"], DEFAULT)
        values = rules["x-defaults"]
        case = next((case for case in values if case in (*self.cases, "otherwise")), None)
        if case is None:
            value = values.get("finite")  # of a world that is itself in error
            return None if value is None else from_plain(value, DEFAULT)
        value, reason = values[case], f"default{in_words(case)}"
        if isinstance(value, dict) and BUDGET in value:
            allowed = value[BUDGET]
            reason += f": {allowed['total']:_} {COSTS[allowed['of']]} at most".replace("_", " ")
            value = within_budget(allowed, functools.partial(self.cost, allowed["of"]))
        return None if value is None else from_plain(value, Source(reason))

    def cost(self, of: str, number: int) -> int:
        """What so many points along each variable or component, or nodes for each random number, come to."""
        if of == "points":
            return int(number**self.variables)
        if of == "actions":
            return int(number**self.components)
        truth = self.branches * number**self.random_numbers
        return int(truth if of == "true outcomes" else max(truth, number**self.model_numbers))


UNKNOWN = DefaultScope()


@functools.lru_cache(maxsize=256)
def scope_of_world(mdp: Node | None, let: tuple[str, ...]) -> DefaultScope:
    """What defaults know of a world; points share most worlds."""
    if mdp is None or not is_sound(mdp.plain(), "mdp"):
        return UNKNOWN
    choice = WorldChoice(mdp.plain())
    if choice.sort == "finite":
        return DefaultScope(cases=("finite",))
    space = checked_world(mdp, let).space
    if space is None:
        return DefaultScope(cases=("continuous",))
    once, twice = (choice.traits.outcomes(choice.options, nodes) for nodes in (1, 2))
    cases = ("endless", "continuous") if space.endless else ("continuous",)
    if space.in_box:
        wide = max(space.size, len(space.controls)) > WIDE
        cases = ("wide", "box", *cases) if wide else ("box", *cases)
    numbers, components = (twice // once).bit_length() - 1, len(space.control_ranges)
    return DefaultScope(cases, space.size, components, once, numbers)


def with_model(scope: DefaultScope, extract: Node | None) -> DefaultScope:
    """The scope, with the chance in the models of an extraction."""
    if "continuous" not in scope.cases or extract is None or not is_sound(extract.plain(), "extract"):
        return scope
    method = ExtractionChoice(extract.plain())
    numbers = method.traits.random_numbers(method.options, scope.variables)
    return dataclasses.replace(scope, model_numbers=numbers)


def with_preset(scope: DefaultScope, extract: Node | None) -> DefaultScope:
    """The scope, with the preset that an extraction names."""
    preset = None if extract is None else extract.at(["preset"])
    if not scope.cases or preset is None or str(preset.value) not in CASES:
        return scope
    return dataclasses.replace(scope, cases=(str(preset.value), *scope.cases))


def with_goals(scope: DefaultScope, goals: Node, mdp: Node | None, let: Sequence[str]) -> DefaultScope:
    """The scope, with whether goals are anywhere that one could arrive, and whether their rewards have bounds."""
    data = goals.plain()
    if not scope.cases or mdp is None or not is_sound(data, "goals"):
        return scope
    reward = RewardChoice(data["reward"])
    cases = []
    if "continuous" not in scope.cases:
        names = () if data.get("at") is not None else reward.traits.own_goals(reward.options)
        space = checked_world(mdp, let).space if names else None
        cases += ["nowhere"] if space is not None and not set(names) <= set(space.names) else []
    elif reward.traits.in_continuum is not None:
        payment = reward.traits.in_continuum(reward.options)
        cases += [] if payment.arrives else ["nowhere"]
        cases += [] if all(map(math.isfinite, payment.bounds)) else ["unbounded"]
    return dataclasses.replace(scope, cases=(*cases, *scope.cases))


def shared_scope(scopes: Sequence[DefaultScope]) -> DefaultScope:
    """What holds at every point alike, for what does not vary over points; of several sorts of world, nothing."""
    alike = [case for case in CASES if scopes and all(case in scope.cases for scope in scopes)]
    return dataclasses.replace(scopes[0], cases=tuple(alike)) if alike else UNKNOWN
