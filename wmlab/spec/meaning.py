"""Meaning: what a schema cannot see. Kinds look at their own options; here they are called, and sections are weighed
against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from wmlab import expressions
from wmlab.errors import Source, SpecError
from wmlab.registry import CHECKS, FAMILIES, Finding, Scope, extractions, mdps, section_check
from wmlab.spec.metrics import NEED_TRUTH, world_of
from wmlab.spec.node import Node, show_path
from wmlab.spec.resolve import Point
from wmlab.spec.settle import DEFAULT

KINDS = {  # family: where its kind stands
    "mdp": ("mdp",),
    "reward": ("goals", "reward"),
    "agent": ("agent",),
    "extract": ("extract",),
    "solver": ("evaluate", "unseen", "solver"),
}
REQUIRED = ("mdp", "goals", "agent")


def point_errors(point: Point, broken: set[str]) -> Iterator[SpecError]:
    """Mistakes in the meaning of one point; sections whose structure is broken are left alone."""
    yield from world_errors(point, broken)
    scope = scope_of(point, broken)
    for family, path in KINDS.items():
        if path[0] in point.sections and path[0] not in broken:
            node = point.sections[path[0]].at(path[1:])
            if node is not None:
                data = node.plain()
                kind = FAMILIES[family][data["kind"]]
                yield from located(node, path, kind.check(kind.build(data), scope))
    if scope.space is None:
        return
    for section in CHECKS:
        if section in point.sections and section not in broken:
            yield from located(point.sections[section], (section,), section_check(section)(point.data[section], scope))


def scope_of(point: Point, broken: set[str]) -> Scope:
    """What checks may look at; the state space is there when the world is sound."""
    if "mdp" not in point.sections or "mdp" in broken:
        return Scope(None, point.data)
    kind = mdps[point.data["mdp"]["kind"]]
    options = kind.build(point.data["mdp"])
    if any(True for _ in kind.check(options, Scope(None, point.data))):
        return Scope(None, point.data)
    return Scope(kind.traits["space"](options), point.data)


def located(node: Node, path: tuple[str | int, ...], findings: Iterable[Finding]) -> Iterator[SpecError]:
    """Findings with their place in the file: the nearest value that was written."""
    for finding in findings:
        yield SpecError(place_of(node, finding), show_path([*path, *finding.path]), finding.message, finding.hint)


def place_of(node: Node, finding: Finding) -> Source:
    for depth in range(len(finding.path), 0, -1):
        above, key = node.at(finding.path[: depth - 1]), finding.path[depth - 1]
        found = above.at([key]) if above is not None else None
        if found is None or above is None or found.source == DEFAULT:
            continue
        exact = depth == len(finding.path)
        return above.keys.get(str(key), found.source) if finding.key and exact else found.latest
    return node.latest


def world_errors(point: Point, broken: set[str]) -> Iterator[SpecError]:
    """Sections that do not go with the kind of world."""
    world = None if "mdp" in broken else world_of(point.data)
    if world is None:
        return
    name = point.data["mdp"]["kind"]
    if world == "unknown":
        for key in NEED_TRUTH:
            node = point.sections["evaluate"].at([key])
            if node is not None:
                message = "needs true dynamics, and mdp.kind is unknown"
                hint = "available: fit, identify, unseen.*.r_believed"
                yield SpecError(node.source, f"evaluate.{key}", message, hint)
    if "extract" in point.sections and "extract" not in broken:
        wanted = extractions[point.data["extract"]["kind"]].traits["world"]
        if wanted not in (world, "any") and world != "unknown":
            node = point.sections["extract"].at(["kind"]) or point.sections["extract"]
            message = f"{node.value} needs a {wanted} world, and mdp.kind {name} is {world}"
            yield SpecError(node.source, "extract.kind", message)
        support = point.sections["extract"].at(["prior", "support"])
        if world == "continuous" and support is not None:
            yield SpecError(
                support.source,
                "extract.prior.support",
                f"a support prior needs a finite world, and {name} is continuous",
            )


def missing_sections(sections: dict[str, Node], top: Node) -> Iterator[SpecError]:
    missing = [f"'{key}'" for key in REQUIRED if key not in sections]
    if missing:
        needs = ", ".join(REQUIRED[:-1])
        message = f"missing {'key' if len(missing) == 1 else 'keys'} {', '.join(missing)}"
        yield SpecError(top.latest, "", message, f"an experiment needs {needs} and {REQUIRED[-1]}")


def let_errors(let: Node) -> Iterator[SpecError]:
    """Names under `let` that an expression could not say."""
    for name in let.value if isinstance(let.value, dict) else ():
        problem = expressions.name_problem(name)
        if problem is not None:
            yield SpecError(let.keys.get(name, let.source), "let", problem)


def space_of(experiment: dict[str, Any]) -> Any:
    """The state space that a valid experiment's world has."""
    kind = mdps[experiment["mdp"]["kind"]]
    return kind.traits["space"](kind.build(experiment["mdp"]))
