"""Settling values: expressions become numbers, or have known numbers written in; defaults are filled in, whole numbers
become integers, and paths are seen from the current folder."""

from __future__ import annotations

import dataclasses
import operator
import os
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from wmlab import expressions
from wmlab.errors import Source, SpecError, one_of, suggest
from wmlab.spec.check.files import MARK, from_here
from wmlab.spec.schema import walk
from wmlab.spec.schema.generate import Schema
from wmlab.spec.yaml.commas import cut_at_commas
from wmlab.spec.yaml.node import Node, from_plain, same_items, show_path

Number = int | float
DEFAULT = Source("default")
EXPRESSIONS = ("expression", "condition")  # marks of texts that are worked out later; a name alone is no condition


@dataclasses.dataclass(frozen=True)
class Names:
    """The values of `let` at one point, and the names whose value is itself in error."""

    values: Mapping[str, Number]
    broken: frozenset[str] = frozenset()


NOTHING = Names({})
Memo = tuple[int, int, str, tuple[tuple[str, str], ...]]  # ids of node and schema, current folder, names
MOST_REMEMBERED = 4096
_sound: dict[Memo, tuple[Node, Schema, Node]] = {}  # sections settled without a mistake, in any spec
_defaults: dict[int, tuple[Schema, Node]] = {}  # by the id of the rules, which are kept so that it stays their own


class Settler:
    """Settles parts of one spec; equal parts under equal names are settled once.

    With `partial` the spec is a fragment: names that it does not know may come from the spec that extends it.
    """

    def __init__(self, partial: bool = False) -> None:
        self.errors: list[SpecError] = []
        self.partial = partial
        self.unsettled: set[int] = set()  # ids of sections in which some expression has no value
        self._folder = os.getcwd()  # from which paths are seen
        self._memo: dict[Memo, tuple[Node, Schema, Node]] = {}
        self._failed = False

    def names(self, let: Node | None) -> Names:
        """The values of `let`, each an expression of the earlier ones."""
        found: dict[str, Number] = {}
        broken: set[str] = set()
        rows = let.value if let is not None and isinstance(let.value, dict) else {}
        for name, item in rows.items():
            later = [other for other in rows if other not in found and other not in broken]
            value = self.number(item, walk.ANYTHING, ("let", name), Names(found, frozenset(broken)), later).value
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                found[name] = value
            else:
                broken.add(name)
        return Names(found, frozenset(broken))

    def section(self, node: Node, schema: Schema, names: Names, path: tuple[str | int, ...]) -> Node:
        """A whole section, remembered: points of a sweep, profiles and children share most of theirs."""
        # A value that the section does not mention cannot change it; 1 and 1.0 are told apart.
        said = tuple((name, repr(value)) for name, value in names.values.items() if name in node.words)
        memo = (id(node), id(schema), self._folder, said)
        found = self._memo.get(memo) or _sound.get(memo)
        if found is None:
            self._failed = False
            before = len(self.errors)
            settled = self.settle(node, schema, names, path)
            if self._failed:
                self.unsettled.add(id(settled))
            # Node and schema are kept beside the answer, so that their ids stay their own.
            found = self._memo[memo] = (node, schema, settled)
            if not self._failed and len(self.errors) == before:
                if len(_sound) >= MOST_REMEMBERED:
                    _sound.clear()
                _sound[memo] = found
        return found[2]

    def settle(self, node: Node, schema: Schema | None, names: Names, path: tuple[str | int, ...]) -> Node:
        if schema is None:
            return node
        if isinstance(node.value, list):
            items = [
                self.settle(item, walk.child(schema, node.plain(), i), names, (*path, i))
                for i, item in enumerate(node.value)
            ]
            return node if all(map(operator.is_, items, node.value)) else node.holding(items)
        if isinstance(node.value, dict):
            return self.mapping(node, schema, names, path)
        mark = walk.mark(schema, node.value, "x-wmlab")
        if mark == "number":
            return self.number(node, schema, path, names)
        if mark in EXPRESSIONS and isinstance(node.value, str):
            return self.expression(node, names, mark)
        if mark == MARK and isinstance(node.value, str):
            return node.holding(from_here(node.source, node.value))
        if isinstance(node.value, float) and node.value.is_integer() and counts(schema, node.value):
            return node.holding(int(node.value))
        return node

    def mapping(self, node: Node, schema: Schema, names: Names, path: tuple[str | int, ...]) -> Node:
        assert isinstance(node.value, dict)
        found = walk.rules(schema, node.plain())
        value = {
            key: self.settle(item, walk.within(found, key), names, (*path, key)) for key, item in node.value.items()
        }
        for key, rules in walk.defaults(found):
            if key not in value:
                value[key] = self.default(rules, (*path, key))
        return node if same_items(value, node.value) else node.holding(value)

    def default(self, rules: Schema, path: tuple[str | int, ...]) -> Node:
        """What the schema fills in, settled once: it has no names in it, and no place of its own."""
        if id(rules) not in _defaults:
            settled = self.settle(from_plain(rules["default"], DEFAULT), rules, NOTHING, path)
            _defaults[id(rules)] = (rules, settled)
        return _defaults[id(rules)][1]

    def expression(self, node: Node, names: Names, mark: str) -> Node:
        """An expression that is worked out later, with the numbers that `let` names written into it."""
        text = node.value
        assert isinstance(text, str)
        if mark == "condition" and text.isidentifier():
            return node
        if mentions(text, names.broken):
            self._failed = True
        found = expressions.substitute(text, names.values)
        return node if found == text else node.holding(found, written=text)

    def number(
        self, node: Node, schema: Schema, path: tuple[str | int, ...], names: Names, later: Sequence[str] = ()
    ) -> Node:
        """A number from a constant expression; the error points into the expression."""
        value, text = node.value, node.value
        words = walk.mark(schema, value, "x-words") or ()
        if isinstance(text, str) and text not in words:
            try:
                value = expressions.constant(text, names.values)
            except expressions.ExpressionError as error:
                self._failed = True
                if not mentions(text, names.broken) and not (self.partial and "unknown name" in error.message):
                    self.errors.append(wrong_expression(node, error, path, words, later))
                return node
        kinds = walk.mark(schema, value, "type") or ()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return node
        if counts(schema, value) and float(value).is_integer():
            value = int(value)
        elif "number" in kinds and "integer" not in kinds:
            value = float(value)  # one spelling for one number: 1 and 1.0 are the same discount
        return node if value is node.value else node.holding(value)


