"""A stage that takes too long, too much or never starts is ended and told; what may pass is tried again."""

from __future__ import annotations

import errno
import os
import signal
import time

import pytest

from tests.runtime.toys import children_of, plan_of, run_toys, stage, tree
from wmlab.errors import UsageError
from wmlab.runtime import events, worker_env
from wmlab.runtime.executor import execute
from wmlab.runtime.limits import StageLimits, is_transient, limits_of, parse_duration, parse_size
from wmlab.runtime.lock import KeyLock
from wmlab.runtime.store import Store
from wmlab.runtime.watch import AttendedClock, Vitals

MIB = 2**20


def of(heard, kind):
    return [event for event in heard if isinstance(event, kind)]


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_stage_that_hangs_is_ended_and_the_others_go_on(tmp_path, monkeypatch, stubborn):
    monkeypatch.setattr("wmlab.runtime.workers._GRACE", 0.3)
    bad = stage("fail", "bad", how="hang", long=True, stubborn=stubborn)
    user = stage("add", "user", {"bad": bad}, number=1)
    began = time.monotonic()
    limits = StageLimits(timeout=2.0)
    outcome, heard, _ = run_toys([bad, user, *tree()], tmp_path, jobs=1, keep_going=True, limits=limits)
    assert time.monotonic() - began < 30
    assert len(outcome.ran) == 12 and outcome.skipped == {user.id: "needs 'bad', which failed"}
    text = "TimedOut: it took longer than the 2 s that --timeout allows, and was ended"
    last = "the last it said was '25% a quarter'; its last words: I shall be a while"
    assert str(outcome.failed[bad.id]).startswith(f"{text}; {last}; see {tmp_path}/runs/")
    assert not of(heard, events.WorkerDied)  # it is no accident, and not tried again
    (finished,) = [event for event in of(heard, events.StageFinished) if event.outcome == "failed"]
    assert 2.0 <= finished.seconds < 10 and finished.peak_memory > 10 * MIB
    assert children_of(os.getpid()) == []


def test_a_batch_mate_of_a_stage_that_hangs_is_not_blamed(tmp_path):
    leaves = [stage("add", f"leaf {number}", number=number) for number in range(40)]
    bad = stage("fail", "bad", how="hang")
    limits = StageLimits(timeout=2.0)
    outcome, _, _ = run_toys([*leaves[:20], bad, *leaves[20:]], tmp_path, jobs=1, keep_going=True, limits=limits)
    assert set(outcome.failed) == {bad.id} and len(outcome.ran) == 40


def test_a_stage_that_takes_too_much_memory_is_ended_and_the_others_go_on(tmp_path):
    greedy = stage("fail", "greedy", how="eat", bytes=400 * MIB, long=True)
    limits = StageLimits(memory=300 * MIB)
    outcome, heard, _ = run_toys([greedy, *tree()], tmp_path, jobs=1, keep_going=True, limits=limits)
    assert len(outcome.ran) == 12
    failure = outcome.failed[greedy.id]
    assert failure.type == "OutOfMemory" and "where --memory allows 300.0 MiB, and was ended" in failure.message
    (finished,) = [event for event in of(heard, events.StageFinished) if event.outcome == "failed"]
    assert finished.peak_memory > 300 * MIB


def test_stages_that_may_take_more_than_there_is_together_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("wmlab.runtime.executor.usable_memory", lambda: 500 * MIB)
    _, heard, _ = run_toys(tree(1, 1), tmp_path, jobs=2, limits=StageLimits(memory=300 * MIB))
    expected = "--memory allows 2 stages of 300.0 MiB at once, and there are 500.0 MiB in all"
    assert [str(notice) for notice in of(heard, events.Notice)] == [expected]


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_stage_that_finds_no_memory_says_peak_and_estimate(tmp_path, jobs):
    greedy = stage("fail", "greedy", how="lack", estimate=50 * MIB)
    outcome, heard, _ = run_toys([greedy], tmp_path, jobs=jobs)
    text = str(outcome.failed[greedy.id])
    assert text.startswith("MemoryError: std::bad_alloc; there was not enough memory: it held ")
    assert ", its estimate was 50.0 MiB, and " in text
    assert not of(heard, events.StageRetried)


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_stage_that_would_not_fit_is_refused_with_its_size_before_it_starts(tmp_path, jobs):
    huge = stage("fail", "huge", how="lack", estimate=2**50)  # it would end in a MemoryError
    outcome, _, _ = run_toys([huge], tmp_path, jobs=jobs)
    text = str(outcome.failed[huge.id])
    assert text.startswith("OutOfMemory: it would take about 1024.0 TiB, and ") and text.endswith(" may be used here")


