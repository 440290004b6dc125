"""The benchmark of very large plans, with a small one."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
from wmlab.bench import scale
scale.write_spec(2, 2)
scale.MISSING = 2
scale.fill()
scale.overhead()
print("went on", flush=True)
"""


def test_the_cost_of_a_cached_stage_is_measured_to_the_last_of_whatever_number_there_is(tmp_path):
    environment = {**os.environ, "WMLAB_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and float(done.stdout) > 0, done.stdout + done.stderr
