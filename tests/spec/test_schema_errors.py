"""The validator in Rust that specs are checked with says what jsonschema says, rule by rule."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from tests.spec.mutation import invented, mutated
from wmlab.errors import SpecErrors
from wmlab.spec.check.schema_errors import broken_rules, schema_errors
from wmlab.spec.schema.generate import load as load_schema
from wmlab.spec.yaml.load import load, load_bytes

VALID = Path(__file__).parent.parent / "specs" / "valid"
SPECS = {path.name: load(path).plain() for path in sorted(VALID.glob("*.yaml"))}
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@functools.cache
def reference(section: str) -> jsonschema.Draft202012Validator:
    schema = load_schema("experiment")
    return jsonschema.Draft202012Validator({"$defs": schema["$defs"], **schema["properties"][section]})


def agree(text: str) -> None:
    try:
        root = load_bytes(text.encode(), "spec.yaml")
    except SpecErrors:
        return
    for section in load_schema("experiment")["properties"]:
        node = root.at([section])
        if node is None:
            continue
        ours = {(tuple(path), rule.keyword, repr(rule.wanted)) for rule, path in broken_rules(node, section, False)}
        theirs = {
            (tuple(error.absolute_path), str(error.validator), repr(error.validator_value))
            for error in reference(section).iter_errors(node.plain())
        }
        assert ours == theirs, section
        # In a fragment keys may be missing, and nothing else.
        others = {rule for rule in theirs if rule[1] != "required"}
        assert {(tuple(path), rule.keyword, repr(rule.wanted)) for rule, path in broken_rules(node, section, True)} == (
            others
        )
        assert not ours or all(error.message for error in schema_errors(node, section))


@SETTINGS
@given(spec=mutated(SPECS))
def test_of_a_mutated_spec_both_say_the_same(spec):
    agree(spec[1])


@SETTINGS
@given(text=invented())
def test_of_an_invented_spec_both_say_the_same(text):
    agree(text)


@pytest.mark.parametrize(
    ("rules", "value", "valid"),
    [
        ({"enum": [1, "all"]}, True, False),
        ({"const": 1}, 1.0, True),
        ({"type": "integer"}, 2.0, True),
        ({"type": "integer"}, 10**30, True),
        ({"type": "number"}, False, False),
        ({"minimum": 0}, "text", True),
        ({"maximum": 2**32 - 1}, 2**32, False),
        ({"maximum": 10}, 10**30, False),
        ({"exclusiveMinimum": 0}, 5e-324, True),
        ({"uniqueItems": True}, [[1], [2]], True),
        ({"uniqueItems": True}, [1, True], True),
        ({"uniqueItems": True}, [1, 1.0], False),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, False),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"minProperties": 1}}, {"c": 1}, True),
        ({"additionalProperties": {"type": "string"}}, {"a": "b"}, True),
        ({"pattern": "^[a-z][a-z0-9_]*$"}, "ä", False),
    ],
)
def test_values_that_python_and_json_see_differently_are_judged_alike(rules: dict[str, Any], value: Any, valid: bool):
    assert jsonschema.Draft202012Validator(rules).is_valid(value) == valid
    assert jsonschema_rs.Draft202012Validator(rules).is_valid(value) == valid
