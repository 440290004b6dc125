"""The mistakes of a study's points: each section's structure, then its meaning."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import SpecError
from wmlab.spec.check.meaning import Worlds, let_errors, missing_sections, point_errors
from wmlab.spec.check.structure import structure_errors
from wmlab.spec.compose.resolve import Point, Resolved
from wmlab.spec.yaml.node import Node


def experiment_errors(resolved: Resolved, worlds: Worlds) -> tuple[list[SpecError], set[str]]:
    """The mistakes of all points, and the sections that are unsound in some of them.

    A mistake that the body has without any axis is shown where the body made it, not where a variant touched it. What
    every point replaces has no meaning to be checked, but it has a form.
    """
    checker = PointChecker(resolved, worlds)
    found = dict.fromkeys(error for point in resolved.points for error in checker.errors(point))
    unsound = set(checker.unsound)  # but for the body, which may lack what every variant brings
    if found:
        base = {(error.path, error.message): error for error in checker.errors(resolved.base)}
        found = {base.get((error.path, error.message), error): None for error in found}
    return [*form_errors(resolved), *found], unsound


def form_errors(resolved: Resolved) -> Iterator[SpecError]:
    """What no spec could say, in parts of the body that no point has as they are."""
    for key, node in resolved.base.sections.items():
        if not any(point.sections.get(key) is node for point in resolved.points):
            yield from structure_errors(node, key, partial=True)


class PointChecker:
    """Structure, then meaning, of points; they share most sections, and what was checked once is remembered."""

    def __init__(self, resolved: Resolved, worlds: Worlds):
        self.resolved, self.worlds = resolved, worlds
        self.unsound: set[str] = set()
        self._structure: dict[int, tuple[SpecError, ...]] = {}
        self._meaning: dict[tuple[int, ...], tuple[SpecError, ...]] = {}

    def errors(self, point: Point) -> Iterator[SpecError]:
        broken = set()
        for key, node in point.sections.items():
            errors = self.structure(key, node)
            yield from errors
            if errors or id(node) in self.resolved.unsettled:
                broken.add(key)
        if point.let is not None:
            yield from self.structure("let", point.let)
            yield from let_errors(point.let)
        self.unsound |= broken
        if self.resolved.is_fragment:
            return
        yield from missing_sections(point.sections, self.resolved.body)
        memo = tuple(id(node) for node in point.sections.values())
        if memo not in self._meaning:
            self._meaning[memo] = tuple(point_errors(point, broken, self.worlds))
        yield from self._meaning[memo]

    def structure(self, key: str, node: Node) -> tuple[SpecError, ...]:
        if id(node) not in self._structure:
            self._structure[id(node)] = tuple(structure_errors(node, key, partial=self.resolved.is_fragment))
        return self._structure[id(node)]
