"""Validation: every mistake of a spec at once, in every profile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from wmlab.errors import SpecError, SpecErrors, suggest
from wmlab.spec.claims import Study, claim_errors, relation_errors, report_errors
from wmlab.spec.document import Document, read
from wmlab.spec.meaning import missing_sections, point_errors
from wmlab.spec.node import Node
from wmlab.spec.resolve import PAPER, Resolved, resolve, text_of
from wmlab.spec.sections import EXPERIMENT
from wmlab.spec.structure import structure_errors


def validate_all(paths: Sequence[str]) -> list[SpecError]:
    """The mistakes in several files, each file's in order; nothing is raised."""
    found: list[SpecError] = []
    names: dict[str, str] = {}
    for path in paths:
        try:
            document = read(path)
            found += validate(document)
        except SpecErrors as errors:
            found += errors.errors
            continue
        name = text_of(document.leaf, "name")
        if name is not None and names.setdefault(name, path) != path and not same_file(names[name], path):
            message = f"{names[name]} has the name '{name}' too: their reports would overwrite each other"
            found.append(SpecError(document.leaf.at(["name"]).source, "name", message))
    return sorted(set(found), key=lambda error: error.order)


def same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def validate(document: Document, sets: Sequence[str] = ()) -> list[SpecError]:
    """Every mistake of one spec; those that only a profile brings say which."""
    paper = resolve(document, PAPER, sets)
    found = dict.fromkeys([*document_errors(document), *errors_of(paper)])
    axes = {axis.name for axis in paper.axes}
    for profile in document.profiles:
        resolved = resolve(document, profile, sets)
        errors = [*errors_of(resolved)]
        if {axis.name for axis in resolved.axes} != axes:
            source = document.layers(profile)[-1].source
            errors.append(
                SpecError(
                    source, f"profiles.{profile}", "a profile may change an axis's values, never add or drop an axis"
                )
            )
        for error in errors:
            if error not in found and plain(error) not in map(plain, found):
                found[SpecError(error.source, error.path, f"{error.message} in profile {profile}", error.hint)] = None
    return list(found)


def plain(error: SpecError) -> tuple[str, str]:
    """An error apart from the profile that it was met in."""
    return str(error.source), error.message.split(" in profile ")[0]


def checked(document: Document, profile: str, sets: Sequence[str] = ()) -> Resolved:
    """The resolved spec, sound in the chosen profile; otherwise SpecErrors."""
    resolved = resolve(document, profile, sets)
    errors = [*document_errors(document), *errors_of(resolved)]
    if errors:
        raise SpecErrors(errors)
    return resolved


def document_errors(document: Document) -> Iterator[SpecError]:
    """Mistakes in what a file says of itself."""
    for file in document.files:
        if "wmlab" not in (file.value if isinstance(file.value, dict) else {}):
            yield SpecError(file.source, "", "missing key 'wmlab'", "begin with wmlab: 1, the version of the language")
        yield from wrong_types(file)
        profiles = file.at(["profiles"])
        if profiles is not None and isinstance(profiles.value, dict) and PAPER in profiles.value:
            message = "'paper' is reserved: it is the body as it stands"
            yield SpecError(profiles.keys[PAPER], f"profiles.{PAPER}", message)
        default = file.at(["default_profile"])
        if default is not None and default.value is not None and default.value not in (PAPER, *document.profiles):
            hint = suggest(str(default.value), document.profiles)
            yield SpecError(default.source, "default_profile", f"there is no profile '{default.value}'", hint)


def wrong_types(file: Node) -> Iterator[SpecError]:
    """Overlays that are not mappings: they are never merged, so nothing else would say so."""
    for key in ("profiles", "variants"):
        node = file.at([key])
        if node is None or node.value is None:
            continue
        if not isinstance(node.value, dict):
            yield SpecError(node.source, key, "expected a mapping of names to overlays")
            continue
        for name, overlay in node.value.items():
            if overlay.value is not None and not isinstance(overlay.value, dict):
                yield SpecError(overlay.source, f"{key}.{name}", "expected a mapping")


def errors_of(resolved: Resolved) -> Iterator[SpecError]:
    """Every mistake of a spec under one profile."""
    yield from resolved.errors
    fragment = resolved.name is None and "name" not in resolved.sections
    broken = False
    for key, node in resolved.sections.items():
        for error in structure_errors(node, key):
            broken = True
            yield error
    if resolved.is_suite:
        yield from suite_errors(resolved)
        return
    yield from experiment_errors(resolved, fragment)
    if broken or fragment:
        return
    study = Study(resolved)
    yield from claim_errors(resolved, study)
    yield from relation_errors(resolved, study)
    if resolved.profile == PAPER:  # a smaller profile may lack what the report asks for; it then draws the rest
        yield from report_errors(resolved, study)
    yield from compare_errors(resolved)
    yield from assumption_errors(resolved)


def experiment_errors(resolved: Resolved, fragment: bool) -> Iterator[SpecError]:
    """Structure, then meaning, of each point; points share most sections, and those are checked once."""
    structure: dict[int, tuple[SpecError, ...]] = {}
    meaning: set[tuple[int, ...]] = set()
    for point in resolved.points:
        broken = set()
        for key, node in point.sections.items():
            if id(node) not in structure:
                structure[id(node)] = tuple(
                    error for error in structure_errors(node, key) if not (fragment and "missing key" in error.message)
                )
                yield from structure[id(node)]
            if structure[id(node)]:
                broken.add(key)
        if fragment:
            continue
        yield from missing_sections(point.sections, resolved.body)
        memo = tuple(id(node) for node in point.sections.values())
        if memo not in meaning:
            meaning.add(memo)
            yield from point_errors(point, broken)


def suite_errors(resolved: Resolved) -> Iterator[SpecError]:
    for key in (*EXPERIMENT, "sweep", "variants", "compare"):
        node = resolved.body.at([key])
        if node is not None:
            yield SpecError(
                resolved.body.keys.get(key, node.source), key, "a suite lists specs; it has no experiment of its own"
            )
    suite = resolved.sections["suite"]
    for i, member in enumerate(suite.value if isinstance(suite.value, list) else ()):
        yield from reference_errors(resolved.document, member, f"suite[{i}]")


def compare_errors(resolved: Resolved) -> Iterator[SpecError]:
    compare = resolved.sections.get("compare")
    for name, item in compare.value.items() if compare is not None and isinstance(compare.value, dict) else ():
        target = item.at(["with"])
        if target is not None:
            yield from reference_errors(resolved.document, target, f"compare.{name}.with")


def reference_errors(document: Document, node: Node, path: str) -> Iterator[SpecError]:
    """Why a spec that another names cannot be used."""
    if not isinstance(node.value, str):
        return
    target = document.sibling(node.value)
    if not os.path.isfile(target):
        folder = os.path.dirname(target) or "."
        near = suggest(os.path.basename(target), os.listdir(folder)) if os.path.isdir(folder) else None
        yield SpecError(node.source, path, f"there is no spec {target}", near)
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
    assumptions = resolved.sections.get("assumptions")
    for path in assumptions.value if assumptions is not None and isinstance(assumptions.value, dict) else ():
        parts = path.split(".")
        known: Iterable[Node] = [*(point.sections[parts[0]] for point in resolved.points if parts[0] in point.sections)]
        there = resolved.body.at(parts) is not None or any(node.at(parts[1:]) is not None for node in known)
        if not there:
            yield SpecError(assumptions.keys[path], f"assumptions.{path}", "there is no such path in this spec")
