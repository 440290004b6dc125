"""Who looks after a job, and whether that run is alive: a number of a process is not enough to tell."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.cluster.fake import FakeEngine, Killed
from tests.cluster.test_dispatch import Lab, long_chains, no_waiting  # noqa: F401 - a fixture
from wmlab.cluster.owners import Owner, OwnerLock, is_held, lock_path
from wmlab.cluster.records import JobRecord, Records
from wmlab.cluster.stop import stop_jobs
from wmlab.runtime import events
from wmlab.runtime.processes import is_alive, process_mark


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def put_on_record(root, engine, chain):
    """A run is killed before it has submitted its job."""
    engine.killing = 1.0
    with pytest.raises(Killed):
        Lab(root, engine, chain, [chain]).run()
    engine.killing = 0.0
    (record,) = Records(root).open_jobs()
    return record


def test_a_process_is_told_from_another_that_gets_its_number(sleeper):
    mark = process_mark(sleeper.pid)
    assert mark and is_alive(sleeper.pid, mark) and is_alive(sleeper.pid)
    assert not is_alive(sleeper.pid, mark.replace(mark[:8], "00000000"))  # the machine has started again
    assert not is_alive(sleeper.pid, f"{mark}0")  # it has started later


def test_a_process_that_has_the_number_of_a_dead_run_is_not_signalled(tmp_path, sleeper):
    (chain,) = long_chains(1)
    engine = FakeEngine(tmp_path)
    record = put_on_record(tmp_path, engine, chain)
    record.own(Owner("run1", sleeper.pid, os.uname().nodename, "another-boot 1"))
    assert not record.is_looked_after
    stop_jobs(tmp_path, ["run1"], print, lambda cluster, root: engine)
    assert sleeper.poll() is None and Records(tmp_path).open_jobs() == []


def test_a_job_of_another_machines_dead_run_is_taken_over_and_submitted(tmp_path):
    (chain,) = long_chains(1)
    engine = FakeEngine(tmp_path)
    record = put_on_record(tmp_path, engine, chain)
    record.own(Owner("other", 1, "elsewhere", "its-boot 1"))  # nobody holds its lock
    lab = Lab(tmp_path, engine, chain, [chain])
    assert lab.run().ok and len(engine.jobs) == 1 and Records(tmp_path).open_jobs() == []


def test_a_job_of_another_machines_run_is_waited_for_until_that_run_is_dead(tmp_path):
    (chain,) = long_chains(1)
    engine = FakeEngine(tmp_path)
    record = put_on_record(tmp_path, engine, chain)
    other = OwnerLock(tmp_path, "other")
    record.own(replace(other.sign(), pid=1, host="elsewhere"))
    finds = iter(range(1000))
    engine.patience = 0.0

    def find(names):
        if next(finds) == 20:
            assert engine.jobs == {}
            other.release()
        return FakeEngine.find(engine, names)

    engine.find = find
    lab = Lab(tmp_path, engine, chain, [chain])
    assert lab.run().ok and len(engine.jobs) == 1 and Records(tmp_path).open_jobs() == []
    assert [event.text for event in lab.said(events.Notice)] == ["1 job of another run is waited for"]


def test_what_another_run_submits_again_is_followed(tmp_path):
    (chain,) = long_chains(1)
    engine = FakeEngine(tmp_path)
    record = put_on_record(tmp_path, engine, chain)
    other = OwnerLock(tmp_path, "other")
    record.own(replace(other.sign(), pid=1, host="elsewhere"))
    looks = iter(range(1000))
    engine.patience = 0.0

    def find(names):
        if next(looks) == 5:
            record.intend(2)
            engine.submit(record.name(2), record.id, record.task().token, 2, None)
        return FakeEngine.find(engine, names)

    engine.find = find
    assert Lab(tmp_path, engine, chain, [chain]).run().ok and len(engine.jobs) == 1
    other.release()


def test_a_run_holds_its_lock_from_its_first_job_to_its_end(tmp_path):
    (chain,) = long_chains(1)
    engine, held = FakeEngine(tmp_path), []

    def look(ids):
        held.append(is_held(lock_path(tmp_path, "run1")))
        return FakeEngine.look(engine, ids)

    engine.look = look
    assert Lab(tmp_path, engine, chain, [chain]).run().ok
    assert held and all(held) and not is_held(lock_path(tmp_path, "run1"))


def test_the_lock_of_a_run_that_is_killed_outright_is_free(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from wmlab.cluster.owners import OwnerLock; "
        "lock = OwnerLock(Path(sys.argv[1]), 'run1'); lock.sign(); print('held', flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n" and is_held(lock_path(tmp_path, "run1"))
        process.kill()
    assert lock_path(tmp_path, "run1").exists() and not is_held(lock_path(tmp_path, "run1"))


def test_records_of_earlier_versions_say_what_they_said(tmp_path):
    assert Owner("run1", 1, "elsewhere").is_alive(tmp_path)  # nobody here can tell
    assert not Owner("run1", 2**22, os.uname().nodename).is_alive(tmp_path)


def test_a_closed_job_whose_mark_could_not_be_taken_away_is_no_open_one(tmp_path):
    (chain,) = long_chains(1)
    engine = FakeEngine(tmp_path)
    record = put_on_record(tmp_path, engine, chain)
    data = (record.folder / "job.json").read_bytes()
    record.close("cancelled", "it was stopped")
    (record.folder / "job.json").write_bytes(data)
    (tmp_path / "jobs" / "open" / record.id).touch()
    assert Lab(tmp_path, engine, chain, [chain]).run().ok
    assert not (tmp_path / "jobs" / "open" / record.id).exists()


def test_a_record_that_cannot_be_read_is_said_and_keeps_no_other_job_from_being_stopped(tmp_path):
    (chain,) = long_chains(1)
    engine, said = FakeEngine(tmp_path), []
    record = put_on_record(tmp_path, engine, chain)
    spoilt = JobRecord(tmp_path, "run1-9")
    spoilt.folder.mkdir()
    spoilt.own(record.owner)
    (tmp_path / "jobs" / "open" / spoilt.id).touch()
    stop_jobs(tmp_path, ["run1"], said.append, lambda cluster, root: engine)
    assert [one.id for one in Records(tmp_path).open_jobs()] == [spoilt.id]
    assert said == [f"the record of job run1-9 cannot be read, and nobody here knows where it is: see {spoilt.folder}"]
