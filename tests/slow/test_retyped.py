"""Every single value of every shipped spec, replaced by data of every other type: refused in words, or sound."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.spec.mutation import retyped, text
from tests.spec.test_mutated import accepted_or_refused
from wmlab.spec.check.validate import SpecChecker
from wmlab.spec.yaml.load import load

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "specs").rglob("*.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT / "specs")))
def test_a_value_of_another_type_is_refused_or_sound(path, tmp_path):
    folder = shutil.copytree(ROOT / "specs", tmp_path / "specs")
    target = folder / path.relative_to(ROOT / "specs").with_name("retyped.yaml")
    cases, checker = 0, SpecChecker()  # members of a suite, and worlds that stay as they are, are checked once
    for place, value, data in retyped(load(path).plain()):
        target.write_text(text(data), encoding="utf-8")
        try:
            # Members of a suite that it names as before have plans of their own.
            accepted_or_refused(target, folder, checker, profiles=int("suite" not in data or place[0] == "suite"))
        except Exception as error:
            pytest.fail(f"{place} as {value!r}: {error!r}")
        cases += 1
    assert cases > 20
