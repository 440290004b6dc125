"""What a spec says of other specs and of its own paths: suites, comparisons, assumptions."""

from __future__ import annotations

import os
from collections.abc import Iterator

from wmlab.errors import SpecError, SpecErrors, one_of
from wmlab.spec.check.metrics import world_of
from wmlab.spec.check.pairing import pairing_errors
from wmlab.spec.compose.axes import unknown_path
from wmlab.spec.compose.document import Document, near, read
from wmlab.spec.compose.resolve import Resolved, text_of
from wmlab.spec.compose.settle import DEFAULT
from wmlab.spec.schema.words import EXPERIMENT, PROFILE
from wmlab.spec.yaml.node import Node

# World: the words that a comparison of models may use.
COMPARED = {
    "finite": {"distance": ("mse", "tv")},
    "continuous": {"distance": ("nmse", "mse"), "states": ("uniform", "reset")},
}


def same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def suite_errors(resolved: Resolved, broken: set[str]) -> Iterator[SpecError]:
    """A suite has no experiment of its own, and its members are specs that can be run."""
    for key in (*EXPERIMENT, "sweep", "variants", "compare", "relate"):
        node = resolved.body.at([key])
        if node is not None:
            message = "a suite lists specs; it has no experiment of its own"
            yield SpecError(resolved.body.keys.get(key, node.source), key, message)
    if "suite" in broken:
        return
    names: dict[str, str] = {}
    for i, member in enumerate(resolved.sections["suite"].items):
        wrong = list(reference_errors(resolved.document, member, f"suite[{i}]"))
        yield from wrong
        if wrong:
            continue
        target = resolved.document.sibling(str(member.value))
        name = text_of(read(target).leaf, "name") or ""
        if names.setdefault(name, target) != target:
            message = f"{names[name]} has the name '{name}' too: results are told apart by it"
            yield SpecError(member.source, f"suite[{i}]", message)


def compare_errors(resolved: Resolved) -> Iterator[SpecError]:
    for name, item in resolved.sections["compare"].entries.items():
        target = item.at(["with"])
        wrong = [] if target is None else list(reference_errors(resolved.document, target, f"compare.{name}.with"))
        yield from wrong
        if all("extract" not in point.sections for point in resolved.points):
            message = "models are compared, and there is no `extract`"
            yield SpecError(item.source, f"compare.{name}", message)
        elif not wrong:
            yield from distance_errors(resolved, name, item)
            yield from pairing_errors(resolved, name, item.near(["with"]))


def distance_errors(resolved: Resolved, name: str, item: Node) -> Iterator[SpecError]:
    """Distances and states that a kind of world does not have."""
    worlds = {world_of(point.data) for point in resolved.points}
    for world, key, words in ((w, k, v) for w in worlds if w is not None for k, v in COMPARED.get(w, {}).items()):
        said = item.near([key])
        if said.value not in words:
            source = item.source if said.source == DEFAULT else said.source
            yield SpecError(
                source,
                f"compare.{name}.{key}",
                f"{said.value} has no meaning in a {world} world",
                f"say {one_of(words)}",
            )


def reference_errors(document: Document, node: Node, path: str) -> Iterator[SpecError]:
    """Why a spec that another names cannot be used."""
    if not isinstance(node.value, str):
        return
    target = document.sibling(node.value)
    if not os.path.isfile(target):
        yield SpecError(node.source, path, f"there is no spec {target}", near(target))
        return
    try:
        other = read(target)
    except SpecErrors:
        yield SpecError(node.source, path, f"{target} cannot be read; see its own errors")
        return
    if same_file(target, document.path):
        yield SpecError(node.source, path, "a spec cannot name itself")
    elif text_of(other.leaf, "name") is None:
        yield SpecError(node.source, path, f"{target} is a fragment: it has no name, so it cannot be run")
    elif other.leaf.at(["suite"]) is not None:
        yield SpecError(node.source, path, f"{target} is a suite; name its specs")


def assumption_errors(resolved: Resolved) -> Iterator[SpecError]:
    """Assumptions about paths that this spec does not have."""
    assumptions = resolved.sections["assumptions"]
    for path in assumptions.entries:
        parts = path.split(".")
        sections = [point.sections[parts[0]] for point in resolved.points if parts[0] in point.sections]
        if resolved.body.at(parts) is not None or any(node.at(parts[1:]) is not None for node in sections):
            continue
        for message, hint in unknown_path(path, resolved.body, PROFILE):
            yield SpecError(assumptions.key(path), "assumptions", message, hint)
