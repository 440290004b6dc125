"""Markdown pages as lists of code blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REAL, END = "<!-- with the real libraries: make test-audit -->", "<!-- end -->"
CLUSTER = "<!-- on a real cluster: make test-cluster -->"
FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A piece of a page between fences."""

    page: str
    line: int  # of its first line
    language: str
    text: str
    real: bool = False  # needs the libraries that `make test-audit` installs
    cluster: bool = False  # needs the engines that `make test-cluster` starts

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def marked(self) -> tuple[str, str] | None:
        """What a first line such as `# file: maze.yaml` or `# in maze.yaml` says: the verb and the name."""
        found = re.match(r"# (file:|in) (\S+)\n", self.text)
        return (found[1].rstrip(":"), found[2]) if found else None


def blocks_of(path: Path) -> list[Block]:
    """The blocks of a page; those between the marks REAL, or CLUSTER, and END need what is not here."""
    text = path.read_text(encoding="utf-8")
    real, cluster = ([range(text.index(mark), text.index(END))] if mark in text else [] for mark in (REAL, CLUSTER))
    found = []
    for match in FENCE.finditer(text):
        indent = match[1]
        body = "".join(line.removeprefix(indent) for line in match[3].splitlines(keepends=True))
        needs = [any(match.start() in part for part in parts) for parts in (real, cluster)]
        found.append(Block(path.name, text.count("\n", 0, match.start(3)) + 1, match[2], body, *needs))
    return found
