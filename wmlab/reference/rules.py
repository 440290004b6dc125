"""What a schema says of a value, in words: its type, its bounds, its default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wmlab.registry.defaults import BUDGET, in_words

Schema = dict[str, Any]
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
MARKED = {"file": "path of a file", "bound": "number, expression, or mapping", "expression": "expression"}
PLAIN = {"string": "text", "boolean": "true or false", "array": "list", "object": "mapping", "null": "null"}
FIRST_BOUND = "at_most"
MOST = 60  # characters of a default that are shown


@dataclass(frozen=True)
class Row:
    """One option."""

    path: str  # below the section: slip.straight
    type: str
    default: str | None  # values as YAML would have them, marked as code; None: there is none
    required: bool
    says: str


def rows(rules: Schema, path: str = "") -> Iterator[Row]:
    """Every option below a schema, each before its own parts; of one mapping or a list of such it is told once."""
    named: set[str] = set()
    for key, part, required in members(rules):
        if key == "[]" and part.get("properties") and named >= part["properties"].keys():
            continue
        named.add(key)
        place = f"{path}{'.' if path and not key.startswith('[') else ''}{key}"
        if "description" in part and not key.endswith(">") and not key.startswith("["):
            yield Row(place, type_of(part), default_of(part), required, part["description"])
        if part.get("x-wmlab") != "bound" or key == FIRST_BOUND:  # the same for each of them, and told once
            yield from rows(part, place)


def default_of(option: Schema) -> str | None:
    """The default of an option as YAML would have it, with the worlds that have it where they differ."""
    if "x-defaults" not in option:
        return None if option.get("default") is None else in_code(option["default"])
    general_first = reversed(option["x-defaults"].items())
    return ", ".join(f"{in_code(value)}{in_words(case)}" for case, value in general_first if value is not None)


def in_code(value: Any) -> str:
    """A default: a value, marked as code, or what a budget makes of it."""
    if not isinstance(value, dict) or BUDGET not in value:
        return f"`{flow(value)}`"
    allowed = value[BUDGET]
    return f"`{allowed['at_most']}`, or fewer within {allowed['total']} {allowed['of'].split()[-1]},"


def members(rules: Schema) -> Iterator[tuple[str, Schema, bool]]:
    """What a schema has inside: named keys, free keys, the items of a list, and the same behind conditions."""
    for key, part in rules.get("properties", {}).items():
        if "const" not in part:
            yield key, part, key in rules.get("required", ())
    free, items = rules.get("additionalProperties"), rules.get("items")
    if isinstance(free, dict):
        yield "<name>", free, False
    if isinstance(items, dict):
        yield "[]", items, False
    for case in rules.get("allOf", ()):
        if "then" in case:
            yield from members(case["then"])
    for branch in ("then", "else"):
        if branch in rules:
            yield from members(rules[branch])


def type_of(rules: Schema) -> str:
    """The type of a value, with its bounds."""
    limits = " and ".join(f"{sign} {rules[key]:g}" for key, sign in BOUNDS.items() if key in rules)
    return base_type(rules) + (f" {limits}" if limits else "")


def base_type(rules: Schema) -> str:
    if "$ref" in rules:
        return f"a {rules['$ref'].rpartition('/')[2]} kind"
    if "enum" in rules:
        return " or ".join(f"`{json.dumps(word) if not isinstance(word, str) else word}`" for word in rules["enum"])
    mark = rules.get("x-wmlab")
    if mark in MARKED:
        return MARKED[mark]
    names = rules.get("type", [])
    names = [names] if isinstance(names, str) else list(names)
    words = [f"`{word}`" for word in rules.get("x-words", ())]
    if mark == "number":  # a text here is an expression
        words.append("whole number" if "integer" in names and "number" not in names else "number")
        names = [name for name in names if name not in ("integer", "number", "string")]
    cases = {case["if"]["type"]: case["then"] for case in rules.get("allOf", ()) if "type" in case.get("if", {})}
    for name in names:
        words += several(name, {**rules, **cases.get(name, {})} if name in cases else rules)
    return " or ".join(dict.fromkeys(words)) or "anything"


def several(name: str, rules: Schema) -> list[str]:
    """One JSON type among those that a value may have."""
    if name == "string" and "enum" in rules:
        return [f"`{word}`" for word in rules["enum"]]
    if name == "array" and isinstance(rules.get("items"), dict):
        inner, count = base_type(rules["items"]), rules.get("minItems")
        if " or " in inner:
            return [f"list of ({inner})"]
        many = f"{inner}s" if inner in ("number", "whole number", "mapping") else inner
        return [f"list of {f'{count} ' if count and count == rules.get('maxItems') else ''}{many}"]
    if name == "object" and isinstance(rules.get("additionalProperties"), dict) and not rules.get("properties"):
        inner = base_type(rules["additionalProperties"])
        return ["mapping" if inner in ("mapping", "anything") else f"mapping to {inner}"]
    if name in ("integer", "number"):
        return ["whole number" if name == "integer" else "number"]
    return [PLAIN[name]]


def flow(value: Any) -> str:
    """A value as it would stand in a spec, in one line."""
    if isinstance(value, dict):
        text = "{" + ", ".join(f"{key}: {flow(part)}" for key, part in value.items()) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(flow(part) for part in value) + "]"
    elif isinstance(value, str):
        return value or '""'
    elif isinstance(value, float):
        return f"{value:g}"
    else:
        return json.dumps(value)
    return text if len(text) <= MOST else text[: MOST - 1] + "…"
