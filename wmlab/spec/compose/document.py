"""A spec file and the files that it extends."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from wmlab.errors import SpecError, SpecErrors, suggest
from wmlab.limits import FILES
from wmlab.spec.yaml.load import is_spec, load
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


def read(path: str, leaf: Node | None = None) -> Document:
    """Load a spec and all its ancestors; `leaf` is the spec itself where it comes from no file."""
    files = [load(path) if leaf is None else leaf]
    trail = {os.path.realpath(path): path}  # where each file really is: how it was named
    while (parent := files[-1].at(["extends"])) is not None and parent.value is not None:
        if len(files) == FILES:
            message = f"{FILES} files extend each other before this one; no more are read"
            raise SpecErrors([SpecError(parent.source, "extends", message)])
        files.append(load_named(parent, ancestor(parent, trail)))
    return Document(path, tuple(reversed(files)))


def load_named(parent: Node, path: str) -> Node:
    """The file that an `extends` names. One that is no spec is named and not shown: it may be somebody's secret."""
    if not is_spec(path):
        raise SpecErrors([SpecError(parent.source, "extends", no_spec(path))])
    return load(path)


def no_spec(path: str) -> str:
    return f"{path} is no spec: nothing in it says `wmlab: 1`"


def ancestor(parent: Node, trail: dict[str, str]) -> str:
    """The path that an `extends` leads to, or the reason why it leads nowhere; the trail goes on there."""
    if not isinstance(parent.value, str):
        raise SpecErrors([SpecError(parent.source, "extends", "expected the path of one spec")])
    if os.path.isabs(parent.value):
        message = "an absolute path means another file on another machine; write it relative to this file"
        raise SpecErrors([SpecError(parent.source, "extends", message)])
    *_, last = trail.values()
    path = relative(last, parent.value)
    place = os.path.realpath(path)
    if place in trail:
        cycle = " → ".join([*list(trail.values())[list(trail).index(place) :], path])
        raise SpecErrors([SpecError(parent.source, "extends", f"a circle: {cycle}")])
    if os.path.isdir(path):
        raise SpecErrors([SpecError(parent.source, "extends", f"{path} is a folder, not a file")])
    if not os.path.exists(path):
        raise SpecErrors([SpecError(parent.source, "extends", f"there is no file {path}", near(path))])
    trail[place] = path
    return path


def near(path: str) -> str | None:
    """A file of the same folder with almost the same name."""
    folder = os.path.dirname(path) or "."
    return suggest(os.path.basename(path), sorted(os.listdir(folder))) if os.path.isdir(folder) else None
