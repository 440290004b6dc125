"""Whatever slip of the pen: a spec is accepted, and then it can be planned, or each mistake has its place."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.spec.mutation import invented, mutated
from wmlab.errors import SpecErrors
from wmlab.graph.study import open_study
from wmlab.spec.check.validate import SpecChecker, validate
from wmlab.spec.compose.document import read
from wmlab.spec.compose.resolve import PAPER, resolve
from wmlab.spec.yaml.load import load

VALID = Path(__file__).parent.parent / "specs" / "valid"
SPECS = {path.name: load(path).plain() for path in sorted(VALID.glob("*.yaml"))}
EXAMPLES = int(os.environ.get("WMLAB_EXAMPLES", "300"))
SETTINGS = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
MOST_RUNS = 200  # larger plans are sound too, and take their time


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the valid specs, in which one at a time is replaced."""
    target = tmp_path_factory.mktemp("mutated") / "specs"
    shutil.copytree(VALID, target)
    return target


def accepted_or_refused(path: Path, folder: Path, checker: SpecChecker | None = None, profiles: int = 99) -> None:
    """A spec is planned in its first profiles, or each mistake has a place; a checker knows what others share."""
    try:
        document = read(str(path))
        errors = validate(document, checker=checker)
    except SpecErrors as refused:
        errors = list(refused.errors)
    for error in errors:
        assert error.message and error.source.file.startswith(str(folder)), error
        assert error.source.line is not None or "file" in error.message, error
        assert error.source.line is None or error.excerpt()
    assert len(errors) == len({(str(error.source), error.path, error.message) for error in errors})
    if not errors and not document.is_fragment:
        for profile in (PAPER, *document.profiles)[:profiles]:
            resolved = resolve(document, profile)
            if resolved.is_suite or len(resolved.points) * len(resolved.seeds) <= MOST_RUNS:
                open_study(str(path), profile)


@SETTINGS
@given(spec=mutated(SPECS))
def test_a_mutated_spec_is_planned_or_refused_with_places(folder, spec):
    name, text = spec
    path = folder / f"mutant_of_{name}"
    path.write_text(text, encoding="utf-8")
    accepted_or_refused(path, folder)


@SETTINGS
@given(text=invented())
def test_an_invented_spec_is_planned_or_refused_with_places(folder, text):
    path = folder / "invented.yaml"
    path.write_text(text, encoding="utf-8")
    accepted_or_refused(path, folder)
