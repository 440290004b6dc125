"""The tree of a loaded document: every value with the place where it was written."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from wmlab.errors import Source

Scalar: TypeAlias = str | int | float | bool | None

NOUNS = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "nothing",
}


@dataclass(frozen=True, eq=False)
class Node:
    """A value and where it was written. Two nodes are equal only if they are the same one."""

    value: dict[str, Node] | list[Node] | Scalar
    source: Source
    keys: Mapping[str, Source] = field(default_factory=dict)  # for a mapping: where each key was written
    changed: Source | None = None  # for a mapping that an overlay touched: where the last overlay was written
    written: str | None = None  # for an expression: its text before known numbers were put in
    lines: tuple[Source, ...] = ()  # for a text of several lines, drawn as it is: where each of them begins

    @property
    def latest(self) -> Source:
        """Where to look when the parts of a value do not fit together: at what was laid over it last."""
        return self.changed or self.source

    @property
    def entries(self) -> dict[str, Node]:
        """What a mapping holds; nothing where this is none."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Node]:
        """What a list holds; nothing where this is none."""
        return self.value if isinstance(self.value, list) else []

    def key(self, name: str) -> Source:
        """Where a key of this mapping was written."""
        return self.keys.get(name, self.source)

    def character(self, offset: int) -> Source | None:
        """Where a character of a text of several lines stands; None where its lines are not known."""
        before = str(self.value)[:offset]
        row = before.count("\n")
        if row >= len(self.lines):
            return None
        line = self.lines[row]
        return replace(line, column=(line.column or 1) + offset - (before.rfind("\n") + 1))

    def holding(self, value: dict[str, Node] | list[Node] | Scalar, written: str | None = None) -> Node:
        """Another value written in the same place."""
        return Node(value, self.source, self.keys, self.changed, written)

    def plain(self) -> Any:
        """The value as plain Python data, which is shared: not to be written to."""
        return self._plain

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word in the texts below this node."""
        return frozenset(re.findall(r"[A-Za-z_]\w*", self.text))

    @cached_property
    def text(self) -> str:
        """All that stands below this node; equal where that is equal, in the same order."""
        return repr(self.plain())

    @cached_property
    def _plain(self) -> Any:
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def near(self, path: Sequence[str | int]) -> Node:
        """The last node on a path that is there: where to point when the rest is missing."""
        node = self
        for step in path:
            below = node.at([step])
            if below is None:
                break
            node = below
        return node

    def at(self, path: Sequence[str | int]) -> Node | None:
        """What stands at a path below this node, or None."""
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(node.value, dict) and isinstance(step, str):
                node = node.value.get(step)
            elif isinstance(node.value, list) and isinstance(step, int) and 0 <= step < len(node.value):
                node = node.value[step]
            else:
                return None
        return node


def same_items(one: Mapping[str, Node], other: Mapping[str, Node]) -> bool:
    """Whether two mappings hold the very same nodes in the same order."""
    return len(one) == len(other) and all(map(operator.is_, one.values(), other.values()))


def from_plain(data: Any, source: Source) -> Node:
    """A tree of plain data that was all written in one place: a flag, or a default."""
    if isinstance(data, Mapping):
        children = {str(key): from_plain(value, source) for key, value in data.items()}
        return Node(children, source, dict.fromkeys(children, source))
    if isinstance(data, (list, tuple)):
        return Node([from_plain(value, source) for value in data], source)
    return Node(data, source)


def show_path(path: Sequence[str | int]) -> str:
    """A path as a user would say it: claims.one_unsafe.where, goals.at[2]."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        else:
            shown += f".{step}" if shown else step
    return shown


def show(value: Any) -> str:
    """A value as a message names it."""
    if isinstance(value, str):
        return f"'{value}'" if len(value) <= 40 else f"'{value[:37]}…'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return NOUNS["object"]
    if isinstance(value, list):
        return NOUNS["array"]
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:_}".replace("_", " ") if abs(value) < 10**15 else f"{value:g}"
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
