"""The committed schemas are those of the code, and an editor that uses them has no quarrel with a good spec."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from tests.spec.mutation import mutated
from wmlab.spec.check.validate import validate_all
from wmlab.spec.schema import generate as schema
from wmlab.spec.yaml.load import load

ROOT = Path(__file__).parent.parent.parent
VALID = ROOT / "tests" / "specs" / "valid"
SPECS = sorted(
    [
        *(ROOT / "specs").rglob("*.yaml"),
        *(path for path in (ROOT / "tests").rglob("*.yaml") if "invalid" not in path.parts),
        *(ROOT / "wmlab").rglob("*.yaml"),
    ]
)


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


NULLS = {
    "sweep": {"noise": None, "goals": {"agent.discount": [0.5], "goals.at": None}},
    "variants": {"plain": {"extract": {"prior": None}, "evaluate": {"unseen": {"goals": {"corner": None}}}}},
    "claims": {"close": None, "far": {"at_most": None, "where": None}},
    "let": {"p": None},
    "extract": None,
    "agent": {"kind": None, "network": None},
    "goals": {"terminate": {"table": {"corner": None}}, "reward": {"noise": None}},
    "profiles": {"smoke": {"sweep": {"noise": None}, "agent": {"network": {"goal": None}}}, "laptop": None},
    "report": {"maps": None, "curves": {"one_line_per": None}},
    "compare": {"other": None},
}


@pytest.mark.parametrize("section", NULLS)
def test_an_editor_lets_null_take_away_what_another_file_says(section):
    validator = Draft202012Validator(schema.load("spec"))
    assert [error.message for error in validator.iter_errors({"wmlab": 1, section: NULLS[section]})] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(VALID, tmp_path_factory.mktemp("schema") / "specs"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spec=mutated({path.name: load(path).plain() for path in sorted(VALID.glob("*.yaml"))}))
def test_what_the_language_allows_the_schema_of_files_allows(folder, spec):
    name, text = spec
    path = folder / f"mutant_of_{name}"
    path.write_text(text, encoding="utf-8")
    if not validate_all([str(path)]):
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
