"""A run that is killed or interrupted leaves nothing behind but finished results, and the next one goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runtime.toys import children_of, contents, run_toys, tree

SLOW = {"width": 3, "depth": 3, "sleep": 0.02}
SCRIPT = """
import sys
from tests.runtime.toys import run_toys, tree
try:
    outcome, _, _ = run_toys(tree(width={width}, depth={depth}, sleep={sleep}), sys.argv[1], jobs=2)
    sys.exit(0 if outcome.ok else 1)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    _, _, store = run_toys(tree(**SLOW), tmp_path_factory.mktemp("whole"), jobs=1)
    return contents(store)


def start(root, **options) -> subprocess.Popen[bytes]:
    code = SCRIPT.format(**{**SLOW, **options})
    return subprocess.Popen([sys.executable, "-c", code, str(root)], stderr=subprocess.DEVNULL)


def wait_for_workers(process, count=2):
    deadline = time.monotonic() + 10
    while len(workers := children_of(process.pid)) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return workers


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids):
    deadline = time.monotonic() + 5
    while any(map(alive, pids)):
        assert time.monotonic() < deadline, "a worker outlived its run"
        time.sleep(0.02)


@pytest.mark.parametrize("victim", ["run", "worker"])
@pytest.mark.parametrize("moment", range(5))
def test_a_run_killed_at_any_moment_resumes_to_the_same_bytes(tmp_path, expected, victim, moment):
    process = start(tmp_path)
    wait_for_workers(process, count=1)
    time.sleep(random.Random(f"{victim} {moment}").uniform(0.05, 0.45))
    workers = children_of(process.pid)
    if victim == "run":
        process.kill()
        process.wait()
        wait_until_gone(workers)
    else:
        for pid in workers[:1]:
            os.kill(pid, signal.SIGKILL)
        assert process.wait(20) == 0  # the run itself makes good for it
    outcome, _, store = run_toys(tree(**SLOW), tmp_path, jobs=1)
    assert outcome.ok
    assert contents(store) == expected
    if victim == "worker":
        assert not outcome.ran


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_exits_at_once_and_leaves_no_worker(tmp_path, number):
    process = start(tmp_path, sleep=30)
    workers = wait_for_workers(process)
    time.sleep(0.3)
    os.kill(process.pid, number)
    assert process.wait(5) == 130
    wait_until_gone(workers)
