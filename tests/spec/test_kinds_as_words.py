"""A kind that stands where its mapping should: refused at its line, with what to write, in every section with kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.spec.mutation import at, paths, text
from wmlab.cli import main
from wmlab.spec.yaml.load import load

SPECS = Path(__file__).parents[2] / "specs"
CONTINUOUS, FINITE = "examples/pendulum_expressions.yaml", "examples/taxi.yaml"


def kinds(spec: str) -> list[tuple[str, tuple[str | int, ...], str]]:
    """Spec, path and name of each kind that a spec chooses outside its profiles."""
    data = load(SPECS / spec).plain()
    places = [path[:-1] for path in paths(data) if path[-1] == "kind" and path[0] != "profiles"]
    return [(spec, path, at(data, path)["kind"]) for path in places]


def validated(
    spec: str, path: tuple[str | int, ...], value: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> str:
    """What `wmlab validate` says of a spec with another value at a path; it exits with 2."""
    data = json.loads(json.dumps(load(SPECS / spec).plain()))
    at(data, path[:-1])[path[-1]] = value
    (folder / "spec.yaml").write_text(text(data), encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["validate", str(folder / "spec.yaml")])
    assert stop.value.code == 2
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("spec", "path", "kind"),
    [*kinds(CONTINUOUS), *kinds(FINITE)],
    ids=lambda part: ".".join(map(str, part)) if isinstance(part, tuple) else str(part),
)
def test_a_kind_without_its_mapping_is_told_what_to_write(spec, path, kind, tmp_path, capsys):
    out = validated(spec, path, kind, tmp_path, capsys)
    assert f"{'.'.join(map(str, path))}: expected a mapping, not '{kind}'" in out
    assert f"^ say {{kind: {kind}}}" in out


def test_the_families_are_all_among_them():
    heads = {path[0] for _, path, _ in [*kinds(CONTINUOUS), *kinds(FINITE)]}
    assert {"mdp", "goals", "agent", "extract", "evaluate"} <= heads


def test_a_model_that_is_a_word_is_told_the_keys_that_a_model_has(tmp_path, capsys):
    out = validated(CONTINUOUS, ("extract", "model"), "mlp", tmp_path, capsys)
    assert "extract.model: expected a mapping, not 'mlp'" in out and "^ its keys: family, depth, width" in out
    out = validated(CONTINUOUS, ("extract", "model"), "gaussian", tmp_path, capsys)
    assert "^ say {family: gaussian}" in out
