"""Resolving a spec: extends, profile, --set, variant, sweep, then let. Pure: data in, data and errors out."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wmlab.errors import SpecError
from wmlab.registry import build
from wmlab.sections.forms import DOCUMENT_KEYS, EXPERIMENT_KEYS, PROFILE_KEYS
from wmlab.sections.spec import Claim, Compare, Relate, Report
from wmlab.spec.compose.axes import Axis, axes_of, misplaced, product
from wmlab.spec.compose.document import Document, choose_profile, text_of
from wmlab.spec.compose.flags import parse_set
from wmlab.spec.compose.merge import Merger, prune
from wmlab.spec.compose.points import Point, incomplete, point
from wmlab.spec.compose.values import Evaluated, LetValues, ValueResolver
from wmlab.spec.compose.worlds import (
    DEFAULT,
    DefaultScope,
    shared_scope,
)
from wmlab.spec.schema.generate import load
from wmlab.spec.schema.walk import section_rules, spec_rules
from wmlab.spec.yaml.node import Node

OWN = ("name", "title")  # what a file says of itself and no child inherits
NOT_BODY = ("extends", "profiles", *OWN)


@dataclass(frozen=True, eq=False)
class Resolved:
    """A spec under one profile."""

    document: Document
    profile: str
    name: str | None
    title: str
    body: Node  # merged, not evaluated: where each value was written
    sections: dict[str, Node]  # evaluated parts that do not vary over points
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]
    base: Point  # the body without any axis: what all points share
    sets: tuple[str, ...] = ()
    errors: tuple[SpecError, ...] = ()
    incomplete: frozenset[str] = frozenset()  # those of `sections` in which some expression has no value

    @property
    def is_fragment(self) -> bool:
        """Whether the file has no name: then it is extended, never run."""
        return self.document.is_fragment

    @property
    def is_body(self) -> bool:
        """Whether this is the body as it stands, without a profile's overlay."""
        return self.profile == self.document.body_profile

    def profile_for(self, other: Document) -> str:
        """The profile that a spec named here is taken in: the same where it has it, else its own choice."""
        if self.is_body:
            return other.body_profile
        return choose_profile(other, self.profile if self.profile in other.profiles else None)

    @cached_property
    def data(self) -> dict[str, Any]:
        return {name: node.plain() for name, node in self.sections.items()}

    @property
    def is_suite(self) -> bool:
        return "suite" in self.sections

    # The sections that do not vary over points, as records: each where it is sound.

    @property
    def seeds(self) -> tuple[int, ...]:
        seeds = self.data["seeds"]
        return tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)

    @cached_property
    def compare(self) -> dict[str, Compare]:
        return {name: build(Compare, one) for name, one in self.data["compare"].items()}

    @cached_property
    def relate(self) -> dict[str, Relate]:
        return {name: build(Relate, one) for name, one in self.data["relate"].items()}

    @cached_property
    def claims(self) -> dict[str, Claim]:
        return {name: build(Claim, one) for name, one in self.data["claims"].items()}

    @cached_property
    def report(self) -> Report:
        return build(Report, self.data["report"])

    @property
    def suite(self) -> tuple[str, ...]:
        """The specs that make up a suite, by paths relative to it; none where it is an experiment."""
        return tuple(self.data.get("suite", ()))


def resolve(document: Document, profile: str, sets: Sequence[str] = ()) -> Resolved:
    """The spec under a profile and flags, with every error of composition collected."""
    return _resolve(document, document.own_name(profile), tuple(sets), os.getcwd())


@functools.lru_cache(maxsize=256)
def _resolve(document: Document, profile: str, sets: tuple[str, ...], folder: str) -> Resolved:
    """Resolved once, for suites, comparisons and reports name each other's specs; paths are seen from the folder."""
    merger, values = Merger(), ValueResolver(partial=document.is_fragment)
    body = merged(document, profile, sets, merger)
    axes: tuple[Axis, ...] = ()
    points: tuple[Point, ...] = ()
    if not is_suite(body):
        axes = axes_of(body, merger.errors, partial=document.is_fragment)
        points = tuple(point(body, choice, merger, values) for choice in product(axes))
    scope = shared_scope([one.scope for one in points])
    sections = shared_sections(document.leaf, body, values, values.let(body.at(["let"])), scope)
    base = point(body, (), merger, values)
    return Resolved(
        document=document,
        profile=profile,
        name=document.name,
        title=text_of(document.leaf, "title") or "",
        body=body,
        sections={key: section.node for key, section in sections.items()},
        axes=axes,
        points=points,
        base=base,
        sets=sets,
        errors=(*merger.errors, *values.errors),
        incomplete=incomplete(sections),
    )


def merged(document: Document, profile: str, sets: Sequence[str], merger: Merger) -> Node:
    """The body: extends, then the profile, then the flags."""
    rules = spec_rules()
    body = Node({}, document.leaf.source, {})
    layers: list[Node] = []
    for file in document.files:
        merger.errors += misplaced(file, (), DOCUMENT_KEYS)
        own = without(file, NOT_BODY)
        layers = [prune(layer, body, own) for layer in layers]
        body = merger.merge(body, own, rules)
        layers = document.overlays(file, profile, layers)
    for layer in layers:
        merger.errors += misplaced(layer, ("profiles", profile), PROFILE_KEYS)
        body = merger.merge(body, layer, rules)
    for flag in sets:
        body = merger.put(body, *parse_set(flag, body), rules)
    return body


def shared_sections(
    leaf: Node, body: Node, values: ValueResolver, let: LetValues, scope: DefaultScope
) -> dict[str, Evaluated]:
    """What does not vary over points; what a file says of itself comes from the file alone."""
    sections = {}
    for key, option in load("experiment")["properties"].items():
        if key in EXPERIMENT_KEYS or key in ("profiles", "extends"):
            continue
        node = leaf.at([key]) if key in OWN else body.at([key])
        if node is None or node.value is None:
            default = option.get("default")
            if default is None:
                continue
            node = Node(default if not isinstance(default, dict) else {}, DEFAULT, {})
        sections[key] = values.section(key, node, section_rules(key), let, scope)
    return sections


def without(node: Node, keys: Sequence[str]) -> Node:
    if not isinstance(node.value, dict):
        return node
    return Node({key: item for key, item in node.value.items() if key not in keys}, node.source, node.keys)


def is_suite(body: Node) -> bool:
    suite = body.at(["suite"])
    return suite is not None and suite.value is not None