def test_a_worker_that_is_killed_is_reported_with_its_peak_and_the_estimate(tmp_path):
    dying = stage("fail", "dying", how="eat", bytes=200 * MIB, estimate=190 * MIB)

    def kill_it_when_it_has_eaten(event):
        if isinstance(event, events.StageStalled):
            os.kill(children_of(os.getpid())[-1], signal.SIGKILL)

    limits = StageLimits(retries=0, stall=6.0)  # by then it has eaten, also where the machine is busy
    outcome = execute(*plan_of(dying), Store(tmp_path), jobs=1, limits=limits, events=kill_it_when_it_has_eaten)
    text = str(outcome.failed[dying.id])
    killed = "WorkerDied: its worker was killed by signal 9 (SIGKILL), perhaps for lack of memory"
    assert text.startswith(f"{killed}: it held 2")
    assert ", its estimate was 190.0 MiB, and " in text and text.endswith(" may be used here")


def test_code_that_never_loads_is_ended_with_its_last_words(tmp_path):
    stuck = stage("stuck", "stuck")
    outcome, heard, _ = run_toys([stuck, *tree()], tmp_path, jobs=1, keep_going=True, limits=StageLimits(start=4.0))
    assert len(outcome.ran) == 12
    text = str(outcome.failed[stuck.id])
    assert text.startswith("NeverStarted: its code was not loaded after 4 s, and the worker was ended; it held ")
    assert "; its last words: looking for a library; see " in text
    assert not of(heard, events.WorkerDied)


def test_a_worker_that_never_starts_ends_the_run_with_its_last_words(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, time\nprint('in an import', file=sys.stderr)\ntime.sleep(60)"
    )
    before = worker_env.environment

    def stuck(*arguments):
        environ = before(*arguments)
        return {**environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{environ['PYTHONPATH']}"}

    monkeypatch.setattr(worker_env, "environment", stuck)
    outcome, _, _ = run_toys(tree(), tmp_path / "store", jobs=1, keep_going=True, limits=StageLimits(start=1.5))
    (failure,) = outcome.failed.values()  # the other leaves would wait as long in vain
    assert str(failure).startswith("NeverStarted: its worker was not loaded after 1.5 s, and the worker was ended; ")
    assert "; its last words: in an import; see " in str(failure)
    assert not outcome.ran and len(outcome.skipped) == 11


def test_a_stage_that_stalls_is_told_once_with_the_last_it_said(tmp_path):
    silent = stage("fail", "silent", how="hang")
    _, heard, _ = run_toys([silent], tmp_path, jobs=1, limits=StageLimits(timeout=3.0, stall=1.0))
    (stalled,) = of(heard, events.StageStalled)
    assert stalled.label == "silent" and 1.0 <= stalled.seconds < 3.5
    assert 'toy/fail.py", line ' in stalled.place and stalled.place.endswith(" in run")
    assert str(stalled).endswith(" in run; the last it said was '25% a quarter'; --timeout would end it")


def test_an_import_in_the_middle_of_a_stage_that_never_ends_is_ended(tmp_path):
    stuck = stage("fail", "stuck", how="import")
    limits = StageLimits(start=4.0, stall=1.0)
    outcome, heard, _ = run_toys([stuck, *tree()], tmp_path, jobs=1, keep_going=True, limits=limits)
    assert len(outcome.ran) == 12 and of(heard, events.StageStalled)
    text = str(outcome.failed[stuck.id])
    assert text.startswith("NeverStarted: its code was still being loaded after ")
    assert 'toy/stuck.py", line ' in text and "; its last words: looking for a library; see " in text


def fault(tmp_path, times, number=errno.EIO):
    return stage("fail", "unlucky", how="fault", marker=str(tmp_path / "tries"), times=times, errno=number)


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_fault_that_may_pass_is_tried_again_as_often_as_asked(tmp_path, jobs):
    outcome, heard, _ = run_toys(
        [fault(tmp_path, 2), *tree()], tmp_path / "a", jobs=jobs, limits=StageLimits(retries=2)
    )
    assert outcome.ok and len(outcome.ran) == 13
    told = [str(event) for event in of(heard, events.StageRetried)]
    assert told == [
        f"'unlucky' failed: OSError: [Errno {errno.EIO}] something gave way; trying again ({attempt} of 3)"
        for attempt in (2, 3)
    ]


@pytest.mark.parametrize(("number", "retries", "tries"), [(errno.EIO, 0, 1), (errno.EIO, 1, 2), (errno.ENOSPC, 3, 1)])
def test_a_fault_that_stays_fails_after_the_last_try_and_a_full_disk_at_once(tmp_path, number, retries, tries):
    bad = fault(tmp_path, 99, number)
    outcome, _, _ = run_toys([bad], tmp_path / "a", jobs=0, limits=StageLimits(retries=retries))
    assert outcome.failed[bad.id].type == "OSError"
    assert (tmp_path / "tries").read_text().count("tried") == tries


def test_what_would_fail_the_same_way_is_never_tried_again(tmp_path):
    bad = stage("fail", "bad", how="raise")
    outcome, heard, _ = run_toys([bad], tmp_path, jobs=1, limits=StageLimits(retries=5))
    assert outcome.failed[bad.id].type == "ValueError"
    assert len(of(heard, events.StageStarted)) == 1 and not of(heard, events.StageRetried)


def test_a_stage_whose_worker_dies_has_as_many_tries_as_asked(tmp_path):
    deadly = stage("fail", "deadly", how="kill")
    outcome, heard, _ = run_toys([deadly], tmp_path, jobs=1, limits=StageLimits(retries=0))
    assert str(outcome.failed[deadly.id]).startswith("WorkerDied: its worker was killed by signal 9 (SIGKILL)")
    assert [death.retry for death in of(heard, events.WorkerDied)] == [False]


def test_a_lock_that_fails_costs_its_stage_and_not_the_worker(tmp_path, monkeypatch):
    failures = iter([True])
    before = KeyLock.acquire

    def acquire(self, **options):
        if next(failures, False):
            raise OSError(errno.ENOLCK, "No locks available")
        return before(self, **options)

    monkeypatch.setattr(KeyLock, "acquire", acquire)
    outcome, heard, _ = run_toys(tree(), tmp_path, jobs=0)
    assert outcome.ok and len(outcome.ran) == 12
    assert [event.failure.type for event in of(heard, events.StageRetried)] == ["CacheError"]


@pytest.mark.parametrize("limits", [StageLimits(timeout=60), StageLimits(memory=2**30)])
def test_what_cannot_be_ended_is_refused(tmp_path, limits):
    with pytest.raises(UsageError, match="--jobs 0 has none: say --jobs 1 or more"):
        run_toys(tree(), tmp_path, jobs=0, limits=limits)


def test_time_in_which_nobody_watched_does_not_count(monkeypatch):
    clock, now = AttendedClock(), time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 3600.0)
    assert clock() <= 2.0


