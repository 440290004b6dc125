"""Null in files: it takes away what another file, a profile or the body says, and may stand under every key."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def with_nulls(schema: Schema) -> Schema:
    """A schema of files: null, which takes a value away, may stand under every key."""
    parts: Schema = dict(schema)
    for key in ("then", "else", "items"):
        if isinstance(schema.get(key), dict):
            parts[key] = with_nulls(schema[key])
    if "allOf" in schema:
        parts["allOf"] = [with_nulls(part) for part in schema["allOf"]]
    if "properties" in schema:
        parts["properties"] = {key: nullable(with_nulls(part)) for key, part in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        parts["additionalProperties"] = nullable(with_nulls(schema["additionalProperties"]))
    return parts


def nullable(schema: Schema) -> Schema:
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return schema | {"type": [*kinds, "null"]} if "null" not in kinds else schema
    return schema
