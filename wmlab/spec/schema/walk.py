"""Walking data and its schema side by side: which rules hold at which place.

It reads the few forms that our generated schemas use: `$ref`, `allOf`, and `if` on a kind, a type or a required key.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from wmlab.spec.schema.generate import Schema, load

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": Mapping,
    "array": (list, tuple),
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
MISSING = object()


class Rules:
    """One place of the schema. Which of its parts hold for a value is decided once for each case of its conditions."""

    def __init__(self, schema: Schema):
        self.schema = schema
        self._cases: dict[tuple[Any, ...], Holding] = {}

    def holding(self, value: Any) -> Holding:
        """What the schema says of this value, references followed and conditions decided."""
        case = self._case(value)
        holding = self._cases.get(case)
        if holding is None:
            holding = self._cases[case] = Holding(tuple(parts_for(self.schema, value)))
        return holding

    def child(self, value: Any, key: str | int) -> Rules | None:
        """The rules for one key of a mapping or one item of a list; None where the schema does not know it."""
        return self.holding(value).child(key)

    def mark(self, value: Any, name: str) -> Any:
        """The first of our own marks of this name that holds for the value."""
        return self.holding(value).marks.get(name)

    def known_keys(self, value: Any) -> list[str]:
        """The keys that may stand in this mapping, for suggestions."""
        return [key for schema in self.holding(value).schemas for key in schema.get("properties", {})]

    def at(self, data: Any, path: Sequence[str | int]) -> Rules | None:
        """The rules at a path below; None where neither schema nor data know it."""
        rules = self
        for key in path:
            below = rules.child(data, key)
            if below is None:
                return None
            rules = below
            if isinstance(data, Mapping):
                data = data.get(str(key))
            elif isinstance(data, (list, tuple)) and isinstance(key, int) and key < len(data):
                data = data[key]
            else:
                data = None
        return rules

    @cached_property
    def _asked(self) -> tuple[str, ...] | None:
        """The keys that conditions look at; None where there is no condition at all."""
        conditions = list(conditions_in(self.schema))
        keys = {key for asked in conditions for key in (*asked.get("required", ()), *asked.get("properties", ()))}
        return tuple(sorted(keys)) if conditions else None

    def _case(self, value: Any) -> tuple[Any, ...]:
        """All that conditions look at in a value: its type, and a few of its keys."""
        if self._asked is None:
            return ()
        if not isinstance(value, dict):
            return (type(value),)
        return (dict, *(decisive(value.get(key, MISSING)) for key in self._asked))


class Holding:
    """Every schema that speaks about a value."""

    def __init__(self, schemas: tuple[Schema, ...]):
        self.schemas = schemas
        self._children: dict[str | int, Rules | None] = {}

    @cached_property
    def marks(self) -> Schema:
        """Each keyword as the first of the schemas has it."""
        return {name: value for schema in reversed(self.schemas) for name, value in schema.items()}

    @cached_property
    def defaults(self) -> tuple[tuple[str, Rules], ...]:
        """The keys that have a default, each with its own rules."""
        options = [pair for schema in self.schemas for pair in schema.get("properties", {}).items()]
        return tuple((key, Rules(option)) for key, option in options if has_default(option))

    def child(self, key: str | int) -> Rules | None:
        """The rules for one key, or for the items of a list; None where the schemas do not know it."""
        key = key if isinstance(key, str) else 0
        if key not in self._children:
            schema = self._child_schema(key)
            self._children[key] = None if schema is None else Rules(schema)
        return self._children[key]

    def _child_schema(self, key: str | int) -> Schema | None:
        if isinstance(key, int):
            return next((schema["items"] for schema in self.schemas if "items" in schema), None)
        for schema in self.schemas:
            option: Schema | None = schema.get("properties", {}).get(key)
            if option is not None and "const" not in option:  # a constant is the tag of a kind
                return option
        for schema in self.schemas:
            if isinstance(schema.get("additionalProperties"), Mapping):
                return schema["additionalProperties"]
        return {} if any(schema.get("type") == "object" and not names_keys(schema) for schema in self.schemas) else None


ANYTHING = Rules({})


@functools.cache
def spec_rules() -> Rules:
    """The rules of a whole resolved spec."""
    return Rules(load("experiment"))


@functools.cache
def section_rules(section: str) -> Rules:
    """The rules of one top-level key."""
    return Rules(load("experiment")["properties"][section])


def has_default(option: Schema) -> bool:
    """Whether an option has a default, in some world at least."""
    return option.get("default") is not None or "x-defaults" in option


def is_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def decisive(value: Any) -> Any:
    """What a condition can see of the value of a key."""
    return value if isinstance(value, (str, int, float)) or value is MISSING else type(value)


def conditions_in(schema: Schema) -> Iterator[Schema]:
    """What a schema asks of the value itself before it decides."""
    if "$ref" in schema and "." not in schema["$ref"]:  # the rules of one kind ask for none, and may not be made yet
        yield from conditions_in(definition(schema["$ref"]))
    for part in schema.get("allOf", ()):
        yield from conditions_in(part)
    if "if" in schema:
        yield schema["if"]
        for branch in ("then", "else"):
            yield from conditions_in(schema.get(branch, {}))


def parts_for(schema: Schema, value: Any) -> Iterator[Schema]:
    """The schema and those of its parts that hold for a value."""
    yield schema
    if "$ref" in schema:
        yield from parts_for(definition(schema["$ref"]), value)
    for part in schema.get("allOf", ()):
        yield from parts_for(part, value)
    if "if" in schema:
        branch = "then" if applies(schema["if"], value) else "else"
        if branch in schema:
            yield from parts_for(schema[branch], value)


def definition(reference: str) -> Schema:
    schema: Any = load("experiment")
    for part in reference.removeprefix("#/").split("/"):
        schema = schema[part]
    return schema


def applies(condition: Schema, value: Any) -> bool:
    if "type" in condition and not is_type(value, condition["type"]):
        return False
    if not isinstance(value, Mapping):
        return "required" not in condition
    if any(key not in value for key in condition.get("required", ())):
        return False
    return all(value.get(key) == rule["const"] for key, rule in condition.get("properties", {}).items())


def names_keys(schema: Schema) -> bool:
    return "additionalProperties" in schema or "properties" in schema
