"""Points of a study: what a spec says at each choice of labels, every value worked out and every default filled in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wmlab.registry import AgentChoice, ExtractionChoice, WorldChoice, build
from wmlab.sections.data import DataSection
from wmlab.sections.experiment import Evaluate, ExperimentSpec, GoalsSection
from wmlab.sections.forms import EXPERIMENT_KEYS
from wmlab.spec.compose.axes import Axis, Label
from wmlab.spec.compose.merge import Merger
from wmlab.spec.compose.values import Evaluated, LetValues, Number, ValueResolver
from wmlab.spec.compose.worlds import (
    DEFAULT,
    UNKNOWN,
    DefaultScope,
    scope_of_world,
    with_goals,
    with_model,
    with_preset,
)
from wmlab.spec.schema.walk import section_rules, spec_rules
from wmlab.spec.yaml.node import Node

RECORDS: dict[str, Callable[[Any], Any]] = {  # section: the record that is made of its data
    "mdp": WorldChoice,
    "goals": functools.partial(build, GoalsSection),
    "agent": AgentChoice,
    "data": functools.partial(build, DataSection),
    "extract": ExtractionChoice,
    "evaluate": functools.partial(build, Evaluate),
}


@functools.lru_cache(maxsize=512)
def record_of(name: str, section: Node) -> Any:
    """A sound section as a record, made once: points share most sections."""
    return RECORDS[name](section.plain())


@dataclass(frozen=True)
class Point:
    """One experiment of a study: a choice of labels, and what the spec says there."""

    where: dict[str, Label]
    sections: dict[str, Node]  # evaluated: no expression, no default left out
    names: Mapping[str, Number]  # the values of `let`
    let: Node | None = None
    incomplete: frozenset[str] = frozenset()  # sections in which some expression has no value
    scope: DefaultScope = UNKNOWN  # what its defaults depend on

    @cached_property
    def data(self) -> dict[str, Any]:
        return {name: node.plain() for name, node in self.sections.items()}

    @cached_property
    def experiment(self) -> ExperimentSpec:
        """The sections as records, where they are sound."""
        return ExperimentSpec(**{name: record_of(name, node) for name, node in self.sections.items()})


def point(body: Node, choice: tuple[tuple[Axis, int], ...], merger: Merger, values: ValueResolver) -> Point:
    """One point of the study: the body under its variant and its swept values, evaluated."""
    for axis, index in choice:
        for path, value in axis.overlays[index]:
            if not path and not isinstance(value.value, dict):
                continue  # a variant that is no mapping: told where the file is checked
            body = merger.put(body, path.split(".") if path else [], value, spec_rules())
    let = body.at(["let"])
    known = values.let(let)
    sections, scope = point_sections(body, values, known)
    where = {axis.name: axis.labels[index] for axis, index in choice}
    nodes = {key: section.node for key, section in sections.items()}
    return Point(where, nodes, known.numbers, let, incomplete(sections), scope)


def point_sections(body: Node, values: ValueResolver, let: LetValues) -> tuple[dict[str, Evaluated], DefaultScope]:
    """The sections of a body that may vary over points, and what their defaults depend on."""
    written = {key: body.at([key]) for key in EXPERIMENT_KEYS if key != "let"}
    written["evaluate"] = written["evaluate"] or Node({}, DEFAULT, {})

    def section(key: str, scope: DefaultScope) -> Evaluated | None:
        node = written[key]
        return None if node is None else values.section(key, node, section_rules(key), let, scope)

    def node_of(part: Evaluated | None) -> Node | None:
        return None if part is None or not part.complete else part.node

    names = tuple(let.numbers)
    mdp = node_of(section("mdp", UNKNOWN))
    scope = with_preset(scope_of_world(mdp, names), written["extract"])
    scope = with_model(scope, node_of(section("extract", scope)))
    goals = node_of(section("goals", scope))
    scope = scope if goals is None else with_goals(scope, goals, mdp, names)
    parts = {key: section(key, UNKNOWN if key == "mdp" else scope) for key in written}
    return {key: part for key, part in parts.items() if part is not None}, scope


def incomplete(sections: Mapping[str, Evaluated]) -> frozenset[str]:
    return frozenset(key for key, section in sections.items() if not section.complete)
