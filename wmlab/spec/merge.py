"""Laying one part of a spec over another.

Mappings merge, lists replace, null removes a key, another `kind` replaces the whole mapping, and so do values that
the schema marks whole.
"""

from __future__ import annotations

from wmlab.errors import Source, SpecError, suggest
from wmlab.spec import walk
from wmlab.spec.node import Node, show_path
from wmlab.spec.schema import Schema

Path = tuple[str, ...]


class Merger:
    """Merges, and collects the mistakes it meets."""

    def __init__(self) -> None:
        self.errors: list[SpecError] = []

    def merge(self, base: Node | None, over: Node, schema: Schema | None, path: Path = ()) -> Node:
        """`over` laid on `base`; inside a variant nulls are kept, for they act later."""
        if base is None or not isinstance(over.value, dict) or not isinstance(base.value, dict):
            return over if in_variant(path) else self.strip(over, schema, path)
        if replaces(base, over) or (schema is not None and walk.mark(schema, over.plain(), "x-whole")):
            return over if in_variant(path) else self.strip(over, schema, path)
        context = base.plain() | over.plain() if schema is not None else {}
        value, keys = dict(base.value), dict(base.keys)
        for key, item in over.value.items():
            below = (*path, key)
            if item.value is None and not in_variant(path):
                self.remove(value, key, over.keys.get(key, item.source), schema, below, context)
                keys.pop(key, None)
                continue
            rules = None if schema is None else walk.child(schema, context, key)
            value[key] = self.merge(value.get(key), item, rules, below)
            keys[key] = over.keys.get(key, item.source)
        return Node(value, base.source, keys)

    def strip(self, node: Node, schema: Schema | None, path: Path) -> Node:
        """A fresh value without its nulls: there is nothing that they could remove."""
        if not isinstance(node.value, dict):
            return node
        value: dict[str, Node] = {}
        for key, item in node.value.items():
            below = (*path, key)
            rules = None if schema is None else walk.child(schema, node.plain(), key)
            if item.value is None and not in_variant(path):
                self.remove({}, key, node.keys.get(key, item.source), schema, below, node.plain())
            else:
                value[key] = item if in_variant(path) else self.strip(item, rules, below)
        return Node(value, node.source, node.keys)

    def remove(
        self, value: dict[str, Node], key: str, source: Source, schema: Schema | None, path: Path, context: dict
    ) -> None:
        """Take a key away; a name that was never there is a slip of the pen, unless it is an option left unset."""
        if key in value:
            del value[key]
        elif schema is None or key not in walk.known_keys(schema, context):
            self.errors.append(SpecError(source, show_path(path), "null removes nothing here", suggest(key, value)))


def in_variant(path: Path) -> bool:
    return len(path) > 1 and path[0] == "variants"


def replaces(base: Node, over: Node) -> bool:
    """Whether `over` names another kind than `base` has."""
    old, new = base.at(["kind"]), over.at(["kind"])
    return old is not None and new is not None and old.value != new.value


def overlay(path: list[str], value: Node) -> Node:
    """The mapping that sets one path and nothing else."""
    for key in reversed(path):
        value = Node({key: value}, value.source, {key: value.source})
    return value
