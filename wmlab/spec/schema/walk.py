"""Walking data and its schema side by side: which rules hold at which place.

It reads the few forms that our generated schemas use: `$ref`, `allOf`, and `if` on a kind, a type or a required key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


ANYTHING: Schema = {}
MISSING = object()


def is_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


# What was found before, by the schema's id. The schema is kept beside it, so that its id stays its own.
_conditions: dict[int, tuple[Schema, tuple[str, ...]]] = {}
_rules: dict[tuple[Any, ...], tuple[Schema, tuple[Schema, ...]]] = {}
_within: dict[tuple[int, str | int], tuple[tuple[Schema, ...], Schema | None]] = {}
_defaults: dict[int, tuple[tuple[Schema, ...], tuple[tuple[str, Schema], ...]]] = {}


def rules(schema: Schema, value: Any) -> tuple[Schema, ...]:
    """Every schema that speaks about this value, references followed and conditions decided."""
    key = (id(schema), type(value), signature(schema, value) if isinstance(value, dict) else None)
    found = _rules.get(key)
    if found is None:
        found = _rules[key] = (schema, tuple(decided(schema, value)))
    return found[1]


def signature(schema: Schema, value: Mapping[str, Any]) -> tuple[Any, ...]:
    """All that the schema's conditions look at in a mapping: a few of its keys."""
    conditions = _conditions.get(id(schema))
    if conditions is None:
        conditions = _conditions[id(schema)] = (schema, tuple(sorted(set(looked_at(schema)))))
    found = [value.get(key, MISSING) for key in conditions[1]]
    return tuple(one if isinstance(one, (str, int, float)) or one is MISSING else type(one) for one in found)


def looked_at(schema: Schema) -> Iterator[str]:
    """The keys that a schema's own conditions ask for."""
    if "$ref" in schema and "." not in schema["$ref"]:  # the rules of one kind ask for none, and may not be made yet
        yield from looked_at(definition(schema["$ref"]))
    for part in schema.get("allOf", ()):
        yield from looked_at(part)
    if "if" in schema:
        yield from (*schema["if"].get("required", ()), *schema["if"].get("properties", ()))
        for branch in ("then", "else"):
            yield from looked_at(schema.get(branch, {}))


def decided(schema: Schema, value: Any) -> Iterator[Schema]:
    yield schema
    if "$ref" in schema:
        yield from decided(definition(schema["$ref"]), value)
    for part in schema.get("allOf", ()):
        yield from decided(part, value)
    if "if" in schema:
        branch = "then" if applies(schema["if"], value) else "else"
        if branch in schema:
            yield from decided(schema[branch], value)


def definition(reference: str) -> Schema:
    found: Any = load("experiment")
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def applies(condition: Schema, value: Any) -> bool:
    if "type" in condition and not is_type(value, condition["type"]):
        return False
    if not isinstance(value, Mapping):
        return "required" not in condition
    if any(key not in value for key in condition.get("required", ())):
        return False
    return all(value.get(key) == rule["const"] for key, rule in condition.get("properties", {}).items())


def child(schema: Schema, value: Any, key: str | int) -> Schema | None:
    """The rules for one key of a mapping or one item of a list; None where the schema does not know it."""
    return within(rules(schema, value), key)


def within(found: tuple[Schema, ...], key: str | int) -> Schema | None:
    """The same, among the rules that hold for the mapping or list."""
    memo = (id(found), key if isinstance(key, str) else 0)
    known = _within.get(memo)
    if known is None:
        known = _within[memo] = (found, looked_up(found, key))
    return known[1]


def looked_up(found: tuple[Schema, ...], key: str | int) -> Schema | None:
    if isinstance(key, int):
        return next((rule["items"] for rule in found if "items" in rule), None)
    for rule in found:
        if key in rule.get("properties", {}) and not is_kind_tag(rule["properties"][key]):
            return rule["properties"][key]
    for rule in found:
        if isinstance(rule.get("additionalProperties"), Mapping):
            return rule["additionalProperties"]
    return ANYTHING if any(rule.get("type") == "object" and not bounded(rule) for rule in found) else None


def defaults(found: tuple[Schema, ...]) -> tuple[tuple[str, Schema], ...]:
    """The keys that have a default among the rules that hold for a mapping, each with its own rules."""
    known = _defaults.get(id(found))
    if known is None:
        pairs = [pair for rule in found for pair in rule.get("properties", {}).items()]
        kept = tuple((key, rules) for key, rules in pairs if rules.get("default") is not None)
        known = _defaults[id(found)] = (found, kept)
    return known[1]


def is_kind_tag(rule: Schema) -> bool:
    return "const" in rule


def bounded(rule: Schema) -> bool:
    return "additionalProperties" in rule or "properties" in rule


def mark(schema: Schema, value: Any, name: str) -> Any:
    """The first of our own marks of this name that holds for the value."""
    return next((rule[name] for rule in rules(schema, value) if name in rule), None)


def known_keys(schema: Schema, value: Any) -> list[str]:
    """The keys that may stand in this mapping, for suggestions."""
    return [key for rule in rules(schema, value) for key in rule.get("properties", {})]


def at(schema: Schema, data: Any, path: Sequence[str | int]) -> Schema | None:
    """The rules at a path below; None where neither schema nor data know it."""
    for key in path:
        found = child(schema, data, key)
        if found is None:
            return None
        schema = found
        if isinstance(data, Mapping):
            data = data.get(str(key))
        elif isinstance(data, (list, tuple)) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            data = None
    return schema
