"""Numbers that cannot be: goals that cannot be counted, and values that no world could hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wmlab.errors import SpecError
from wmlab.limits import CONTINUOUS_NUMBER, GOALS, grouped, holds_too_large
from wmlab.registry import WorldChoice
from wmlab.spec.yaml.node import Node, show, show_path

Path = tuple[str | int, ...]


def number_errors(sound: Mapping[str, Node]) -> Iterator[tuple[str, SpecError]]:
    """Each with the section of which nothing more can be said then."""
    for error in goal_count_errors(sound.get("goals")):
        yield "goals", error
    if "mdp" in sound and WorldChoice(sound["mdp"].plain()).sort == "continuous":
        for section, node in sound.items():
            for error in too_large(node, (section,), node):
                yield section, error


def goal_count_errors(goals: Node | None) -> Iterator[SpecError]:
    """Goals that cannot be counted, {linspace: [from, to, how many]}, or that are too many."""
    at = goals.at(["at"]) if goals is not None else None
    if at is None:
        return
    total = max(len(at.items), 1)
    for name, axis in at.entries.items():
        count = axis.at(["linspace", 2])
        value = count.value if count is not None else None
        if count is None or not isinstance(value, (int, float)):
            total *= max(len(axis.items), 1)
        elif value < 1 or value != round(value):
            place, message = show_path(["goals", "at", name, "linspace", 2]), f"{value:g} is no number of goals"
            yield SpecError(count.source, place, message, "say a whole number, 1 or more")
        else:
            total *= int(value)
    if total > GOALS:
        message = f"{grouped(total)} goals; {grouped(GOALS)} are allowed"
        yield SpecError(at.latest, "goals.at", message, "list fewer, or take fewer along each variable")


def too_large(node: Node, path: Path, section: Node) -> Iterator[SpecError]:
    """Numbers that float32, in which continuous worlds are computed, could not square."""
    children: list[tuple[str | int, Node]] = [*node.entries.items(), *enumerate(node.items)]
    for key, child in children:
        yield from too_large(child, (*path, key), section)
    if not children and holds_too_large(node.value):
        message = f"{show(node.value)} is too large for a continuous world, which is computed in float32"
        source = section.latest if node.source.is_default else node.source
        yield SpecError(source, show_path(path), message, f"stay within {CONTINUOUS_NUMBER:g}")
