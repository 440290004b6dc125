"""Locks on file systems that have few, slow or none of them; what only informs never fails a run."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
import time

import pytest

from tests.faults.disk import failing
from tests.runtime.toys import run_toys, stage
from wmlab.runtime import cache, lock
from wmlab.runtime.layout import CacheError
from wmlab.runtime.result import Result
from wmlab.runtime.store import Store

KEY = "ab" + "0" * 62


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / ".wmlab")
    store.save(KEY, Result({}, {"n": 5}), {"label": "count to 5"})
    return store


def refuse(monkeypatch, number, times=10**9):
    """Let flock fail so many times; gives the calls that there were."""
    calls, real = [], fcntl.flock

    def flock(file, operation):
        calls.append(operation)
        if len(calls) <= times:
            raise OSError(number, os.strerror(number))
        real(file, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr(lock, "_PAUSES", (0.001,) * 6)
    return calls


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.ENOSPC])
def test_where_links_are_refused_a_stage_runs_and_its_holder_is_not_known(tmp_path, number):
    store = Store(tmp_path)
    with failing(tmp_path, number, ("symlink",)) as failed, store.lock(KEY, "train") as mine:
        assert mine.holder() is None and not store.lock(KEY).acquire(block=False)
    assert failed and not list((tmp_path / "locks").iterdir())
    with failing(tmp_path, number, ("symlink",)):
        outcome, _, _ = run_toys([stage("add", "one", number=1)], tmp_path, jobs=0)
    assert outcome.ok, outcome.failed


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EINTR, errno.ESTALE])
def test_a_fault_that_passes_is_tried_again(store, monkeypatch, number):
    calls = refuse(monkeypatch, number, times=3)
    with store.lock(KEY, "train"):
        assert len(calls) == 4
        assert not store.lock(KEY).acquire(block=False)


def test_a_fault_that_does_not_pass_costs_the_stage_and_nothing_else(tmp_path, monkeypatch):
    times = 3 * (1 + len(lock._PAUSES))  # of the run, of the stage, and of its retry
    calls = refuse(monkeypatch, errno.ENOLCK, times=times)
    stages = [stage("add", f"number {n}", number=n) for n in range(2)]
    outcome, _, _ = run_toys(stages, tmp_path, jobs=0, keep_going=True)
    assert len(outcome.failed) == 1 and len(outcome.ran) == 1 and len(calls) > 7
    (failure,) = outcome.failed.values()
    assert "its lock " in failure.message and "No locks available" in failure.message and not failure.traceback


def test_a_file_system_without_locks_is_used_without_and_never_cleaned_up(store, monkeypatch):
    refuse(monkeypatch, errno.ENOSYS)
    notices = []
    with store.holding([KEY], notices.append):
        pass
    assert notices == [
        f"the cache {store.root} cannot be told what is in use (its file system has no locks, so that two runs may "
        "compute the same stage twice): clean it up only when nothing runs"
    ]
    outcome, _, _ = run_toys([stage("add", "one", number=1)], store.root, jobs=0)
    assert outcome.ok
    with pytest.raises(CacheError, match="has no locks, so nobody can tell what a run is using; when nothing runs"):
        cache.gc(store, max_size=0)
    assert store.has(KEY)


def place_folder(path):
    path.mkdir(parents=True)


def place_loop(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path)


def place_pipe(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("put", [place_folder, place_loop, place_pipe])
def test_what_stands_in_the_place_of_a_lock_is_no_obstacle(store, put):
    put(store.lock(KEY).path)
    with store.lock(KEY) as mine:
        assert stat.S_ISREG(os.lstat(mine.path).st_mode) or put is place_pipe
        assert not store.lock(KEY).acquire(block=False)


def test_locks_in_place_of_whose_folder_stands_a_file(store):
    (store.root / "locks").write_text("not a folder")
    with store.lock(KEY):
        assert not store.lock(KEY).acquire(block=False)
    assert [path.read_text() for path in (store.root / "quarantine").iterdir()] == ["not a folder"]


def test_a_run_that_begins_while_entries_are_cleaned_up_keeps_them_or_misses_them(store, monkeypatch):
    """Between the clean-up's look at what is in use and the removal there is no moment for a run to begin."""
    states = []

    def remove(self, key):
        started = time.monotonic()

        def begin():
            with store.holding([KEY]):
                states.append((store.has(KEY), time.monotonic() - started))

        thread = threading.Thread(target=begin)
        thread.start()
        time.sleep(0.1)
        real(self, key)
        threads.append(thread)

    threads, real = [], Store.remove
    monkeypatch.setattr(Store, "remove", remove)
    cache.gc(store, max_size=0)
    threads[0].join()
    ((there, waited),) = states
    assert not there and waited >= 0.1


def test_a_list_that_cannot_be_read_keeps_everything_and_a_pipe_keeps_nobody_waiting(store):
    with store.holding([]):
        (path,) = (store.root / "active").glob("*.json")
        path.write_text("{ not a list")
        assert cache.gc(store, max_size=0).in_use == 1 and store.has(KEY)
    os.mkfifo(store.root / "active" / "pipe.json")
    (store.root / "active" / "folder.json").mkdir()
    cache.gc(store, max_size=0)
    assert not store.has(KEY)


def test_a_lock_on_a_file_that_was_removed_is_none_whatever_a_network_remembers_of_its_name(tmp_path, monkeypatch):
    path = tmp_path / "locks" / "a.lock"
    path.parent.mkdir()
    path.touch()
    remembered = os.stat(path)
    descriptor = os.open(path, os.O_RDWR)
    path.unlink()
    monkeypatch.setattr(lock.os, "stat", lambda name: remembered)
    assert not lock.KeyLock(path)._has_its_name(descriptor)
    os.close(descriptor)
