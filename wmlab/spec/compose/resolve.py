"""Resolving a spec: extends, profile, --set, variant, sweep, then let. Pure: data in, data and errors out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from wmlab.errors import Source, SpecError, SpecErrors, UsageError, one_of, suggest
from wmlab.spec.compose.axes import Axis, Label, axes_of, misplaced, product
from wmlab.spec.compose.document import PAPER, Document
from wmlab.spec.compose.merge import Merger, prune
from wmlab.spec.compose.settle import DEFAULT, Names, Number, Settler
from wmlab.spec.schema.generate import load
from wmlab.spec.schema.words import DOCUMENT, EXPERIMENT, PROFILE
from wmlab.spec.yaml.load import load_value
from wmlab.spec.yaml.node import Node

OWN = ("name", "title")  # what a file says of itself and no child inherits
NOT_BODY = ("extends", "profiles", *OWN)


@dataclass(frozen=True)
class Point:
    """One experiment of a study: a choice of labels, and what the spec says there."""

    where: dict[str, Label]
    sections: dict[str, Node]  # settled: no expression, no default left out
    names: Mapping[str, Number]  # the values of `let`
    let: Node | None = None

    @cached_property
    def data(self) -> dict[str, Any]:
        return {name: node.plain() for name, node in self.sections.items()}


@dataclass(frozen=True)
class Resolved:
    """A spec under one profile."""

    document: Document
    profile: str
    name: str | None
    title: str
    body: Node  # merged, not settled: where each value was written
    sections: dict[str, Node]  # settled parts that do not vary over points
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]
    base: Point  # the body without any axis: what all points share
    sets: tuple[str, ...] = ()
    errors: tuple[SpecError, ...] = field(default=(), compare=False)
    unsettled: frozenset[int] = field(default=frozenset(), compare=False)  # ids of sections without some value

    @property
    def is_fragment(self) -> bool:
        """Whether the file has no name: then it is extended, never run."""
        return is_fragment(self.document)

    @cached_property
    def data(self) -> dict[str, Any]:
        return {name: node.plain() for name, node in self.sections.items()}

    @property
    def is_suite(self) -> bool:
        return "suite" in self.sections

    @property
    def seeds(self) -> tuple[int, ...]:
        seeds = self.data["seeds"]
        return tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)


def choose_profile(document: Document, asked: str | None) -> str:
    """The profile to take: the one asked for, the spec's default, or the paper's."""
    if asked is not None:
        known = [PAPER, *document.profiles]
        if asked not in known:
            hint = suggest(asked, known)
            raise UsageError(
                f"{document.path}: there is no profile '{asked}' (known: {', '.join(known)})"
                + (f"; {hint}" if hint else "")
            )
        return asked
    for file in reversed(document.files):
        default = file.at(["default_profile"])
        if default is not None and isinstance(default.value, str):
            return default.value if default.value in document.profiles else PAPER
    return PAPER


def resolve(document: Document, profile: str, sets: Sequence[str] = ()) -> Resolved:
    """The spec under a profile and flags, with every error of composition collected."""
    memo = (document.path, tuple(map(id, document.files)), profile, tuple(sets))
    if memo not in _resolved:
        found = resolve_anew(document, profile, sets)
        if len(_resolved) >= MOST_REMEMBERED:
            _resolved.pop(next(iter(_resolved)))
        _resolved[memo] = found
    return _resolved[memo]


# Specs name each other: suites, comparisons and reports resolve what was resolved before. What is resolved keeps its
# files, so that their ids stay their own.
MOST_REMEMBERED = 256
_resolved: dict[tuple[str, tuple[int, ...], str, tuple[str, ...]], Resolved] = {}


def resolve_anew(document: Document, profile: str, sets: Sequence[str] = ()) -> Resolved:
    """The spec under a profile and flags, whether it was resolved before or not."""
    fragment = is_fragment(document)
    merger, settler = Merger(), Settler(partial=fragment)
    body = merged(document, profile, sets, merger)
    axes: tuple[Axis, ...] = ()
    points: tuple[Point, ...] = ()
    if not is_suite(body):
        axes = axes_of(body, merger.errors, partial=fragment)
        points = tuple(point(body, choice, merger, settler) for choice in product(axes))
    names = settler.names(body.at(["let"]))
    base = point(body, (), merger, settler)
    leaf = document.leaf
    return Resolved(
        document, profile, text_of(leaf, "name"), text_of(leaf, "title") or "", body,
        settled_sections(leaf, body, settler, names), axes, points, base, tuple(sets),
        tuple(merger.errors + settler.errors), frozenset(settler.unsettled),
    )  # fmt: skip


def merged(document: Document, profile: str, sets: Sequence[str], merger: Merger) -> Node:
    """The body: extends, then the profile, then the flags."""
    schema = load("experiment")
    body = Node({}, document.leaf.source, {})
    layers: list[Node] = []
    for file in document.files:
        merger.errors += misplaced(file, (), DOCUMENT)
        own = without(file, NOT_BODY)
        layers = [prune(layer, body, own) for layer in layers]
        body = merger.merge(body, own, schema)
        layers = document.overlays(file, profile, layers)
    for layer in layers:
        merger.errors += misplaced(layer, ("profiles", profile), PROFILE)
        body = merger.merge(body, layer, schema)
    for flag in sets:
        body = merger.put(body, *parse_set(flag, body), schema)
    return body


def settled_sections(leaf: Node, body: Node, settler: Settler, names: Names) -> dict[str, Node]:
    """What does not vary over points; what a file says of itself comes from the file alone."""
    schema = load("experiment")
    sections = {}
    for key in schema["properties"]:
        if key in EXPERIMENT or key in ("profiles", "extends"):
            continue
        node = leaf.at([key]) if key in OWN else body.at([key])
        if node is None or node.value is None:
            default = schema["properties"][key].get("default")
            if default is None:
                continue
            node = Node(default if not isinstance(default, dict) else {}, DEFAULT, {})
        sections[key] = settler.section(node, schema["properties"][key], names, (key,))
    return sections


def point(body: Node, choice: tuple[tuple[Axis, int], ...], merger: Merger, settler: Settler) -> Point:
    """One point of the study: the body under its variant and its swept values, settled."""
    schema = load("experiment")
    for axis, index in choice:
        for path, value in axis.overlays[index]:
            if not path and not isinstance(value.value, dict):
                continue  # a variant that is no mapping: said where the file is checked
            body = merger.put(body, path.split(".") if path else [], value, schema)
    names = settler.names(body.at(["let"]))
    sections = {}
    for key in EXPERIMENT:
        node = body.at([key])
        if key == "evaluate" and node is None:
            node = Node({}, DEFAULT, {})
        if node is not None and key != "let":
            sections[key] = settler.section(node, schema["properties"][key], names, (key,))
    where = {axis.name: axis.labels[index] for axis, index in choice}
    return Point(where, sections, names.values, body.at(["let"]))


def parse_set(flag: str, body: Node) -> tuple[list[str], Node]:
    """`a.b=c` as a path and a value; the value is typed as YAML, and errors name the flag."""
    path, equals, text = flag.partition("=")
    source = Source(f"--set {flag}")
    if not equals or not path:
        raise UsageError(f"--set {flag}: write it as path=value, such as agent.discount=0.95")
    parts = path.split(".")
    if parts[0] not in PROFILE:
        hint = suggest(parts[0], PROFILE)
        raise SpecErrors(
            [SpecError(source, path, f"--set cannot change '{parts[0]}'", hint or f"it may change {one_of(PROFILE)}")]
        )
    sweep = body.at(["sweep"])
    for name, axis in sweep.value.items() if sweep is not None and isinstance(sweep.value, dict) else ():
        for swept in axis.value if isinstance(axis.value, dict) else ():
            if swept == path or swept.startswith(path + ".") or path.startswith(swept + "."):
                message = f"the sweep over {name} sets {swept} at every point, so this flag would change nothing"
                raise SpecErrors(
                    [
                        SpecError(
                            source, path, message, f"set the axis instead: --set 'sweep.{name}={{{swept}: [{text}]}}'"
                        )
                    ]
                )
    return parts, load_value(text, source)


def without(node: Node, keys: Sequence[str]) -> Node:
    if not isinstance(node.value, dict):
        return node
    return Node({key: item for key, item in node.value.items() if key not in keys}, node.source, node.keys)


def text_of(node: Node, key: str) -> str | None:
    found = node.at([key])
    return found.value if found is not None and isinstance(found.value, str) else None


def is_fragment(document: Document) -> bool:
    name = document.leaf.at(["name"])
    return name is None or name.value is None


def is_suite(body: Node) -> bool:
    suite = body.at(["suite"])
    return suite is not None and suite.value is not None
