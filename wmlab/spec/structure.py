"""Structure: what the JSON Schema has to say, in words for people and with a place in a file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from wmlab.errors import SpecError, one_of, suggest
from wmlab.spec import walk
from wmlab.spec.load import unquoted_commas
from wmlab.spec.node import Node, show_path
from wmlab.spec.schema import Schema, load

NOUNS = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "nothing",
}


@functools.cache
def validator(section: str) -> Draft202012Validator:
    schema = load("experiment")
    return Draft202012Validator({"$defs": schema["$defs"], **schema["properties"][section]})


def structure_errors(node: Node, section: str) -> Iterator[SpecError]:
    """Every way in which a section of a resolved spec breaks the schema."""
    schema = load("experiment")["properties"][section]
    for error in validator(section).iter_errors(node.plain()):
        path = list(error.absolute_path)
        place = node.at(path) or node
        say = MESSAGES.get(str(error.validator), other)
        for source, below, message, hint in say(error, place, schema, node.plain()):
            yield SpecError(source, show_path([section, *path, *below]), message, hint)


Said = Iterator[tuple[Any, list[str], str, str | None]]


def unknown_key(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    here = walk.at(schema, data, list(error.absolute_path)) or {}
    known = walk.known_keys(here, error.instance)
    allowed = set(error.schema.get("properties", {}))
    for key in error.instance:
        if key in allowed:
            continue
        source = place.keys.get(key, place.source)
        cut = unquoted_commas(source.text or "", key)
        if cut:
            yield source, [key], f"unknown key; YAML cut '{cut}' at its commas", "quote it"
        else:
            hint = suggest(key, known) or (f"known: {', '.join(sorted(set(known)))}" if known else None)
            yield source, [], f"unknown key '{key}'", hint


def wrong_word(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    noun = error.schema.get("x-noun") if isinstance(error.schema, dict) else None
    known = [str(word) for word in error.validator_value]
    word = str(error.instance)
    message = f"unknown {noun} '{word}'" if noun else f"expected {one_of(known)}, not {show(error.instance)}"
    yield place.source, [], message, suggest(word, known) or (f"known: {', '.join(known)}" if noun else None)


def wrong_type(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    if error.schema.get("x-wmlab") == "number":
        wanted = [name for name in wanted if name != "string"]
        words = [f"'{word}'" for word in error.schema.get("x-words", ())]
        yield (
            place.source,
            [],
            f"expected {one_of([*words, *(NOUNS[n] for n in wanted)])}, not {show(error.instance)}",
            None,
        )
    else:
        yield place.source, [], f"expected {one_of(NOUNS[name] for name in wanted)}, not {show(error.instance)}", None


def missing_key(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    for key in error.validator_value:
        if key not in error.instance and f"'{key}'" in error.message:
            yield place.source, [], f"missing key '{key}'", None


def out_of_bounds(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    word = {
        "minimum": "at least",
        "maximum": "at most",
        "exclusiveMinimum": "above",
        "exclusiveMaximum": "below",
    }[str(error.validator)]
    yield place.source, [], f"must be {word} {error.validator_value:g}, not {error.instance:g}", None


def wrong_count(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    word = "at least" if str(error.validator).startswith("min") else "at most"
    noun = "keys" if "Properties" in str(error.validator) else "items"
    yield place.source, [], f"expected {word} {error.validator_value} {noun}, not {len(error.instance)}", None


def wrong_pattern(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    # propertyNames reports the key as the instance, at the mapping's own path.
    source = place.keys.get(error.instance, place.source)
    rule = "lower-case letters, digits and _" if "A-Z" not in str(error.validator_value) else "letters, digits and _"
    yield source, [], f"'{error.instance}' is not a name: use {rule}, a letter first", None


def wrong_constant(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    yield place.source, [], f"must be {error.validator_value!r}, not {show(error.instance)}", None


def other(error: ValidationError, place: Node, schema: Schema, data: Any) -> Said:
    yield place.source, [], error.message, None


MESSAGES: dict[str, Callable[[ValidationError, Node, Schema, Any], Said]] = {
    "additionalProperties": unknown_key,
    "enum": wrong_word,
    "type": wrong_type,
    "required": missing_key,
    "minimum": out_of_bounds,
    "maximum": out_of_bounds,
    "exclusiveMinimum": out_of_bounds,
    "exclusiveMaximum": out_of_bounds,
    "minItems": wrong_count,
    "maxItems": wrong_count,
    "minProperties": wrong_count,
    "pattern": wrong_pattern,
    "const": wrong_constant,
}


def show(value: Any) -> str:
    """A value as a message names it."""
    if isinstance(value, str):
        return f"'{value}'" if len(value) <= 40 else f"'{value[:37]}…'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return NOUNS["object"]
    if isinstance(value, list):
        return NOUNS["array"]
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
