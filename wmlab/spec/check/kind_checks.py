"""What a schema cannot see: kinds check their own options, and sections are weighed against each other."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from wmlab import expressions
from wmlab.errors import Source, SpecError, one_of
from wmlab.registry import (
    CHECKS,
    FAMILIES,
    Finding,
    Scope,
    WorldChoice,
    build,
    section_check,
)
from wmlab.sections.explorer import EXPLORER_BYTES, Explore
from wmlab.spec.check.array_headers import shapes_in
from wmlab.spec.check.metrics import need_truth
from wmlab.spec.check.numbers import number_errors
from wmlab.spec.check.references import file_errors
from wmlab.spec.check.schema_errors import schema_errors
from wmlab.spec.check.small_arrays import arrays_in
from wmlab.spec.compose.points import Point, record_of
from wmlab.spec.compose.resolve import Resolved
from wmlab.spec.compose.values import hint_at, inside
from wmlab.spec.compose.worlds import checked_world
from wmlab.spec.schema.walk import section_rules
from wmlab.spec.yaml.diagnose import cut_at_commas
from wmlab.spec.yaml.node import Node, show_path

KINDS = {  # family: where its kind stands
    "mdp": ("mdp",),
    "reward": ("goals", "reward"),
    "agent": ("agent",),
    "extract": ("extract",),
    "solver": ("evaluate", "unseen", "solver"),
}
REQUIRED = ("mdp", "goals", "agent")
EXPLORED = {"finite": ("successors",), "continuous": ("over", "at", "points")}  # options of one sort of world alone


def experiment_errors(resolved: Resolved) -> tuple[list[SpecError], set[str]]:
    """The mistakes of all points, and the sections that are unsound in some of them.

    A mistake that the body has without any axis is shown where the body made it, not where a variant touched it. What
    every point replaces has no meaning to be checked, but it has a form.
    """
    checker = PointChecker(resolved)
    errors = dict.fromkeys(error for point in resolved.points for error in checker.errors(point))
    unsound = set(checker.unsound)  # but for the body, which may lack what every variant brings
    if errors:
        base = {(error.path, error.message): error for error in checker.errors(resolved.base)}
        errors = {base.get((error.path, error.message), error): None for error in errors}
    return [*replaced_errors(resolved), *errors], unsound


def replaced_errors(resolved: Resolved) -> Iterator[SpecError]:
    """What no spec could say, in parts of the body that no point has as they are."""
    for key, node in resolved.base.sections.items():
        if not any(point.sections.get(key) is node for point in resolved.points):
            yield from schema_errors(node, key, partial=True)


class PointChecker:
    """Checks points against the schema, then by their kinds; points share most sections, and each is checked once."""

    def __init__(self, resolved: Resolved):
        self.resolved = resolved
        self.unsound: set[str] = set()
        self._schema_errors: dict[Node, tuple[SpecError, ...]] = {}
        self._kind_errors: dict[tuple[Node, ...], tuple[SpecError, ...]] = {}

    def errors(self, point: Point) -> Iterator[SpecError]:
        broken = set(point.incomplete)
        for key, node in point.sections.items():
            errors = self.schema_errors(key, node)
            yield from errors
            if errors:
                broken.add(key)
        if point.let is not None:
            yield from self.schema_errors("let", point.let)
            yield from let_errors(point.let)
        self.unsound |= broken
        if self.resolved.is_fragment:
            return
        yield from missing_sections(point.sections, self.resolved.body)
        nodes = tuple(point.sections.values())
        if nodes not in self._kind_errors:
            self._kind_errors[nodes] = tuple(kind_errors(point, broken))
        yield from self._kind_errors[nodes]

    def schema_errors(self, key: str, node: Node) -> tuple[SpecError, ...]:
        if node not in self._schema_errors:
            self._schema_errors[node] = tuple(schema_errors(node, key, partial=self.resolved.is_fragment))
        return self._schema_errors[node]


def kind_errors(point: Point, broken: set[str]) -> Iterator[SpecError]:
    """Mistakes of one point that its kinds see; sections that break the schema are left alone."""
    sound = {name: node for name, node in point.sections.items() if name not in broken}
    yield from world_errors(sound)
    for section, error in list(number_errors(sound)):
        yield error
        sound.pop(section, None)
    world = checked_world(sound["mdp"], tuple(point.names)) if "mdp" in sound else None
    yield from located(sound["mdp"], ("mdp",), world.findings) if world is not None else ()
    for name in ("mdp", "agent", "data"):  # the world, the agent and the world that it believes in, a log
        if name in sound:
            yield from file_errors(sound[name], section_rules(name), (name,))
    records = {name: record_of(name, node) for name, node in sound.items()}
    others = {name: record for name, record in records.items() if name != "evaluate"}
    scope = Scope(
        world and world.space,
        **others,
        extracts="extract" in point.sections,
        let=tuple(point.names),
        holds=shapes_in,
        arrays=arrays_in,
    )
    for family, path in KINDS.items():
        choice = functools.reduce(lambda part, name: getattr(part, name, None), path[1:], records.get(path[0]))
        strange = choice is not None and world is not None and choice.traits.worlds not in (world.choice.sort, "any")
        if choice is not None and family != "mdp" and not strange:  # what needs another sort of world was told so
            whole, findings = sound[path[0]], choice.kind.check(choice.options, scope)
            yield from located(whole.near(path[1:]), path, findings, nearest_written(whole, path[1:]))
        if choice is not None and not strange:
            yield from box_errors(family, path, choice, sound[path[0]], scope)
    if scope.space is None:
        return
    for section in CHECKS:
        if section in sound:
            yield from located(sound[section], (section,), section_check(section)(records[section], scope))


FROM_BOX = {  # family: what it says that takes finitely many actions, and what to say in its place
    "agent": ("this agent takes finitely many actions", "say external, with a critic that reads actions"),
    "extract": ("this method finds what each of finitely many actions does", "say p_learning"),
    "solver": ("this solver takes finitely many actions", "say grid_value_iteration or sampling"),
}


def box_errors(family: str, path: tuple[str, ...], choice: Any, section: Node, scope: Scope) -> Iterator[SpecError]:
    """Kinds that need a list of actions, in a world whose actions are from a box."""
    if family not in FROM_BOX or not getattr(scope.space, "in_box", False) or choice.traits.from_box:
        return
    message, instead = FROM_BOX[family]
    component = scope.space.controls[0]
    hint = f"{instead}; or list values of components: {component}: [-1, 0, 1]"
    source = section.near([*path[1:], "kind"]).source
    yield SpecError(source, show_path([*path, "kind"]), f"{message}, and those of this world are from a box", hint)


def located(
    node: Node, path: tuple[str | int, ...], findings: Iterable[Finding], otherwise: Source | None = None
) -> Iterator[SpecError]:
    """Findings with their place in the file: the nearest value that was written, `otherwise` where none of it was."""
    for finding in findings:
        source, message, hint = place_of(node, finding), finding.message, finding.hint
        if source.is_default and otherwise is not None:
            source = otherwise
        value = node.at(finding.path)
        if finding.offset is not None and value is not None and isinstance(value.value, str):
            written = value.written or value.value
            cut = cut_at_commas(value.source, written)
            message, hint = cut or (message, hint_at(finding.path, hint))
            if cut is None:
                offset = finding.offset
                if value.written is not None:
                    offset = expressions.written_offset(written, value.value, offset)
                source = value.character(offset) or inside(value.source, offset)
        yield SpecError(source, show_path([*path, *finding.path]), message, hint)


def place_of(node: Node, finding: Finding) -> Source:
    for depth in range(len(finding.path), 0, -1):
        above, key = node.at(finding.path[: depth - 1]), finding.path[depth - 1]
        value = above.at([key]) if above is not None else None
        if value is None or above is None or value.source.is_default:
            continue
        exact = depth == len(finding.path)
        return above.keys.get(str(key), value.source) if finding.key and exact else value.latest
    return node.latest


def nearest_written(section: Node, path: tuple[str, ...]) -> Source:
    """The place of what was written nearest to a path: of itself, or of what it is a part of."""
    return place_of(section, Finding(path, ""))


def world_errors(sound: dict[str, Node]) -> Iterator[SpecError]:
    """Sections that do not go with the kind of world."""
    if "mdp" not in sound:
        return
    chosen = record_of("mdp", sound["mdp"])
    name, world = chosen.name, chosen.sort
    if not chosen.knows_truth:
        yield from truth_errors(sound, name, world == "finite")
    for family, path in KINDS.items():
        node = sound[path[0]].at([*path[1:], "kind"]) if path[0] in sound else None
        wanted = FAMILIES[family][str(node.value)].traits.worlds if node is not None else "any"
        if node is not None and family != "mdp" and wanted not in (world, "any"):
            message = f"{node.value} needs a {wanted} world, and mdp.kind {name} is {world}"
            source = sound[path[0]].near(path[1:-1]).source if node.source.is_default else node.source
            hint = f"say kind: {one_of(kinds_for(family, world))}"
            yield SpecError(source, show_path([*path, "kind"]), message, hint)
    yield from explorer_errors(sound, chosen)
    support = sound["extract"].at(["prior", "support"]) if "extract" in sound else None
    if world == "continuous" and support is not None:
        message = f"a support prior needs a finite world, and {name} is continuous"
        yield SpecError(support.source, "extract.prior.support", message)


def explorer_errors(sound: dict[str, Node], chosen: WorldChoice) -> Iterator[SpecError]:
    """An explorer that a page has no room for, or what its sort of world does not have."""
    asked = sound["evaluate"].at(["explore"]) if "evaluate" in sound else None
    if asked is None or not isinstance(asked.value, dict):
        return
    other = "finite" if chosen.sort == "continuous" else "continuous"
    for name in EXPLORED[other]:
        part = asked.at([name])
        if part is not None and part.value is not None and not part.source.is_default:
            message = f"is of a {other} world, and mdp.kind {chosen.name} is {chosen.sort}"
            hint = f"leave it out, or say {one_of(EXPLORED[chosen.sort])}"
            yield SpecError(asked.keys.get(name, part.source), f"evaluate.explore.{name}", message, hint)
    if chosen.sort == "continuous":
        return
    states, actions = chosen.space.size, len(chosen.space.actions)
    size = build(Explore, asked.plain()).most_bytes(states, actions)
    if size > EXPLORER_BYTES:
        message = (
            f"an explorer of {states} states and {actions} actions may take {size / 1e6:.1f} MB of the page, "
            f"and there is room for {EXPLORER_BYTES / 1e6:.0f}"
        )
        yield SpecError(asked.source, "evaluate.explore", message, "keep fewer goals or successors, or leave it out")


def kinds_for(family: str, world: str) -> list[str]:
    """The kinds of a family that go with a sort of world."""
    kinds = {name: FAMILIES[family][name] for name in FAMILIES[family].own}
    return [name for name, kind in kinds.items() if kind.traits.worlds in (world, "any")]


def truth_errors(sound: dict[str, Node], name: str, finite: bool) -> Iterator[SpecError]:
    """What cannot be asked, and which agents cannot be made, where nobody says what actions do."""
    needs = f"needs true dynamics, and mdp.kind is {name}"
    tables = ("unseen.guarantee", "design") if finite else ()
    available = ", ".join(["fit", "identify", *tables, "unseen.*.r_believed"])
    for path in need_truth() if "evaluate" in sound else ():
        node = sound["evaluate"].at(path)
        if node is None or node.value in (None, []):
            continue
        logged = "data" in sound and path == ("model_error",)
        if not logged:
            yield SpecError(node.source, show_path(["evaluate", *path]), f"{needs}; available: {available}")
        elif node.near(["against"]).value != "data":
            yield SpecError(node.source, "evaluate.model_error", needs, "say against: data, which there is")
    agent = sound["agent"].plain() if "agent" in sound else {}
    if agent and FAMILIES["agent"][agent["kind"]].traits.acts and agent.get("world") is None:
        source = sound["agent"].near(["kind"]).source
        message = f"{agent['kind']} {needs.replace('true dynamics', 'a world to act in')}"
        yield SpecError(source, "agent.kind", message, "say external, and name the file that holds its values")


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
