"""Laying one part of a spec over another.

Mappings merge, lists replace, null removes a key, another `kind` replaces the whole mapping, and so do values that
the schema marks whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wmlab.errors import Source, SpecError, suggest
from wmlab.spec.schema.walk import Rules
from wmlab.spec.yaml.diagnose import cut_at_commas
from wmlab.spec.yaml.node import Node, same_items, show_path

Path = tuple[str | int, ...]


class Merger:
    """Merges, and collects the mistakes it meets."""

    def __init__(self) -> None:
        self.errors: list[SpecError] = []

    def merge(self, base: Node | None, over: Node, rules: Rules | None, path: Path = ()) -> Node:
        """`over` laid on `base`; inside a variant or a sweep nulls are kept, for they act later."""
        if base is None or not isinstance(over.value, dict) or not isinstance(base.value, dict):
            return self.strip(over, rules, path)
        if replaces(base, over) or (rules is not None and rules.mark(over.plain(), "x-whole")):
            return self.strip(over, rules, path)
        context = base.plain() | over.plain() if rules is not None else {}
        value, keys = dict(base.value), dict(base.keys)
        holding = None if rules is None else rules.holding(context)
        for key, item in over.value.items():
            below = (*path, key)
            if item.value is None and not acts_later(path):
                self.remove(value, key, over.keys.get(key, item.source), rules, below, context)
                keys.pop(key, None)
                continue
            value[key] = self.merge(value.get(key), item, None if holding is None else holding.child(key), below)
            keys[key] = over.keys.get(key, item.source)
        return Node(value, base.source, keys, over.latest)

    def put(
        self, base: Node | None, path: Sequence[str | int], value: Node, rules: Rules | None, above: Path = ()
    ) -> Node:
        """`base` with one value laid at a path: what stands beside the path stays, whole values included."""
        if not path:
            return self.merge(base, value, rules, above)
        if isinstance(path[0], int):
            return self.put_item(base, path[0], path[1:], value, rules, above)
        entries = dict(base.entries) if base is not None else {}
        keys = dict(base.keys) if base is not None else {}
        source = base.source if base is not None else value.source
        context = base.plain() if base is not None else {}
        key, below = path[0], (*above, path[0])
        if len(path) == 1 and value.value is None:
            self.remove(entries, key, value.source, rules, below, context)
            return Node(entries, source, keys, value.source)
        entries[key] = self.put(
            entries.get(key), path[1:], value, None if rules is None else rules.child(context, key), below
        )
        return Node(entries, source, keys | {key: keys.get(key, value.source)}, value.source)

    def put_item(
        self, base: Node | None, position: int, path: Sequence[str | int], value: Node, rules: Rules | None, above: Path
    ) -> Node:
        """A list with one value laid at a path below one of its items."""
        items = [] if base is None else list(base.items)
        if position >= len(items):
            there = f"it has {len(items)} items, the first is [0]" if items else "it is no list"
            message = f"there is no {show_path([*above, position])} in this spec"
            self.errors.append(SpecError(value.source, show_path([*above, position]), message, there))
            return base if base is not None else Node(None, value.source)
        below = None if rules is None or base is None else rules.child(base.plain(), position)
        items[position] = self.put(items[position], path, value, below, (*above, position))
        return Node(items, items[0].source if base is None else base.source, {}, value.source)

    def strip(self, node: Node, rules: Rules | None, path: Path) -> Node:
        """A fresh value without its nulls: there is nothing that they could remove."""
        if not isinstance(node.value, dict) or acts_later(path):
            return node
        value: dict[str, Node] = {}
        holding = None if rules is None else rules.holding(node.plain())
        for key, item in node.value.items():
            below = (*path, key)
            if item.value is None:
                self.remove({}, key, node.keys.get(key, item.source), rules, below, node.plain())
            else:
                value[key] = self.strip(item, None if holding is None else holding.child(key), below)
        # Where nothing was taken away the node stays itself: what is known of it holds in every profile.
        return node if same_items(value, node.value) else Node(value, node.source, node.keys, node.changed)

    def remove(
        self, value: dict[str, Node], key: str, source: Source, rules: Rules | None, path: Path, context: Any
    ) -> None:
        """Take a key away; a name that was never there is a slip of the pen, unless it is an option left unset."""
        if key in value:
            del value[key]
        elif rules is None or key not in rules.known_keys(context):
            cut = cut_at_commas(source, key)
            noun = rules.mark(context, "x-keys") if rules is not None else None
            if cut is not None and noun is not None:
                cut = (f"not a {noun}; {cut[0]}", cut[1])
            message, hint = cut or ("null removes nothing here", suggest(key, value))
            self.errors.append(SpecError(source, show_path(path), message, hint))


def acts_later(path: Path) -> bool:
    """Whether this stands inside an overlay that is not laid yet: a variant, or a value of a sweep."""
    return path[:1] == ("variants",) and len(path) > 1 or path[:1] == ("sweep",) and len(path) > 2


def replaces(base: Node, over: Node) -> bool:
    """Whether `over` names another kind than `base` has."""
    old, new = base.at(["kind"]), over.at(["kind"])
    return old is not None and new is not None and old.value != new.value


def prune(layer: Node, base: Node | None, over: Node) -> Node:
    """An ancestor's profile without what a descendant's body took away: a removed key, or a mapping of another kind."""
    if not isinstance(layer.value, dict) or not isinstance(over.value, dict):
        return layer
    value = {}
    for key, item in layer.value.items():
        laid = over.value.get(key)
        below = None if base is None else base.at([key])
        if laid is not None and (laid.value is None or (below is not None and replaces(below, laid))):
            continue
        value[key] = item if laid is None else prune(item, below, laid)
    return Node(value, layer.source, layer.keys, layer.changed)