def test_one_who_waits_for_another_run_is_neither_late_nor_silent():
    vitals = Vitals(since=0.0)
    vitals.hear({"type": "ready"}, 1.0)
    vitals.hear({"type": "StageWaiting"}, 2.0)
    limits = StageLimits(timeout=1.0, stall=1.0)
    assert vitals.excess(0, limits, 100.0) is None and vitals.stall_told


def test_times_and_sizes_are_read_as_people_write_them():
    assert [parse_duration(text) for text in ("90s", "10m", "2h", "1h30m", "0.5 d")] == [90, 600, 7200, 5400, 43200]
    assert [parse_size(text) for text in ("4GiB", "4G", "500MB", "1.5 gib")] == [2**32, 2**32, 5 * 10**8, 3 * 2**29]
    assert limits_of("90s", "1GiB", 0) == limits_of(90, 2**30, 0) == StageLimits(90.0, 2**30, 0)


@pytest.mark.parametrize("text", ["", "10", "10x", "m", "-5s", "0s", "5s later", "nan"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(UsageError, match="is no time; say a number and its unit, as in 90s, 10m, 2h or 1h30m"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["", "4", "4 apples", "-4GiB", "0GiB", "GiB"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UsageError, match="is no amount of memory; say a number and its unit, as in 4GiB or 500MB"):
        parse_size(text)


def test_limits_that_no_stage_could_keep_are_refused():
    for wrong in ({"timeout": 0}, {"timeout": float("nan")}, {"memory": "1MiB"}, {"retries": -1}):
        with pytest.raises(UsageError):
            limits_of(**{"timeout": None, "memory": None, "retries": 1, **wrong})


def test_the_cause_of_an_error_may_be_a_fault_that_passes():
    try:
        raise RuntimeError("no lock") from OSError(errno.ENOLCK, "No locks available")
    except RuntimeError as error:
        assert is_transient(error)
    assert not is_transient(ValueError("seven")) and not is_transient(OSError(errno.ENOENT, "no such file"))
