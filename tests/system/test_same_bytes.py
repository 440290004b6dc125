"""The same bytes however a run goes: with any number of workers, killed at any moment, or beside another."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.system.lab import SMALL, Lab, finish, wait_for_worker

LIVES = range(3)


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte(small, small_alone, lab):
    lab.wmlab("run", SMALL, "--jobs", "0")
    for other in (small_alone.lab, lab):
        assert other.contents() == small.lab.contents()
        assert other.results("small") == small.lab.results("small")
    assert len(small.lab.contents()) == 2 * 22


@pytest.fixture(scope="module")
def survivors(small_alone, tmp_path_factory, compiled):
    """Three lives, two at a time, each with two kills at random moments: their folders, once they are over."""
    folders = [Lab(tmp_path_factory.mktemp("life"), compiled) for _ in LIVES]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda life: live(folders[life], life, small_alone.seconds), LIVES))


def live(lab, life, seconds):
    """A run that is killed, and another that loses a worker; returns the folder and what the second run said."""
    moments = random.Random(life)
    process = lab.start("run", SMALL, "--jobs", "1")
    time.sleep(moments.uniform(0.3, 1.0) * seconds)
    process.kill()
    process.communicate()
    process = lab.start("run", SMALL, "--jobs", "1")
    worker = wait_for_worker(process)
    time.sleep(moments.uniform(0.0, 0.8) * seconds)
    if worker is not None and process.poll() is None:
        kill(worker, process.pid)
    return lab, finish(process)


@pytest.mark.slow
@pytest.mark.parametrize("life", LIVES)
def test_a_run_and_then_a_worker_killed_at_a_random_moment_change_no_result(small, survivors, life):
    lab, said = survivors[life]
    assert "Traceback" not in said.err
    assert lab.results("small") == small.lab.results("small")
    assert lab.contents() == small.lab.contents()
    assert not list((lab.root / "partial").glob("*"))


def kill(worker, parent):
    """End a worker at once, if it is still there and still who we think."""
    try:
        with open(f"/proc/{worker}/stat") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == parent:
                os.kill(worker, signal.SIGKILL)
    except (FileNotFoundError, ProcessLookupError):
        pass


@pytest.mark.slow
def test_of_two_runs_at_once_each_stage_is_computed_by_one(small, lab):
    first, second = (lab.start("run", SMALL, "--jobs", "1") for _ in range(2))
    for process in (first, second):
        said = finish(process)
        assert "Claims hold: 2 of 2." in said.out and "Traceback" not in said.err
    outcomes = [{record["label"]: record["outcome"] for record in log} for log in lab.logs()]
    ran = Counter(label for log in outcomes for label, outcome in log.items() if outcome == "ran")
    assert len(outcomes) == 2 and len(ran) == 22 and set(ran.values()) == {1}
    assert all(set(log.values()) <= {"ran", "cached"} for log in outcomes)
    assert lab.results("small") == small.lab.results("small") and lab.contents() == small.lab.contents()
