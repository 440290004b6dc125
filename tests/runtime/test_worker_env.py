"""What a stage finds around it follows from its cores, not from the number of workers."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing

import pytest

from tests.runtime.toys import contents, run_toys, stage
from wmlab.runtime import worker_env
from wmlab.runtime.store import Store

linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs affinity")


@linux
def test_a_worker_gives_jax_as_many_threads_as_the_stage_has_cores(tmp_path, monkeypatch):
    compiled = tmp_path / "own"
    monkeypatch.setenv("XDG_CACHE_HOME", str(compiled))
    monkeypatch.setenv("JAX_ENABLE_X64", "1")  # a setting of the user's that would change results
    monkeypatch.setenv("XLA_FLAGS", "--no_such_flag")
    one, two = stage("threads", "one", cores=1), stage("threads", "two", cores=2)
    outcome, _, store = run_toys([one, two], tmp_path, jobs=2)
    assert outcome.ok, outcome.failed
    found = {store.manifest(key)["label"]: store.load(key).data for key in store.entries()}
    for label, number in (("one", 1), ("two", 2)):
        data = found[label]
        assert data["xla"] == number and data["blas"] == str(number) and data["x64"] is False
        programs = compiled / "wmlab" / "jax" / f"{worker_env.machine()}-{number}"
        assert data["cache"] == str(programs) and list(programs.iterdir())
        assert {oct(path.stat().st_mode & 0o777) for path in (programs, *programs.parents[:2])} == {"0o700"}


def test_a_jax_stage_gives_the_same_bytes_here_and_in_a_worker(tmp_path):
    code = """
import sys
from tests.runtime.toys import run_toys, stage
one = stage("threads", "one", **{"bytes only": True})
outcome, heard, _ = run_toys([one], sys.argv[1], jobs=0)
assert outcome.ok, outcome.failed
assert "jax" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "0")], check=True)
    _, _, store = run_toys([stage("threads", "one", **{"bytes only": True})], tmp_path / "1", jobs=1)
    assert contents(Store(tmp_path / "0")) == contents(store) != {}


def test_what_chooses_the_kernels_of_numpy_reaches_no_worker(monkeypatch):
    chosen = {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_L2_SIZE": "64", "NPY_DISABLE_CPU_FEATURES": "X86_V4"}
    given = worker_env.environment(1, environ={**chosen, "OPENBLAS_NUM_THREADS": "7", "HOME": "/home/me"})
    assert given.keys().isdisjoint(chosen) and given["HOME"] == "/home/me"
    assert given["OPENBLAS_NUM_THREADS"] == "1"


def test_a_command_drops_what_chooses_the_kernels_of_numpy_and_keeps_its_threads():
    code = """
import os, sys
from wmlab.cli import main
assert "numpy" not in sys.modules
try:
    main(["--version"])
except SystemExit:
    print(sorted(name for name in os.environ if name.startswith("OPENBLAS")))
"""
    environ = {**os.environ, "OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.splitlines()[-1] == "['OPENBLAS_NUM_THREADS']"


def test_a_run_in_a_process_whose_numpy_was_told_its_kernels_says_so(tmp_path):
    code = """
import sys
import numpy
from tests.runtime.toys import run_toys, stage
_, heard, _ = run_toys([stage("add", "one", number=1)], sys.argv[1], jobs=0)
print([event.text for event in heard if type(event).__name__ == "Notice"])
"""
    told = {}
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS"):
        environ = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
        environ[name] = {"OPENBLAS_CORETYPE": "Nehalem"}.get(name, "1")
        words = [sys.executable, "-c", code, str(tmp_path / name)]
        told[name] = subprocess.run(words, capture_output=True, text=True, check=True, env=environ).stdout
    assert "NumPy was imported before the run, with its own settings" in told["OPENBLAS_CORETYPE"]
    assert told["OPENBLAS_NUM_THREADS"] == "[]\n"


@linux
def test_two_claims_take_different_cores_as_long_as_there_are_some(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        pytest.skip("one core only")
    code = (
        "import os; from wmlab.runtime.worker_env import CoreClaim; CoreClaim(1); print(os.sched_getaffinity(0).pop())"
    )
    claim = worker_env.CoreClaim(1)
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before)
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    claim.close()
    assert len(mine) == 1 and int(other.stdout) not in mine
    assert os.sched_getaffinity(0) == before


@linux
def test_where_no_core_is_free_a_process_may_run_on_any(monkeypatch, tmp_path):
    """As when two runs go on side by side, and one of them ends."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = os.sched_getaffinity(0)
    with closing(worker_env.CoreClaim(len(before))):
        late = worker_env.CoreClaim(1)
        assert os.sched_getaffinity(0) == before
        late.close()
    with closing(worker_env.CoreClaim(1)):  # nothing of the late one is left
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_each_worker_begins_with_another_of_the_graphics_devices(tmp_path):
    environ = {"CUDA_VISIBLE_DEVICES": "4,7"}
    seen = [worker_env.settings(1, slot, environ)["CUDA_VISIBLE_DEVICES"] for slot in range(3)]
    assert seen == ["4,7", "7,4", "4,7"]
    assert worker_env.gpus({"CUDA_VISIBLE_DEVICES": ""}) == ()
    assert worker_env.gpus({"CUDA_VISIBLE_DEVICES": "4,7", "JAX_PLATFORMS": "cpu"}) == ()


def test_a_stage_of_another_size_leaves_the_process_of_the_debugger(tmp_path):
    code = """
import os, sys
from tests.runtime.toys import run_toys, stage
outcome, heard, _ = run_toys([stage("add", f"{n}", number=n, cores=n) for n in (1, 2)], sys.argv[1], jobs=0)
assert outcome.ok
print([event.text for event in heard if type(event).__name__ == "Notice"])
print(sorted(event.pid == os.getpid() for event in heard if type(event).__name__ == "StageStarted"))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    notices, pids = done.stdout.splitlines()
    assert "this process is set up for another number of cores: stages of " in notices
    assert pids == "[False, True]"
