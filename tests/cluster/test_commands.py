"""`--on`, `runs` and `runs stop`, as a user types them; the engine is a fake one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading

import pytest

from tests.cli.conftest import *  # noqa: F403 - the folder with tiny.yaml, and its terminal
from tests.cluster.fake import FakeEngine
from tests.cluster.test_worker import A, on_record, task_for
from wmlab.app import detached as detached_runs
from wmlab.cli.run import limits_on
from wmlab.cluster import stop
from wmlab.cluster.engines.engine import EngineBusy
from wmlab.cluster.file import open_cluster
from wmlab.cluster.jobs import WORKER
from wmlab.cluster.json_files import write_json
from wmlab.cluster.owners import Owner
from wmlab.cluster.records import Records, Submission
from wmlab.core.memory import WORKER_BYTES
from wmlab.runtime import events
from wmlab.runtime.runlog import RunLog


def test_plan_shows_the_jobs_before_anything_is_submitted(terminal):
    (terminal.folder / "c.yaml").write_text("engine: slurm\nmemory: 2G\ntime: 90m\n")
    assert terminal("plan", "tiny.yaml", "--on", "c.yaml").splitlines()[-2:] == [
        "jobs on slurm (c.yaml): 1, at most 1 at once, the longest way first",
        "  train, extract, measure, explore: 1 core, 1.6 GiB, 1.5 h; memory by sizes",
    ]
    (job,) = terminal.json("plan", "tiny.yaml", "--on", "c.yaml")["jobs"]
    assert (job["job"], len(job["stages"]), job["memory"], job["time"], job["after"]) == (
        1,
        4,
        WORKER + WORKER_BYTES * 3 // 2 + 4104,
        5400.0,
        [],
    )
    assert "jobs on" not in terminal("plan", "tiny.yaml", "--on", "local")


def test_a_wrong_file_ends_a_command_before_anything_else(terminal):
    (terminal.folder / "c.yaml").write_text("engine: slrm\n")
    terminal("run", "tiny.yaml", "--on", "c.yaml", code=2)
    assert terminal.err.startswith("c.yaml:1:9: engine: expected slurm, ray or local, not 'slrm'\n")
    terminal("run", "tiny.yaml", "--on", "nowhere", code=2)
    assert "there is no such file, and no engine of that name" in terminal.err


def test_flags_for_this_machine_are_refused_for_another(terminal):
    terminal("run", "tiny.yaml", "--on", "ray", "--jobs", "2", code=2)
    assert "--jobs is for stages on this machine; for jobs on ray, change `at_once` in a file for --on" in terminal.err
    (terminal.folder / "c.yaml").write_text("engine: ray\ncores: 2\n")
    terminal("run", "tiny.yaml", "--on", "c.yaml", "--jobs", "2", code=2)
    assert "for jobs on ray, add `at_once` to c.yaml" in terminal.err


def test_a_file_for_this_machine_takes_the_place_of_flags(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("engine: local\nat_once: 1\nretries: 0\nmemory: 2G\ntime: 1m\n")
    jobs, limits = limits_on(open_cluster(str(path)), None, None, None, None)
    assert (jobs, limits.timeout, limits.memory, limits.retries) == (1, 60.0, 2 << 30, 0)
    jobs, limits = limits_on(open_cluster(str(path)), 3, "2h", None, 5)
    assert (jobs, limits.timeout, limits.memory, limits.retries) == (3, 7200.0, 2 << 30, 5)


@pytest.fixture
def left_running(terminal, monkeypatch):
    """A run that is gone, with one job that runs and one that is over."""
    root = terminal.folder / ".wmlab"
    monkeypatch.setenv("WMLAB_HOME", str(root))
    with RunLog(root, spec="toys") as log:
        engine = FakeEngine(root)
        for number in (1, 2):
            record = on_record(root, task_for(A, id=f"{log.id}-{number}"))
            record.own(Owner(log.id, 2**22, os.uname().nodename))  # no process has this number
            engine_id = engine.submit(record.name(1), record.id, "token", 1, None)
            record.submitted(Submission(1, engine_id, str(engine.log(record.id, engine_id)), 0.0))
            log(events.JobChanged(record.id, "submitted", "slurm", engine_id))
        record.close("done")
    monkeypatch.setattr(stop, "open_engine", lambda cluster, root: engine)
    return log.id, engine


def test_runs_lists_jobs_with_their_ids_and_logs(terminal, left_running):
    id, engine = left_running
    assert terminal("runs").splitlines()[1].endswith("1 queued, 1 done")
    shown = terminal("runs", "show", id)
    assert f"{id}-1  slurm 100  queued  0 of 1" in shown and f"jobs/{id}-1/100.log" in shown
    engine.advance("100", engine.jobs["100"])
    assert terminal("runs").splitlines()[1].endswith("1 running, 1 done")
    assert [job["state"] for job in terminal.json("runs", "show", id)["jobs"]] == ["running", "done"]


def test_runs_show_says_how_far_the_stages_of_a_job_are(terminal, left_running):
    id, engine = left_running
    engine.advance("100", engine.jobs["100"])
    record = Records(terminal.folder / ".wmlab").open_jobs()[0]
    running = [{"label": "train 0", "done": 25, "total": 100}, {"label": "plan 1", "done": 0.0, "total": 0.0}]
    write_json(record.folder / "progress.json", {"running": running})
    assert "train 0 25%; plan 1" in terminal("runs", "show", id)


@pytest.mark.parametrize("by", ["id", "spec"])
def test_runs_stop_cancels_what_is_at_work_and_says_what(terminal, left_running, by, monkeypatch):
    id, engine = left_running
    monkeypatch.setattr(stop.stop_jobs, "__defaults__", (lambda cluster, root: engine,))
    assert terminal("runs", "stop", id if by == "id" else "toys") == f"cancelled 1 job of {id}\n"
    assert engine.jobs["100"].fate == "cancelled" and Records(terminal.folder / ".wmlab").open_jobs() == []
    assert terminal("runs").splitlines()[1].endswith("1 done, 1 cancelled")


def test_a_run_that_has_ended_has_nothing_to_stop_and_says_when_and_how_it_ended(terminal):
    id = terminal.run("tiny.yaml")
    for name in (id, id[:4], "tiny"):
        said = terminal("runs", "stop", name)
        assert said.startswith(f"run {id} of tiny has ended: done, ") and "UTC, after " in said
        assert said.endswith("; there is nothing to stop\n")
    assert "state    done" in terminal("runs", "show", id)
    second = terminal.run("tiny.yaml", "--seeds", "1")
    assert terminal("runs", "stop", "tiny").startswith(f"run {second} of tiny has ended: ")
    assert ", and 1 before it; there is nothing to stop" in terminal.out


def test_a_run_that_died_is_told_as_one_that_died(terminal, left_running, monkeypatch):
    id, engine = left_running
    monkeypatch.setattr(stop.stop_jobs, "__defaults__", (lambda cluster, root: engine,))
    terminal("runs", "stop", id)
    path = next((terminal.folder / ".wmlab" / "runs").glob(f"*-{id}.jsonl"))
    head, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(head), "pid": 2**22}), *rest, ""]))
    assert terminal("runs", "stop", id).startswith(f"run {id} of toys has ended: died, ")


def test_a_run_at_work_without_jobs_is_ended(terminal):
    with subprocess.Popen(["sleep", "60"]) as process, RunLog(terminal.folder / ".wmlab", spec="toys") as log:
        (path,) = (terminal.folder / ".wmlab" / "runs").glob(f"*-{log.id}.jsonl")
        path.write_text(json.dumps({**json.loads(path.read_text()), "pid": process.pid, "mark": ""}) + "\n")
        threading.Thread(target=process.wait, daemon=True).start()  # a process that is over is one that nobody awaits
        assert terminal("runs", "stop", "toys") == f"ended {log.id}, which had no jobs to cancel\n"
        assert process.wait(10) == -signal.SIGTERM


def test_a_misspelt_name_is_told_the_nearest_one(terminal):
    terminal.run("tiny.yaml")
    terminal("runs", "stop", "tinny", code=2)
    assert "there is no run or spec 'tinny' in the cache" in terminal.err and "did you mean 'tiny'?" in terminal.err


@pytest.fixture
def detached(terminal, monkeypatch):
    """What `run --detach` does with an engine that answers so; the commands that it starts are noted."""
    started = []
    (terminal.folder / "c.yaml").write_text("engine: slurm\npartition: gpu\n")
    monkeypatch.setattr(detached_runs.subprocess, "Popen", lambda words, **how: started.append(words) or Started())

    def run(check, code=0):
        engine = FakeEngine(terminal.folder / ".wmlab", cluster=open_cluster("c.yaml"))
        engine.check = check
        monkeypatch.setattr(detached_runs, "open_engine", lambda cluster, root: engine)
        monkeypatch.setattr("sys.argv", ["wmlab", "run", "tiny.yaml", "--on", "c.yaml", "--detach"])
        terminal("run", "tiny.yaml", "--on", "c.yaml", "--detach", code=code)
        return started

    return run


class Started:
    pid = 17


def test_a_run_that_is_left_says_at_once_what_the_engine_knows_to_be_wrong(terminal, detached):
    def check(jobs):
        assert [len(job.stages) for job in jobs] == [4]
        return [open_cluster("c.yaml").error("partition", "there is no partition 'gpu'")]

    assert detached(check, code=2) == []
    assert terminal.err.startswith("c.yaml:2:12: partition: there is no partition 'gpu'")


def test_a_run_is_left_with_an_engine_that_takes_its_jobs_or_is_busy(terminal, detached):
    (words,) = detached(lambda jobs: [])
    assert words[-4:] == ["run", "tiny.yaml", "--on", "c.yaml"] and not terminal.err
    assert terminal.out.startswith("goes on as process 17; it prints to .wmlab/runs/detached-")

    def busy(jobs):
        raise EngineBusy("Slurm's sinfo does not answer")

    assert len(detached(busy)) == 2
    assert terminal.err == "Slurm's sinfo does not answer; the run asks again in the background\n"