def counts(schema: Schema, value: Any) -> bool:
    """Whether only whole numbers may stand here."""
    kinds = walk.mark(schema, value, "type") or ()
    return "integer" in kinds and "number" not in kinds


def mentions(text: str, names: Set[str]) -> bool:
    return not names.isdisjoint(re.findall(r"[A-Za-z_]\w*", text))


def wrong_expression(
    node: Node,
    error: expressions.ExpressionError,
    path: tuple[str | int, ...],
    words: Sequence[str] = (),
    later: Sequence[str] = (),
) -> SpecError:
    """What is wrong with an expression, at its place; `later` are names that have no value yet."""
    assert isinstance(node.value, str)
    cut = cut_at_commas(node.source, node.value)
    if cut is not None:
        return SpecError(node.source, show_path(path), *cut)
    if words and node.value.isidentifier():
        message = f"expected {one_of([*words, 'a count'])}, not '{node.value}'"
        return SpecError(node.source, show_path(path), message, suggest(node.value, words))
    hint = hint_at(path, error.hint)
    unknown = next((name for name in later if error.message == f"unknown name '{name}'"), None)
    if unknown is not None:
        hint = "it cannot be made of itself" if unknown == path[-1] else f"put '{unknown}' before '{path[-1]}'"
    return SpecError(inside(node.source, error.offset), show_path(path), error.message, hint)


def hint_at(path: Sequence[str | int], hint: str | None) -> str | None:
    """A hint of an expression that may be two items of a list, [0 1], with the comma forgotten."""
    return expressions.COMMA if hint == expressions.MULTIPLY and path and isinstance(path[-1], int) else hint


def inside(source: Source, offset: int) -> Source:
    """The place of a character of an expression; its text starts behind a quote where there is one."""
    if source.line is None or source.text is None:
        return source
    start = (source.column or 1) - 1
    column = start + 1 + (source.text[start : start + 1] in ("'", '"')) + offset
    # A text that goes on over several lines is shown at its first.
    return dataclasses.replace(source, column=column) if column <= len(source.text) + 1 else source
