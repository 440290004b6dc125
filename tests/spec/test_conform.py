"""The quick answer to whether a spec keeps the schema is jsonschema's answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.spec.mutation import invented, mutated
from wmlab.errors import SpecErrors
from wmlab.spec.check.structure import validator
from wmlab.spec.schema.conform import conforms
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
    for section, rules in load_schema("experiment")["properties"].items():
        if section in data:
            errors = list(validator(section).iter_errors(data[section]))
            assert conforms(rules, data[section]) == (not errors), section
            # Without keys that are missing; where one is missing, a rule behind it may go unasked.
            others = [error for error in errors if error.validator != "required"]
            assert conforms(rules, data[section], partial=True) == (not others), section


@SETTINGS
@given(spec=mutated(SPECS))
def test_of_a_mutated_spec_both_say_the_same(spec):
    agree(spec[1])


@SETTINGS
@given(text=invented())
def test_of_an_invented_spec_both_say_the_same(text):
    agree(text)


@pytest.mark.parametrize(
    ("rules", "value", "sure"),
    [
        ({"enum": [1, "all"]}, True, False),
        ({"const": 1}, 1.0, False),  # a doubt: JSON finds them equal
        ({"type": "integer"}, 2.0, True),
        ({"type": "number"}, False, False),
        ({"minimum": 0}, float("nan"), False),
        ({"minimum": 0}, "text", True),
        ({"uniqueItems": True}, [[1], [2]], True),
        ({"uniqueItems": True}, [1, True], False),
        ({"oneOf": [{}]}, 1, False),
        ({"if": {"minimum": 3}, "then": {}}, 1, False),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, False),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"minProperties": 1}}, {"c": 1}, True),
        ({"additionalProperties": {"type": "string"}}, {"a": "b"}, True),
        ({"$ref": "elsewhere"}, 1, False),
    ],
)
def test_what_is_not_surely_right_is_a_doubt(rules, value, sure):
    assert conforms(rules, value) == sure
