"""The quick answer to whether a spec keeps the schema is jsonschema's answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from tests.spec.mutation import invented, mutated
from wmlab.errors import SpecErrors
from wmlab.spec.check.schema_errors import schema_errors
from wmlab.spec.schema.conform import conforms, exact_validator
from wmlab.spec.schema.generate import load as load_schema
from wmlab.spec.yaml.load import load, load_bytes

VALID = Path(__file__).parent.parent / "specs" / "valid"
SPECS = {path.name: load(path).plain() for path in sorted(VALID.glob("*.yaml"))}
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def agree(text: str) -> None:
    try:
        data = load_bytes(text.encode(), "spec.yaml").plain()
    except SpecErrors:
        return
    for section in load_schema("experiment")["properties"]:
        if section in data:
            errors = list(exact_validator(section).iter_errors(data[section]))
            assert conforms(data[section], section) == (not errors), section
            # In a fragment keys may be missing, and nothing else.
            others = [error for error in errors if error.validator != "required"]
            assert conforms(data[section], section, partial=True) == (not others), section


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


@pytest.mark.parametrize("key", ["", "0", "00", "a/b", "a~b"])
def test_a_mistake_under_a_strange_key_has_its_place(key):
    root = load_bytes(f"let:\n  good: 1\n  '{key}': [1]\n".encode(), "f.yaml")
    [error] = schema_errors(root.near(["let"]), "let")
    assert (error.source.line, error.path) == (3, f"let.{key}")
