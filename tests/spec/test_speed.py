"""The language answers at once: nothing heavy is imported, and little is worked out twice."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SPECS = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "specs").rglob("*.yaml"))]
CODE = """
import sys
from wmlab.cli import main
try:
    main(sys.argv[1:])
finally:
    assert "jax" not in sys.modules and "scipy" not in sys.modules and "matplotlib" not in sys.modules
"""


@pytest.mark.parametrize("command", [["validate", *SPECS], ["plan", "specs/quickstart.yaml"]], ids=lambda c: c[0])
def test_a_question_is_answered_at_once_and_without_jax(command, tmp_path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run(
        [sys.executable, "-c", CODE, *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"WMLAB_HOME": str(tmp_path / "home"), "PATH": ""},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert answer.returncode == 0 and "Error" not in answer.stderr, answer.stderr
    # A second or two on an idle core for all specs, a thousand points; a busy machine counts its waiting too.
    assert after.ru_utime - before.ru_utime < 6
