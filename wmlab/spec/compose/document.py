"""A spec file and the files that it extends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from wmlab.errors import SpecErrors, UsageError, suggest
from wmlab.spec.compose.lineage import Lineage, read_lineage, relative
from wmlab.spec.yaml.node import Node

# The profile that is the body as it stands. Both names are understood everywhere; a spec goes by one of them.
PAPER, FULL = "paper", "full"
OURS = ("", "ours")  # sources of claims that cite nobody


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


def text_of(node: Node, key: str) -> str | None:
    """The text under a key; None where there is none."""
    entry = node.at([key])
    return entry.value if entry is not None and isinstance(entry.value, str) else None


def read(path: str, leaf: Node | None = None) -> Document:
    """Load a spec and all that it extends; `leaf` is the spec itself where it comes from no file."""
    return Document(path, read_lineage(path, leaf))
