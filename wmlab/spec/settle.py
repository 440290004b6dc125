"""Settling values: expressions become numbers, defaults are filled in, whole numbers become integers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from wmlab import expressions
from wmlab.errors import Source, SpecError, one_of, suggest
from wmlab.spec import walk
from wmlab.spec.node import Node, from_plain, show_path
from wmlab.spec.schema import Schema

Number = int | float
DEFAULT = Source("default")


class Settler:
    """Settles parts of one spec; equal parts under equal names are settled once."""

    def __init__(self) -> None:
        self.errors: list[SpecError] = []
        self._memo: dict[tuple[int, tuple[tuple[str, Number], ...]], tuple[Node, Node]] = {}

    def names(self, let: Node | None) -> dict[str, Number]:
        """The values of `let`, each an expression of the earlier ones."""
        found: dict[str, Number] = {}
        if let is None or not isinstance(let.value, dict):
            return found
        for name, item in let.value.items():
            value = self.number(item, {}, ("let", name), found).value
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                found[name] = value
        return found

    def section(self, node: Node, schema: Schema, names: Mapping[str, Number], path: tuple[str | int, ...]) -> Node:
        """A whole section, remembered: points of a sweep share most of theirs."""
        memo = (id(node), tuple(names.items()))
        if memo not in self._memo:
            # The node is kept beside its answer, so that its id stays its own.
            self._memo[memo] = (node, self.settle(node, schema, names, path))
        return self._memo[memo][1]

    def settle(
        self, node: Node, schema: Schema | None, names: Mapping[str, Number], path: tuple[str | int, ...]
    ) -> Node:
        if schema is None:
            return node
        if isinstance(node.value, list):
            items = [
                self.settle(item, walk.child(schema, node.plain(), i), names, (*path, i))
                for i, item in enumerate(node.value)
            ]
            return dataclasses.replace(node, value=items)
        if isinstance(node.value, dict):
            return self.mapping(node, schema, names, path)
        if walk.mark(schema, node.value, "x-wmlab") == "number":
            return self.number(node, schema, path, names)
        return node

    def mapping(self, node: Node, schema: Schema, names: Mapping[str, Number], path: tuple[str | int, ...]) -> Node:
        assert isinstance(node.value, dict)
        data = node.plain()
        value = {
            key: self.settle(item, walk.child(schema, data, key), names, (*path, key))
            for key, item in node.value.items()
        }
        for rule in walk.rules(schema, data):
            for key, rules in rule.get("properties", {}).items():
                default = rules.get("default")
                if key not in value and default is not None:
                    value[key] = self.settle(from_plain(default, DEFAULT), rules, {}, (*path, key))
        return Node(value, node.source, node.keys)

    def number(self, node: Node, schema: Schema, path: tuple[str | int, ...], names: Mapping[str, Number]) -> Node:
        """A number from a constant expression; the error points into the expression."""
        value = node.value
        words = walk.mark(schema, value, "x-words") or ()
        if isinstance(value, str) and value not in words:
            try:
                value = expressions.constant(value, names)
            except expressions.ExpressionError as error:
                self.errors.append(wrong_expression(node, error, path, words))
                return node
        kinds = walk.mark(schema, value, "type") or ()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return node
        if "integer" in kinds and "number" not in kinds and float(value).is_integer():
            value = int(value)
        elif "number" in kinds and "integer" not in kinds:
            value = float(value)  # one spelling for one number: 1 and 1.0 are the same discount
        return dataclasses.replace(node, value=value)


def wrong_expression(
    node: Node, error: expressions.ExpressionError, path: tuple[str | int, ...], words: tuple[str, ...]
) -> SpecError:
    assert isinstance(node.value, str)
    if words and node.value.isidentifier():
        message = f"expected {one_of([*words, 'a count'])}, not '{node.value}'"
        return SpecError(node.source, show_path(path), message, suggest(node.value, words))
    source = node.source
    if source.line is not None and source.text is not None:
        # The text of the scalar starts behind a quote where there is one.
        start = (source.column or 1) - 1
        quoted = source.text[start : start + 1] in ("'", '"')
        source = dataclasses.replace(source, column=start + 1 + quoted + error.offset)
    return SpecError(source, show_path(path), error.message, error.hint)
