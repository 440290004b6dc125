"""The worker of a job: it sees its file, its code gives the same keys, and all that it does is on record."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from tests.runtime.toys import contents, stage
from wmlab.cluster import json_files, worker
from wmlab.cluster.engines.ray_job import MARK, sees
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Resources
from wmlab.cluster.json_files import write_json
from wmlab.cluster.owners import Owner
from wmlab.cluster.records import JobRecord
from wmlab.cluster.status import count_states, job_status
from wmlab.cluster.task import JobTask, closure, surroundings, task_data, task_of
from wmlab.cluster.worker import BLIND, ENDED, STOPPED, OtherVersion, check_keys, command, devices, memory_of_each
from wmlab.graph.key import keys
from wmlab.runtime import events
from wmlab.runtime.store import Store
from wmlab.runtime.worker_env import GIVEN, settings
from wmlab.sections.cluster import ClusterFile


def task_for(*stages, wanted=None, **more):
    by_id = {one.id: one for one in stages}
    taken = keys(by_id, device=f"cpu {os.uname().machine}")
    ids = [one.id for one in wanted or stages]
    return JobTask(
        more.pop("id", "run1-1"),
        "token",
        "slurm",
        "toys",
        by_id,
        {id: key.hash for id, key in taken.items()},
        {id: surroundings(key) for id, key in taken.items()},
        tuple(ids),
        **{"resources": Resources(), **more},
    )


def on_record(root, task):
    record = JobRecord(root, task.id)
    record.create(task, Owner("run1", os.getpid(), "here"))
    record.intend(1)
    return record


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path))
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")


A = stage("add", "a", number=1)
B = stage("add", "b", {"a": A}, number=2)


def test_a_job_is_written_and_read_without_a_change():
    task = task_for(A, B, wanted=[B], timer=60.0, lines={"memory": "`memory` in c.yaml:3:9"})
    assert task_of(json.loads(json.dumps(task_data(task)))) == task
    assert len(task_data(task)["parts"]) == 1  # what stages share stands there once


def test_a_job_holds_all_that_its_stages_build_on_inputs_first():
    stages = {one.id: one for one in (A, B)}
    assert closure(stages, [B.id]) == [A.id, B.id]


def test_a_job_on_a_machine_computes_and_says_what_it_did(tmp_path):
    record = on_record(tmp_path, task_for(A, B, wanted=[B]))
    assert job_status(tmp_path, record.id).state == "waiting"
    done = subprocess.run(command(tmp_path, record.id, "token", 1), capture_output=True, text=True, timeout=60)
    assert done.returncode == ENDED, done.stderr
    said = record.ended(1)
    assert said["state"] == "ended" and sorted(said["ran"]) == sorted([A.id, B.id]) and not said["failed"]
    assert [event["type"] for event in record.new_events() if event["type"] != "StageStarted"] == [
        *("begin", "StageFinished", "StageFinished")
    ]
    assert record.new_events() == [] and len(contents(Store(tmp_path))) == 4
    assert job_status(tmp_path, record.id).done == 2
    record.close("done")
    status = job_status(tmp_path, record.id)
    assert (status.state, status.stages) == ("done", 1) and count_states([status]) == "1 done"


def test_how_far_a_job_is_names_the_stages_that_run_and_no_others(tmp_path):
    record = on_record(tmp_path, task_for(A, B))
    at_work = worker.JobWorker(record, record.task(), 1)
    shown = []
    for event in (
        events.StageStarted(A.id, "a", 1, "add"),
        events.StageProgress(A.id, "a", 1, 4),
        events.StageFinished(A.id, "key", "a", "add", "ran"),
        events.StageStarted(B.id, "b", 1, "add"),
    ):
        at_work.hear(event)
        shown.append([(one["label"], one["done"]) for one in record.progress()])
        at_work.written -= 60  # as if it had been written a while ago
    assert shown == [[("a", 0.0)], [("a", 1)], [], [("b", 0.0)]]


def test_a_worker_that_begins_wipes_out_how_far_an_earlier_one_was(tmp_path):
    record = on_record(tmp_path, task_for(A))
    write_json(record.folder / "progress.json", {"running": [{"id": A.id, "label": "a", "done": 9.0, "total": 10.0}]})
    assert worker.main([str(tmp_path), record.id, "token", "1"]) == ENDED and record.progress() == []


def test_a_worker_that_is_told_to_end_leaves_its_partial_results_and_its_end_to_the_engine(tmp_path):
    record = on_record(
        tmp_path, task_for(stage("count", "count", steps=400, trace=str(tmp_path / "trace"), sleep=0.05))
    )
    process = begun(tmp_path, record)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == STOPPED
    assert record.ended(1) is None and record.events()[-1]["type"] == "stopped"
    assert any((tmp_path / "partial").iterdir())


def test_a_worker_whose_job_is_over_on_record_ends_where_its_engine_has_not_ended_it(tmp_path):
    record = on_record(
        tmp_path, task_for(stage("count", "count", steps=4000, trace=str(tmp_path / "trace"), sleep=0.05))
    )
    process = begun(tmp_path, record)
    record.close("cancelled", "it was stopped")
    assert process.wait(20) == STOPPED
    said = record.ended(1)
    assert (said["state"], said["reason"]) == ("stopped", "is over on record")


def test_a_worker_ends_when_its_job_was_submitted_again_and_leaves_the_next_ones_record_alone(tmp_path):
    trace = str(tmp_path / "trace")
    record = on_record(tmp_path, task_for(stage("count", "count", steps=4000, trace=trace, sleep=0.05)))
    process = begun(tmp_path, record)
    record.intend(2)
    assert process.wait(20) == STOPPED and record.ended(2) is None
    assert record.ended(1)["reason"] == "was submitted again" and any((tmp_path / "partial").iterdir())


def test_a_worker_that_comes_after_the_next_one_was_submitted_does_nothing(tmp_path, capsys):
    record = on_record(tmp_path, task_for(A))
    record.intend(2)
    assert worker.main([str(tmp_path), record.id, "token", "1"]) == ENDED
    assert record.events() == [] and record.ended(1) is None
    assert capsys.readouterr().err == "the job is over, or was submitted again since\n"


def test_a_worker_that_comes_after_its_job_is_over_does_not_wait_for_its_file(tmp_path, capsys):
    record = on_record(tmp_path, task_for(A))
    record.close("done")
    clock = time.monotonic()
    assert worker.main([str(tmp_path), record.id, "token", "1"]) == ENDED
    assert capsys.readouterr().err == "the job is over, or was submitted again since\n"
    assert time.monotonic() - clock < json_files.LATE / 2


def test_so_does_one_whose_stage_says_nothing_of_how_far_it_is(tmp_path):
    record = on_record(tmp_path, task_for(stage("add", "slow", number=1, sleep=60)))
    process = subprocess.Popen(command(tmp_path, record.id, "token", 1))
    deadline = time.monotonic() + 30
    while not any(event["type"] == "StageStarted" for event in record.events()) and time.monotonic() < deadline:
        time.sleep(0.05)
    record.close("cancelled", "it was stopped")
    assert process.wait(20) == STOPPED


@pytest.mark.parametrize(
    ("jobs", "each"), [(1, 10 * 1024 - 200), (4, 10 * 1024 - 200 - 3 * 400), (64, 10 * 1024 // 65)]
)
def test_a_process_of_a_job_may_hold_what_its_worker_and_small_ones_beside_it_leave(jobs, each):
    assert memory_of_each(10 << 30, jobs) >> 20 == each


def begun(root, record):
    """A worker whose stage has left a partial result."""
    process = subprocess.Popen(command(root, record.id, "token", 1))
    partial, deadline = root / "partial", time.monotonic() + 30
    while not (partial.is_dir() and any(partial.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return process


def test_a_machine_that_does_not_see_its_file_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(json_files, "LATE", 0.0)
    assert worker.main([str(tmp_path / "elsewhere"), "run1-1", "token", "1"]) == BLIND
    assert "has to lie on a file system that all machines see under the same path" in capsys.readouterr().err
    on_record(tmp_path, task_for(A))
    assert worker.main([str(tmp_path), "run1-1", "another token", "1"]) == BLIND  # a copy, or an old file


def test_a_worker_and_a_machine_of_ray_wait_for_what_a_file_system_shows_late(tmp_path, monkeypatch):
    record = on_record(tmp_path, task_for(A))
    late = {path: path.read_bytes() for path in (record.folder / "job.json",)}
    late[record.folder.parent / MARK] = b"token"
    for path in late:
        path.unlink(missing_ok=True)
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        for path, data in late.items() if len(looks) in (2, 4) else ():
            path.write_bytes(data)

    monkeypatch.setattr(json_files.time, "sleep", sleep)
    monkeypatch.setattr(worker.JobWorker, "work", lambda self: ENDED)
    assert worker.main([str(tmp_path), record.id, "token", "1"]) == ENDED
    assert sees(str(record.folder.parent), "token") and len(looks) == 2


def test_another_version_of_the_code_is_refused_by_the_name_of_its_file():
    task = task_for(A, B)
    assert {id: key.hash for id, key in check_keys(task).items()} == task.keys
    parts = {
        id: {**part, "code": {**part["code"], "wmlab.agents.pqn.learner": "0" * 64}} for id, part in task.parts.items()
    }
    other = replace(task, parts=parts, keys=dict.fromkeys(task.keys, "f" * 64))
    with pytest.raises(OtherVersion) as said:
        check_keys(other)
    host = os.uname().nodename
    assert str(said.value) == (
        f"the worker has another version of wmlab: agents/pqn/learner.py differs ('a' on {host})"
    )


def test_other_libraries_and_another_device_are_refused_by_their_names():
    task = task_for(A)
    part = task.parts[A.id]
    versions = {**part["versions"], "numpy": "1.0"}
    other = replace(task, parts={A.id: {**part, "versions": versions, "device": "gpu x86_64"}}, keys={A.id: "f" * 64})
    with pytest.raises(OtherVersion, match=r"numpy is 2\S+, not 1.0, its device is 'cpu \w+', not 'gpu x86_64'"):
        check_keys(other)


def test_code_that_the_machine_does_not_have_is_another_version():
    task = task_for(A)
    gone = replace(A, kind="gone")
    with pytest.raises(OtherVersion, match="another version of wmlab: no source file for module"):
        check_keys(replace(task, stages={A.id: gone}))


def test_a_worker_refuses_on_record_and_ends_well(tmp_path):
    task = task_for(A)
    record = on_record(tmp_path, replace(task, keys={A.id: "f" * 64}))
    assert worker.main([str(tmp_path), record.id, "token", "1"]) == ENDED
    assert record.ended(1)["state"] == "refused" and record.ended(1)["type"] == "OtherVersion"


def test_what_an_accelerator_computes_has_keys_of_its_own():
    fast = replace(A, accelerated=True)
    stages = {fast.id: fast, B.id: B}
    plain, with_gpu = (keys(stages, device=Cluster(ClusterFile("slurm", accelerators=n)).device) for n in (0.0, 1.0))
    assert plain[fast.id].hash != with_gpu[fast.id].hash and plain[fast.id].parts["device"].startswith("cpu ")
    assert with_gpu[fast.id].parts["device"].startswith("gpu ") and with_gpu[B.id].parts["device"].startswith("cpu ")


@pytest.mark.parametrize(
    ("part", "cores", "fraction"),
    [
        (0.25, 1, "0.225"),
        (0.25, 3, "0.075"),
        (1.0, 1, None),
        (1.0, 2, "0.450"),
        (2.0, 2, None),
        (2.0, 3, "0.450"),
        (4.0, 2, None),
    ],
)
def test_processes_that_share_a_device_take_no_more_of_its_memory_than_their_part(part, cores, fraction, monkeypatch):
    monkeypatch.delenv(worker.FRACTION, raising=False)
    task = task_for(A, resources=Resources(cores=cores, accelerators=part))
    assert worker.FRACTION not in devices(task)  # on CPU
    parts = {A.id: {**task.parts[A.id], "device": "gpu x86_64"}}
    fast = replace(task, stages={A.id: replace(A, accelerated=True)}, parts=parts)
    assert devices(fast).get(worker.FRACTION) == fraction
    monkeypatch.setenv(worker.FRACTION, "0.1")  # as whoever looks after the machine has said
    assert worker.FRACTION not in devices(fast)


def test_the_devices_that_an_engine_gave_are_never_overwritten():
    task = task_for(A)
    assert devices(task) == {"JAX_PLATFORMS": "cpu", GIVEN: "1"}
    fast = replace(A, accelerated=True)
    parts = {A.id: {**task.parts[A.id], "device": "gpu x86_64"}}
    assert devices(replace(task, stages={A.id: fast}, parts=parts))["JAX_PLATFORMS"] == "cuda"
    given = {"CUDA_VISIBLE_DEVICES": "3,1", "JAX_PLATFORMS": "cuda", GIVEN: "1"}
    assert "CUDA_VISIBLE_DEVICES" not in settings(1, 0, given)
    assert settings(1, 1, given)["CUDA_VISIBLE_DEVICES"] == "1,3"  # another is first, of the same ones
    assert "CUDA_VISIBLE_DEVICES" not in settings(1, 2, given)
    assert settings(1, 1, {**given, GIVEN: ""})["CUDA_VISIBLE_DEVICES"] == "1,3"
    unnamed = {name: value for name, value in given.items() if name != "CUDA_VISIBLE_DEVICES"}
    assert "CUDA_VISIBLE_DEVICES" not in settings(1, 1, unnamed)
