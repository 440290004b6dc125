"""The files that a spec extends, and those that they extend, in the order in which they are laid over each other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wmlab.errors import SpecError, SpecErrors, suggest
from wmlab.limits import FILES
from wmlab.spec.yaml.load import is_spec, load
from wmlab.spec.yaml.node import Node, show_path

SECTIONS = ("mdp", "goals", "agent", "extract", "evaluate")  # where kinds are chosen
Lineage = tuple[Node, ...]  # a file with all that it extends, the most distant ancestor first
Path = tuple[str, ...]


def read_lineage(path: str, leaf: Node | None = None) -> Lineage:
    """Load a spec and all that it extends: ancestors first, those of a list in its order, each file once.

    `leaf` is the spec itself where it comes from no file.
    """
    lineages: dict[str, Lineage] = {}  # by the real path of the file that it ends with
    first = OpenFile(path, load(path) if leaf is None else leaf)
    trail = {os.path.realpath(path): first}  # files that wait for their ancestors
    while trail:
        place, current = next(reversed(trail.items()))
        if len(current.read) < len(current.parents):
            parent = current.parents[len(current.read)]
            name = ancestor(parent, trail)
            current.read.append(os.path.realpath(name))
            if current.read[-1] not in lineages:
                if len(lineages) + len(trail) == FILES:
                    raise refused(parent, f"{FILES} files extend each other before this one; no more are read")
                trail[current.read[-1]] = OpenFile(name, load_named(parent, name))
            continue
        above = [lineages[each] for each in current.read]
        refuse_conflicts(current, above)
        shared = dict.fromkeys(file for lineage in above for file in lineage)
        lineages[place] = (*shared, current.file)
        del trail[place]
    return lineages[os.path.realpath(path)]


def load_named(parent: Parent, path: str) -> Node:
    """The file that an `extends` names. One that is no spec is named and not shown: it may be somebody's secret."""
    if not is_spec(path):
        raise refused(parent, no_spec(path))
    return load(path)


def no_spec(path: str) -> str:
    return f"{path} is no spec: nothing in it says `wmlab: 1`"


@dataclass(frozen=True)
class Parent:
    """A spec that a file extends, as it is written there."""

    node: Node
    place: str  # extends, or extends[1] in a list


class OpenFile:
    """A file whose ancestors are being read."""

    def __init__(self, path: str, file: Node):
        self.path, self.file = path, file
        self.parents = parents_of(file)
        self.read: list[str] = []  # real paths of the first parents, whose lineages are known


def parents_of(file: Node) -> list[Parent]:
    """What a file extends, in order."""
    extends = file.at(["extends"])
    if extends is None or extends.value is None:
        return []
    if not isinstance(extends.value, list):
        return [Parent(extends, "extends")]
    parents = [Parent(node, f"extends[{position}]") for position, node in enumerate(extends.value)]
    if not parents:
        raise refused(Parent(extends, "extends"), "an empty list", "name a spec, or leave extends out")
    for position, parent in enumerate(parents):
        if any(parent.node.value == other.node.value for other in parents[:position]):
            raise refused(parent, f"{parent.node.value} stands in the list already")
    return parents


def refuse_conflicts(current: OpenFile, above: list[Lineage]) -> None:
    """Two specs of one list that say different kinds of one thing, where the file itself says none."""
    said: dict[Path, tuple[Node, Lineage]] = {}
    for parent, lineage in zip(current.parents, above, strict=True) if len(above) > 1 else ():
        own = {path: kind for each in lineage for path, kind in kinds_in(each)}
        for path, kind in own.items():
            other, others = said.setdefault(path, (kind, lineage))
            inherited = speaker(kind, lineage) in others or speaker(other, others) in lineage
            if kind.value != other.value and not inherited and not decides(current.file, path):
                where, section = show_path(path), show_path(path[:-1])
                message = f"{kind.source.file} says {where}: {kind.value}, and {other.source.file} says {other.value}"
                hint = f"say {section}: {{kind: …}} in this spec, or extend one of them"
                raise SpecErrors([SpecError(parent.node.source, parent.place, message, hint)])
            said[path] = (kind, lineage)


def kinds_in(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every `kind` that a file says in its sections; profiles, variants and sweeps are overlays."""
    for key, item in node.entries.items():
        if key == "kind" and path:
            yield (*path, key), item
        elif path or key in SECTIONS:
            yield from kinds_in(item, (*path, key))


def speaker(kind: Node, lineage: Lineage) -> Node:
    """The file of a lineage in which a value stands."""
    return next(file for file in lineage if file.source.file == kind.source.file)


def decides(file: Node, path: Path) -> bool:
    """Whether a file says a kind itself, or takes its mapping away."""
    last = file.near(path)
    return file.at(path) is not None or last.value is None


def ancestor(parent: Parent, trail: Mapping[str, OpenFile]) -> str:
    """The path that an `extends` leads to, or the reason why it leads nowhere."""
    written = parent.node.value
    if not isinstance(written, str):
        raise refused(parent, "expected the path of a spec, or a list of such paths")
    if os.path.isabs(written):
        message = "an absolute path means another file on another machine; write it relative to this file"
        raise refused(parent, message)
    path = relative(list(trail.values())[-1].path, written)
    if os.path.realpath(path) in trail:
        names, first = [each.path for each in trail.values()], list(trail).index(os.path.realpath(path))
        raise refused(parent, f"a circle: {' → '.join([*names[first:], path])}")
    if os.path.isdir(path):
        raise refused(parent, f"{path} is a folder, not a file")
    if not os.path.exists(path):
        raise refused(parent, f"there is no file {path}", near(path))
    return path


def refused(parent: Parent, message: str, hint: str | None = None) -> SpecErrors:
    return SpecErrors([SpecError(parent.node.source, parent.place, message, hint)])


def near(path: str) -> str | None:
    """A file of the same folder with almost the same name."""
    folder = os.path.dirname(path) or "."
    return suggest(os.path.basename(path), sorted(os.listdir(folder))) if os.path.isdir(folder) else None


def relative(path: str, reference: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(path), reference))
