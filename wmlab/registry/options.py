"""Options of kinds: how they are declared, and how they are made from data."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from wmlab.registry.defaults import ByWorld

REQUIRED: Any = dataclasses.MISSING
R = TypeVar("R")


def option(
    default: Any = REQUIRED,
    *,
    doc: str,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    schema: Mapping[str, Any] | None = None,
    whole: bool = False,
    example: Any = None,
    static: bool = True,
) -> Any:
    """A field of an options dataclass.

    `schema` replaces what would be derived from the type, for free-form values; `whole` marks a value that an
    overlay replaces whole instead of merging into it. A default that is a dict or list is copied per use; one that
    depends on the world is `by_world(…)`. What is not `static` is no part of a program: options that differ in it
    alone are equal, and share one.
    """
    metadata = {
        "doc": doc,
        "bounds": {
            key: bound
            for key, bound in (
                ("minimum", at_least),
                ("exclusiveMinimum", above),
                ("maximum", at_most),
                ("exclusiveMaximum", below),
            )
            if bound is not None
        },
        "schema": schema,
        "whole": whole,
        "example": example,
        "by_world": default if isinstance(default, ByWorld) else None,
    }
    default = default.plain if isinstance(default, ByWorld) else default
    if default is REQUIRED:
        return dataclasses.field(metadata=metadata, compare=static)
    if isinstance(default, (dict, list)) or (dataclasses.is_dataclass(default) and not isinstance(default, type)):
        return dataclasses.field(default_factory=lambda: default, metadata=metadata, compare=static)
    return dataclasses.field(default=default, metadata=metadata, compare=static)


# Forms that recur: numbers may be expressions of the spec's own numbers.
NUMBER = {"type": ["number", "string"], "x-wmlab": "number"}
NUMBERS = {"type": "array", "items": NUMBER, "minItems": 1}
PAIR = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
PAIRS = {"type": "object", "additionalProperties": PAIR}  # {variable: [low, high]}
EXPRESSION = {"type": ["number", "string"], "x-wmlab": "expression"}


def by_type(**members: Mapping[str, Any]) -> dict[str, Any]:
    """A schema for a value of several JSON types, each with its own rules: real messages, where `anyOf` has none."""
    return {
        "type": list(members),
        "allOf": [{"if": {"type": name}, "then": dict(rules)} for name, rules in members.items() if rules],
    }


# --- options from data -----------------------------------------------------------------------------------------


def build(record: type[R], data: Mapping[str, Any]) -> R:
    """A frozen options record from validated data, nested records included; lists become tuples."""
    key_of: Any = record
    fields = _converters(key_of)
    return record(**{fields[key][0]: fields[key][1](value) for key, value in data.items()})


def field_of(record: Any, key: str) -> Any:
    """The field of a record that a spec calls by this key."""
    return getattr(record, key) if hasattr(record, key) else getattr(record, f"{key}_")


def as_data(record: Any) -> Any:
    """A record as JSON data, the inverse of `build`; what is unset inside it stays unset."""
    if hasattr(record, "from_data"):
        return record.data
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        values = {key: getattr(record, name) for key, (name, _) in field_types(type(record)).items()}
        return {key: as_data(value) for key, value in values.items() if value is not None}
    if isinstance(record, (tuple, list)):
        return [as_data(item) for item in record]
    if isinstance(record, Mapping):
        return {key: as_data(value) for key, value in record.items()}
    return record


@functools.cache
def field_types(record: type) -> dict[str, tuple[str, Any]]:
    """Key in a spec: field name and type. A field `from_` is written `from`, for Python keeps that word to itself."""
    hints = typing.get_type_hints(record)
    return {field.name.rstrip("_"): (field.name, hints[field.name]) for field in dataclasses.fields(record)}


@functools.cache
def _converters(record: type) -> dict[str, tuple[str, Callable[[Any], Any]]]:
    return {key: (name, _converter(hint)) for key, (name, hint) in field_types(record).items()}


@functools.cache
def _converter(hint: Any) -> Callable[[Any], Any]:
    """What makes a value of this type from JSON data; worked out once, for options are built often."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        members = [(_fitter(member), _converter(member)) for member in arguments]
        return lambda value: next((convert(value) for fits, convert in members if fits(value)), value)
    if hasattr(hint, "from_data"):  # the choice of a kind: its options are built by that kind
        return lambda value: hint.from_data(value) if isinstance(value, Mapping) else value
    if dataclasses.is_dataclass(hint):
        return lambda value: build(typing.cast(type, hint), value) if isinstance(value, Mapping) else value
    if origin is tuple:
        item = _converter(arguments[0])
        return lambda value: tuple(item(one) for one in value) if isinstance(value, (list, tuple)) else value
    if origin is dict:
        item = _converter(arguments[1])
        return lambda value: {key: item(one) for key, one in value.items()} if isinstance(value, Mapping) else value
    if hint is float:
        return lambda value: float(value) if type(value) is int else value
    return lambda value: value


@functools.cache
def _fitter(hint: Any) -> Callable[[Any], bool]:
    """Whether a member of a union is the one that a value is meant for; members differ in JSON type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return lambda value: True
    if origin is Literal:
        return lambda value: value in arguments
    if dataclasses.is_dataclass(hint) or origin is dict:
        return lambda value: isinstance(value, Mapping)
    if origin is tuple:
        return lambda value: isinstance(value, (list, tuple))
    if hint is float:
        return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    return lambda value: isinstance(value, hint)
