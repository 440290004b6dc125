"""Values of a spec: expressions become numbers, or have known numbers written in; defaults are filled in, whole
numbers become integers, and paths are seen from the current folder."""

from __future__ import annotations

import dataclasses
import functools
import operator
import os
import re
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

from wmlab import expressions
from wmlab.errors import Source, SpecError, one_of, suggest
from wmlab.limits import LET_NAMES
from wmlab.spec.compose.lineage import relative
from wmlab.spec.compose.worlds import UNKNOWN, DefaultScope
from wmlab.spec.schema.walk import ANYTHING, Rules
from wmlab.spec.yaml.diagnose import cut_at_commas
from wmlab.spec.yaml.node import Node, same_items, show_path

Number = int | float
Path = tuple[str | int, ...]
FILE = "file"  # mark of an option whose text is a path
EXPRESSIONS = ("expression", "condition")  # marks of texts that are worked out later; a name alone is no condition


@dataclasses.dataclass(frozen=True)
class LetValues:
    """The values of `let` at one point, and the names whose value is itself in error."""

    numbers: Mapping[str, Number]
    broken: Set[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Evaluated:
    """A section with its values worked out."""

    node: Node
    complete: bool  # whether every expression has a value


class ValueResolver:
    """Works out the values of one spec's sections; equal sections under equal names are worked out once.

    With `partial` the spec is a fragment: names that it does not know may come from the spec that extends it.
    """

    def __init__(self, partial: bool = False, scope: DefaultScope = UNKNOWN) -> None:
        self.partial = partial
        self.errors: list[SpecError] = []
        self._complete = True  # of the section that is worked out now
        self._scope = scope  # what its defaults depend on
        self._let: dict[Node | None, LetValues] = {}
        self._sections: dict[tuple[Node, str, DefaultScope, tuple[tuple[str, str], ...]], Evaluated] = {}

    def let(self, let: Node | None) -> LetValues:
        """The values of `let`, each an expression of the earlier ones; points share most of them."""
        if let not in self._let:
            self._let[let] = self._work_out(let)
        return self._let[let]

    def _work_out(self, let: Node | None) -> LetValues:
        rows = let.entries if let is not None else {}
        numbers: dict[str, Number] = {}
        broken = set(list(rows)[LET_NAMES:])  # that there are too many is told of `let` itself
        known = LetValues(numbers, broken)
        for name, item in list(rows.items())[:LET_NAMES]:
            value = self.number(item, ANYTHING, ("let", name), known, rows).value
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                numbers[name] = value
            else:
                broken.add(name)
        return LetValues(numbers, frozenset(broken))

    def section(self, name: str, node: Node, rules: Rules, let: LetValues, scope: DefaultScope = UNKNOWN) -> Evaluated:
        """A whole section; points of a sweep share most of theirs. Its defaults are those of the scope."""
        # A value that the section does not mention cannot change it; 1 and 1.0 are told apart.
        mentioned = tuple((word, repr(let.numbers[word])) for word in sorted(node.words & let.numbers.keys()))
        key = (node, name, scope, mentioned)
        if key not in self._sections:
            self._complete, self._scope = True, scope
            value = self.value(node, rules, let, (name,))
            self._sections[key] = Evaluated(value, self._complete)
        return self._sections[key]

    def value(self, node: Node, rules: Rules | None, let: LetValues, path: Path) -> Node:
        if rules is None:
            return node
        if isinstance(node.value, list):
            below = rules.child(node.plain(), 0)
            items = [self.value(item, below, let, (*path, i)) for i, item in enumerate(node.value)]
            return node if all(map(operator.is_, items, node.value)) else node.holding(items)
        if isinstance(node.value, dict):
            return self.mapping(node, rules, let, path)
        mark = rules.mark(node.value, "x-wmlab")
        if mark == "number":
            return self.number(node, rules, path, let)
        if mark in EXPRESSIONS and isinstance(node.value, str):
            return self.expression(node, let, mark)
        if mark == FILE and isinstance(node.value, str):
            return node.holding(from_here(node.source, node.value))
        if isinstance(node.value, float) and node.value.is_integer() and counts(rules, node.value):
            return node.holding(int(node.value))
        return node

    def mapping(self, node: Node, rules: Rules, let: LetValues, path: Path) -> Node:
        holding = rules.holding(node.plain())
        value = {key: self.value(item, holding.child(key), let, (*path, key)) for key, item in node.entries.items()}
        for key, option in holding.defaults:
            filled = None if key in value else default(option, self._scope)
            if filled is not None:
                value[key] = filled
        return node if same_items(value, node.entries) else node.holding(value)

    def expression(self, node: Node, let: LetValues, mark: str) -> Node:
        """An expression that is worked out later, with the numbers that `let` names written into it."""
        text = str(node.value)
        if mark == "condition" and text.isidentifier():
            return node
        if mentions(text, let.broken):
            self._complete = False
        substituted = expressions.substitute(text, let.numbers)
        return node if substituted == text else node.holding(substituted, written=text)

    def number(self, node: Node, rules: Rules, path: Path, let: LetValues, named: Collection[str] = ()) -> Node:
        """A number from a constant expression; the error points into the expression."""
        value, text = node.value, node.value
        words = rules.mark(value, "x-words") or ()
        if isinstance(text, str) and text not in words:
            try:
                value = expressions.constant(text, let.numbers)
            except expressions.ExpressionError as error:
                self._complete = False
                if not mentions(text, let.broken) and not (self.partial and "unknown name" in error.message):
                    self.errors.append(wrong_expression(node, error, path, words, named))
                return node
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return node
        kinds = rules.mark(value, "type") or ()
        if counts(rules, value) and float(value).is_integer():
            value = int(value)
        elif "number" in kinds and "integer" not in kinds:
            value = float(value)  # one spelling for one number: 1 and 1.0 are the same discount
        return node if value is node.value else node.holding(value)


@functools.cache
def default(rules: Rules, scope: DefaultScope) -> Node | None:
    """What the schema fills in: it has no names in it, and no place of its own. None: nothing in this world."""
    node = scope.default(rules.schema)
    return None if node is None else ValueResolver(scope=scope).value(node, rules, LetValues({}), ())


def counts(rules: Rules, value: Any) -> bool:
    """Whether only whole numbers may stand here."""
    kinds = rules.mark(value, "type") or ()
    return "integer" in kinds and "number" not in kinds


def from_here(source: Source, written: str) -> str:
    """A path relative to the file that wrote it, as seen from the current folder; a flag is written there itself."""
    if os.path.isabs(written):
        return written  # an error, told where the spec is validated
    return os.path.relpath(relative(source.file, written) if source.line is not None else written)


def mentions(text: str, names: Set[str]) -> bool:
    return not names.isdisjoint(re.findall(r"[A-Za-z_]\w*", text))


def wrong_expression(
    node: Node,
    error: expressions.ExpressionError,
    path: Path,
    words: Sequence[str] = (),
    named: Collection[str] = (),
) -> SpecError:
    """What is wrong with an expression, at its place; `named` are names that have a value, if only later."""
    assert isinstance(node.value, str)
    cut = cut_at_commas(node.source, node.value)
    if cut is not None:
        return SpecError(node.source, show_path(path), *cut)
    if words and node.value.isidentifier():
        message = f"expected {one_of([*words, 'a count'])}, not '{node.value}'"
        return SpecError(node.source, show_path(path), message, suggest(node.value, words))
    hint = hint_at(path, error.hint)
    unknown = error.message.removeprefix("unknown name '").removesuffix("'")
    if unknown in named:
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
