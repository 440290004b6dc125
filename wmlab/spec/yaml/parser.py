"""From the events of a YAML parser to nodes with positions.

Nodes are built here and not by PyYAML, for its own rules are YAML 1.1's, it keeps the last of two equal keys in
silence, and it expands aliases without a limit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import yaml

from wmlab.errors import Source, SpecError, SpecErrors, suggest
from wmlab.limits import DEPTH, KEY_CHARACTERS, VALUES, grouped
from wmlab.spec.yaml.diagnose import cut_at_commas, explain_syntax
from wmlab.spec.yaml.node import Node, show_path

Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = Callable[[int, int], Source]  # line and column from 0
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _GiveUp(Exception):
    """A mistake behind which nothing can be read."""


def parse(text: str, lines: list[str], place: Place) -> Node | None:
    """The tree of a text, None for an empty one; SpecErrors with every mistake that was found."""
    builder = _TreeBuilder(text, place)
    try:
        root = builder.document()
    except yaml.YAMLError as error:
        problem = explain_syntax(error, lines)
        builder.errors.append(SpecError(place(problem.line, problem.column), "", problem.message, problem.hint))
    except _GiveUp:
        pass
    if builder.errors:
        raise SpecErrors(builder.errors)
    return root


class _TreeBuilder:
    def __init__(self, text: str, place: Place):
        self.events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        self.place = place
        self.errors: list[SpecError] = []
        self.anchors: dict[str, tuple[Node, int, int] | None] = {}  # node, values in it, depth; None: still open
        self.cuts: set[str] = set()
        self.count = 0

    def report(self, event: Any, path: Path, message: str, hint: str | None = None) -> None:
        self.errors.append(SpecError(self.source(event), show_path(path), message, hint))

    def source(self, event: Any) -> Source:
        return self.place(event.start_mark.line, event.start_mark.column)

    def document(self) -> Node | None:
        next(self.events)  # the stream's start
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return None
        root, _ = self.node(next(self.events), (), 1)
        next(self.events)  # the document's end
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            self.report(event, (), "a second document starts here", "one file holds one spec")
        return root

    def node(self, event: Any, path: Path, depth: int) -> tuple[Node, int]:
        """The node that an event begins, and how deep it is."""
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, path, depth)
        before = self.count
        self.grow(event, path, 1, depth)
        self.refuse_tag(event, path)
        if event.anchor:
            self.anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            node, height = self.scalar(event, path), 1
        elif isinstance(event, yaml.SequenceStartEvent):
            node, height = self.sequence(event, path, depth)
        else:
            node, height = self.mapping(event, path, depth)
        if event.anchor:
            self.anchors[event.anchor] = (node, self.count - before, height)
        return node, height

    def grow(self, event: Any, path: Path, values: int, deepest: int) -> None:
        self.count += values
        if self.count > VALUES:
            self.report(event, path, f"more than {grouped(VALUES)} values, aliases written out")
            raise _GiveUp
        if deepest > DEPTH:
            self.report(event, path[:3], f"nested more than {DEPTH} deep")
            raise _GiveUp

    def refuse_tag(self, event: Any, path: Path) -> None:
        if event.tag is not None:
            hint = "take it away, and quote a text that starts with '!'"
            self.report(event, path, "a tag ('!…') is not part of the language", hint)

    def alias(self, event: Any, path: Path, depth: int) -> tuple[Node, int]:
        name = event.anchor
        anchored = self.anchors.get(name)
        if anchored is None:
            if name in self.anchors:
                self.report(event, path, f"'*{name}' stands inside its own '&{name}'")
            else:
                hint = suggest(name, self.anchors) or f"to say a text that starts with '*', quote it: '*{name}'"
                self.report(event, path, f"'*{name}' has no '&{name}' before it", hint)
            return Node(None, self.source(event)), 1
        node, values, height = anchored
        self.grow(event, path, values, depth + height - 1)
        return node, height

    def scalar(self, event: Any, path: Path) -> Node:
        value: Any = event.value
        if "\0" in value:  # nothing that is written or shown can hold it, names of files least of all
            self.report(event, path, "the character U+0000 may not stand in a text", "take '\\0' out")
        if event.implicit[0]:  # neither quoted nor a block
            try:
                value = plain_scalar(event.value)
            except NotFinite as error:
                self.report(event, path, str(error), "quote it to mean the text")
        return Node(value, self.source(event), lines=tuple(self.lines(event)) if event.style == "|" else ())

    def lines(self, event: Any) -> Iterator[Source]:
        """Where each line of a block begins: below its sign, behind the indentation."""
        for number, line in enumerate(event.value.split("\n"), event.start_mark.line + 1):
            yield self.place(number, max(0, len(self.place(number, 0).text or "") - len(line)))

    def sequence(self, start: Any, path: Path, depth: int) -> tuple[Node, int]:
        items: list[Node] = []
        tallest = 0
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            item, height = self.node(event, (*path, len(items)), depth + 1)
            items.append(item)
            tallest = max(tallest, height)
        return Node(items, self.source(start)), tallest + 1

    def mapping(self, start: Any, path: Path, depth: int) -> tuple[Node, int]:
        children: dict[str, Node] = {}
        keys: dict[str, Source] = {}
        tallest = 0
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.key(event, path, depth, keys)
            value, height = self.node(next(self.events), path if key is None else (*path, key), depth + 1)
            tallest = max(tallest, height)
            if key is not None and key not in keys:
                children[key], keys[key] = value, self.source(event)
        return Node(children, self.source(start), keys), tallest + 1

    def key(self, event: Any, path: Path, depth: int, keys: dict[str, Source]) -> str | None:
        """A key as written, or None when it cannot be one."""
        if not isinstance(event, yaml.ScalarEvent):
            self.report(event, path, "a key must be a plain word", "quote a key that starts with '[', '{' or '*'")
            self.node(event, path, depth + 1)
            return None
        key: str = event.value
        here = (*path, key)
        self.refuse_tag(event, here)
        if event.anchor:
            self.anchors[event.anchor] = (Node(key, self.source(event)), 1, 1)
        if event.implicit[0] and key == "":
            self.report(event, path, "a key is missing here")
            return None
        if event.implicit[0] and key == "<<":
            self.report(event, here, "YAML 1.2 has no merge key '<<'", "use `extends`, or write the values out")
            return None
        if problem := key_problem(key):
            self.report(event, path, problem)
            return None
        if key in keys:
            self.duplicate(event, here, keys[key])
        return key

    def duplicate(self, event: Any, path: Path, first: Source) -> None:
        key, source = str(path[-1]), self.source(event)
        cut = cut_at_commas(source, key)
        if cut is not None and cut[0] in self.cuts:
            return  # its other pieces are told already
        if cut is not None:
            self.cuts.add(cut[0])
            self.report(event, path, *cut)
        else:
            before = "" if first.line is None else f"; it stands on line {first.line} already"
            self.report(event, path, f"duplicate key '{key}'{before}")


def key_problem(key: str) -> str | None:
    """Why a text cannot be a key: keys name files, columns and places in messages."""
    if len(key) > KEY_CHARACTERS:
        return f"a key of {len(key)} characters; {KEY_CHARACTERS} are allowed"
    return unprintable(key, "a key")


def unprintable(text: str, noun: str) -> str | None:
    """What is wrong with a text that is shown on one line, where a character of it would not be seen there."""
    hidden = next((character for character in text if not character.isprintable()), None)
    return None if hidden is None else f"the character U+{ord(hidden):04X} may not stand in {noun}"


# --- unquoted words: the core schema of YAML 1.2, and underscores between digits ----------------------------------

_DIGITS = "[0-9]+(?:_[0-9]+)*"
_INTEGER = re.compile(rf"[-+]?{_DIGITS}")
_OTHER_BASE = re.compile("0o[0-7]+(?:_[0-7]+)*|0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*")
_FLOAT = re.compile(rf"[-+]?(?:\.{_DIGITS}|{_DIGITS}(?:\.(?:{_DIGITS})?)?)(?:[eE][-+]?{_DIGITS})?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
}
_LONGEST = 1_000  # digits; more cannot be a finite float unless they are zeros


class NotFinite(ValueError):
    """A number that no float can hold; its text is fit for a user."""


def plain_scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted word: null, a boolean, a finite number, or else the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise NotFinite(f"{text} is not a finite number")
    integer, other_base = _INTEGER.fullmatch(text), _OTHER_BASE.fullmatch(text)
    if not (integer or other_base or _FLOAT.fullmatch(text)):
        return text
    if len(text) > _LONGEST:
        raise NotFinite(f"a number of {len(text)} characters is too long")
    digits = text.replace("_", "")
    value = int(digits, 0) if other_base else int(digits) if integer else float(digits)
    if abs(value) > sys.float_info.max:
        raise NotFinite("this number is too large to be finite")
    return value
