"""A spec file and the files that it extends."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from wmlab.errors import SpecError, SpecErrors, suggest
from wmlab.spec.yaml.load import load
from wmlab.spec.yaml.node import Node

PAPER = "paper"  # the profile that is the body as it stands


@dataclass(frozen=True)
class Document:
    """The files of one spec, the most distant ancestor first."""

    path: str  # as the user wrote it
    files: tuple[Node, ...]

    @property
    def leaf(self) -> Node:
        return self.files[-1]

    @property
    def name(self) -> str | None:
        """The experiment's name, which no ancestor gives."""
        return text_of(self.leaf, "name")

    @property
    def is_fragment(self) -> bool:
        """Whether the file has no name: then it is extended, never run."""
        name = self.leaf.at(["name"])
        return name is None or name.value is None

    @cached_property
    def profiles(self) -> tuple[str, ...]:
        """The names of the profiles that the spec has, its own and its ancestors'."""
        names = dict.fromkeys(name for file in self.files for name in overlays_in(file))
        return tuple(name for name in names if self.layers(name))

    def layers(self, profile: str) -> list[Node]:
        """A profile's overlays, the most distant ancestor's first."""
        layers: list[Node] = []
        for file in self.files:
            layers = self.overlays(file, profile, layers)
        return layers

    @staticmethod
    def overlays(file: Node, profile: str, inherited: list[Node]) -> list[Node]:
        """The overlays of a profile once a file has had its say; a null profile forgets the ancestors'."""
        overlay = overlays_in(file).get(profile)
        if overlay is None or profile == PAPER:
            return inherited
        if overlay.value is None:
            return []
        return [*inherited, overlay] if isinstance(overlay.value, dict) else inherited

    def sibling(self, reference: str) -> str:
        """The path of a spec that this one names, as a user would write it."""
        return relative(self.path, reference)


def overlays_in(file: Node) -> dict[str, Node]:
    profiles = file.at(["profiles"])
    return profiles.value if profiles is not None and isinstance(profiles.value, dict) else {}


def relative(path: str, reference: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(path), reference))


def text_of(node: Node, key: str) -> str | None:
    """The text under a key; None where there is none."""
    entry = node.at([key])
    return entry.value if entry is not None and isinstance(entry.value, str) else None


def read(path: str) -> Document:
    """Load a spec and all its ancestors."""
    files: list[Node] = []
    trail: list[str] = []
    current = path
    while True:
        trail.append(current)
        file = load(current)
        files.append(file)
        parent = file.at(["extends"])
        if parent is None or parent.value is None:
            return Document(path, tuple(reversed(files)))
        current = ancestor(parent, trail)


def ancestor(parent: Node, trail: list[str]) -> str:
    """The path that an `extends` leads to, or the reason why it leads nowhere."""
    if not isinstance(parent.value, str):
        raise SpecErrors([SpecError(parent.source, "extends", "expected the path of one spec")])
    if os.path.isabs(parent.value):
        message = "an absolute path means another file on another machine; write it relative to this file"
        raise SpecErrors([SpecError(parent.source, "extends", message)])
    path = relative(trail[-1], parent.value)
    seen = [os.path.realpath(step) for step in trail]
    if os.path.realpath(path) in seen:
        cycle = " → ".join([*trail[seen.index(os.path.realpath(path)) :], path])
        raise SpecErrors([SpecError(parent.source, "extends", f"a circle: {cycle}")])
    if os.path.isdir(path):
        raise SpecErrors([SpecError(parent.source, "extends", f"{path} is a folder, not a file")])
    if not os.path.exists(path):
        raise SpecErrors([SpecError(parent.source, "extends", f"there is no file {path}", near(path))])
    return path


def near(path: str) -> str | None:
    """A file of the same folder with almost the same name."""
    folder = os.path.dirname(path) or "."
    return suggest(os.path.basename(path), sorted(os.listdir(folder))) if os.path.isdir(folder) else None
