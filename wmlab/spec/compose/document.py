"""A spec file and the files that it extends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from wmlab.errors import SpecError, SpecErrors, UsageError, suggest
from wmlab.limits import FILES
from wmlab.spec.yaml.load import is_spec, load
from wmlab.spec.yaml.node import Node, show_path

# The profile that is the body as it stands. Both names are understood everywhere; a spec goes by one of them.
PAPER, FULL = "paper", "full"
OURS = ("", "ours")  # sources of claims that cite nobody
SECTIONS = ("mdp", "goals", "agent", "extract", "evaluate")  # where kinds are chosen
Lineage = tuple[Node, ...]  # a file with all that it extends, the most distant ancestor first
Path = tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """The files of one spec, the most distant ancestor first."""

    path: str  # as the user wrote it
    files: Lineage

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

    @cached_property
    def body_profile(self) -> str:
        """What the body as it stands is called: paper where the spec cites one, full elsewhere."""
        if cites_paper(self):
            return PAPER
        return FULL if FULL not in self.profiles else "body"  # a profile of that name may be the spec's own

    def own_name(self, profile: str) -> str:
        """A profile by the name that this spec has for it: paper and full are both the body as it stands."""
        is_body = profile in (PAPER, FULL) and profile not in self.profiles
        return self.body_profile if is_body else profile

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


def choose_profile(document: Document, asked: str | None) -> str:
    """The profile to take: the one asked for, the spec's default, or the body as it stands."""
    if asked is not None:
        asked = document.own_name(asked)
        known = [document.body_profile, *document.profiles]
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
            return default.value if default.value in document.profiles else document.body_profile
    return document.body_profile


def cites_paper(document: Document) -> bool:
    """Whether a claim says what a paper reports (`paper`), or where (`source`); of a suite, also one of a member."""
    if claims_cite(document):
        return True
    suite = document.leaf.at(["suite"])
    for member in suite.items if suite is not None and isinstance(suite.value, list) else ():
        try:
            if claims_cite(read(document.sibling(str(member.value)))):
                return True
        except SpecErrors:
            continue  # told where the suite is checked
    return False


def claims_cite(document: Document) -> bool:
    """The same of a spec's own claims, those of its ancestors and of its profiles laid over each other."""
    claims: dict[str, dict[str, Node]] = {}
    for file in document.files:
        for layer in (file, *overlays_in(file).values()):
            node = layer.at(["claims"]) if isinstance(layer.value, dict) else None
            for name, claim in node.value.items() if node is not None and isinstance(node.value, dict) else ():
                said = claim.value if isinstance(claim.value, dict) else None
                claims[name] = {} if said is None else {**claims.get(name, {}), **said}  # null forgets a claim
    return any(is_cited(claim.get("paper"), claim.get("source")) for claim in claims.values())


def is_cited(paper: Node | None, source: Node | None) -> bool:
    reported = paper is not None and paper.value is not None
    return reported or (source is not None and source.value is not None and source.value not in OURS)


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
    """Load a spec and all that it extends: ancestors first, those of a list in its order, each file once.

    `leaf` is the spec itself where it comes from no file.
    """
    lineages: dict[str, Lineage] = {}  # by the real path of the file that it ends with
    trail = {
        os.path.realpath(path): OpenFile(path, load(path) if leaf is None else leaf)
    }  # files that wait for their ancestors
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
    return Document(path, lineages[os.path.realpath(path)])


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
