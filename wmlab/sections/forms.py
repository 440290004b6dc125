"""Forms that recur in the schema: names, counts, numbers, points, states and bounds; and its groups of keys."""

from __future__ import annotations

from typing import Any

from wmlab.limits import NAME_CHARACTERS, NAMED
from wmlab.registry import by_type

NAME = r"^[a-z][a-z0-9_]*$"
EXPERIMENT_KEYS = (
    "let",
    "mdp",
    "goals",
    "agent",
    "data",
    "extract",
    "evaluate",
)  # what a variant or a sweep may change
RESULT_KEYS = ("compare", "relate", "sweep", "variants", "seeds", "claims", "assumptions", "report", "suite")
PROFILE_KEYS = (*EXPERIMENT_KEYS, *RESULT_KEYS)
DOCUMENT_KEYS = ("wmlab", "name", "title", "extends", *PROFILE_KEYS, "profiles", "default_profile")

COUNT = {"type": ["integer", "string"], "minimum": 1, "x-wmlab": "number"}
NUMBER = {"type": ["number", "string"], "x-wmlab": "number"}
TEXT = {"type": "string"}
FREE = {"type": "object"}
SEEDS = {**COUNT, "maximum": 10_000}
SEED = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}


def words_or_count(*words: str) -> dict[str, Any]:
    """One of the words, or a count (a number or an expression)."""
    return {"type": ["integer", "string"], "minimum": 1, "x-wmlab": "number", "x-words": list(words)}


def named(pattern: str, most: int = NAMED) -> dict[str, Any]:
    """Rules for the keys of a mapping that are names, and for how many there may be."""
    return {"propertyNames": {"pattern": pattern, "maxLength": NAME_CHARACTERS}, "maxProperties": most}


def mapping_of(rules: dict[str, Any], names: str | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "additionalProperties": rules}
    return schema if names is None else schema | named(names)


def list_of(rules: dict[str, Any], **limits: int) -> dict[str, Any]:
    return {"type": "array", "items": rules, **limits}


STATES = ("all", "uniform", "reset")
COORDINATE = {"type": ["integer", "number", "string"], "x-wmlab": "number"}  # a cell's stay whole numbers
POINT = by_type(string={}, number={}, array=list_of(COORDINATE, minItems=1), object=mapping_of(NUMBER))
AXIS_POINTS = by_type(
    array=list_of(NUMBER, minItems=1),
    object={
        "properties": {"linspace": {**list_of(NUMBER, minItems=3, maxItems=3), "description": "From, to, how many."}},
        "required": ["linspace"],
        "additionalProperties": False,
    },
)
NESTED_GOALS = {
    "properties": {
        "first": {**COUNT, "description": "How many goals: the sets nest as it grows."},
        "of": {"enum": ["states"], "default": "states", "description": "What is counted."},
        "shuffle": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": 2**32 - 1,
            "default": None,
            "description": "Seed of the permutation that the first are taken from; null: in order.",
        },
    },
    "required": ["first"],
    "additionalProperties": False,
}
GOALS_AT = by_type(
    string={
        "enum": ["all"],
        "x-beside": ["a list", "a mapping"],
        "x-hint": "all is of a finite world; of variables say points, as [{x: 0}], or a product, as {x: [-1, 1]}",
    },
    array=list_of(POINT, minItems=1),
    object={
        "if": {"required": ["first"]},
        "then": NESTED_GOALS,
        "else": {"additionalProperties": AXIS_POINTS, "minProperties": 1},
    },
)
WORKED_OUT_AT_A_POINT = {"type": ["number", "string"], "x-wmlab": "bound"}
# A part of a metric's breakdown: its name, and a label of it, a list of labels, or all.
BY: dict[str, Any] = {
    "type": "object",
    "additionalProperties": by_type(string={}, array=list_of(TEXT, minItems=1)),
    "maxProperties": 1,
    "x-whole": True,
}
BOUND = {
    "type": ["number", "string", "object"],
    "allOf": [
        {
            "if": {"type": "object"},
            "then": {
                "properties": {
                    "metric": {**TEXT, "description": "The metric to compare with; the claim's own by default."},
                    "by": {
                        **BY,
                        "description": "A part of its breakdown; the claim's own by default, {} for the whole.",
                    },
                    "where": {**FREE, "description": "Where it differs from the claim's point."},
                    "times": {**WORKED_OUT_AT_A_POINT, "default": 1.0, "description": "A factor."},
                    "plus": {**WORKED_OUT_AT_A_POINT, "default": 0.0, "description": "Added after the factor."},
                },
                "additionalProperties": False,
            },
        }
    ],
    "x-wmlab": "bound",
}
