"""The committed schemas are those of the code, and an editor that uses them has no quarrel with a good spec."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from wmlab.spec.schema import generate as schema
from wmlab.spec.yaml.load import load

ROOT = Path(__file__).parent.parent.parent
SPECS = sorted([*(ROOT / "specs").rglob("*.yaml"), *(ROOT / "tests" / "specs" / "valid").rglob("*.yaml")])


@pytest.mark.parametrize("name", schema.FILES)
def test_the_committed_schemas_are_those_of_the_code(name):
    committed = (ROOT / "schemas" / schema.FILES[name]).read_text(encoding="utf-8")
    assert committed == schema.text(name), "run `make schemas`, or `wmlab schema --write`, and commit schemas/"


@pytest.mark.parametrize("name", schema.FILES)
def test_the_schemas_are_schemas(name):
    Draft202012Validator.check_schema(schema.load(name))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_editor_finds_no_mistake_in_a_good_spec(path):
    validator = Draft202012Validator(schema.load("spec"))
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(load(path).plain())] == []


@pytest.mark.parametrize("name", schema.FILES)
def test_every_option_is_explained(name):
    silent = [path for path, rules in options(schema.load(name), name) if not rules.get("description")]
    assert silent == []


def options(rules: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every option that a schema declares; the word behind `kind` is explained where the kinds are listed."""
    if isinstance(rules, list):
        for i, part in enumerate(rules):
            yield from options(part, f"{path}[{i}]")
    elif isinstance(rules, dict):
        for key, part in rules.items():
            if key == "properties":
                declared = {name: option for name, option in part.items() if "const" not in option}
                yield from ((f"{path}.{name}", option) for name, option in declared.items())
            if key not in ("default", "if"):
                yield from options(part, f"{path}.{key}")


def test_no_union_is_left_to_guessing():
    """`anyOf` and `oneOf` would only say that nothing fits."""
    for name in schema.FILES:
        text = schema.text(name)
        assert '"anyOf"' not in text and '"oneOf"' not in text
