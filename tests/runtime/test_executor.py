"""A run computes what is missing, once, to the same bytes, whatever goes wrong beside it."""

from __future__ import annotations

import os
import threading

import pytest

from tests.runtime.toys import FakeKey, contents, plan_of, run_toys, stage, tree
from wmlab.runtime import events
from wmlab.runtime.executor import execute
from wmlab.runtime.store import Store


def of(heard, kind):
    return [event for event in heard if isinstance(event, kind)]


def test_the_number_of_workers_changes_no_byte(tmp_path):
    runs = {jobs: run_toys(tree(), tmp_path / str(jobs), jobs=jobs) for jobs in (0, 1, 2)}
    for outcome, _, store in runs.values():
        assert outcome.ok and len(outcome.ran) == 12
        assert contents(store) == contents(runs[0][2])
    again, heard, _ = run_toys(tree(), tmp_path / "2", jobs=2)
    assert again.counts == {"ran": 0, "cached": 12, "failed": 0, "skipped": 0}
    assert not of(heard, events.StageStarted)


def test_one_bad_stage_does_not_hurt_the_others(tmp_path):
    bad = stage("fail", "bad", how="raise")
    user = stage("add", "user", {"bad": bad}, number=1)
    last = stage("add", "last", {"user": user}, number=1)
    outcome, heard, _ = run_toys([bad, user, last, *tree()], tmp_path, jobs=2, keep_going=True)
    assert len(outcome.ran) == 12
    failure = outcome.failed[bad.id]
    assert str(failure) == "ValueError: seven is not a number"
    assert 'raise ValueError("seven is not a number")' in failure.traceback
    assert set(outcome.skipped) == {user.id, last.id}
    assert outcome.skipped[last.id] == "needs 'bad', which failed"
    assert of(heard, events.RunFinished)[0].counts == {"ran": 12, "cached": 0, "failed": 1, "skipped": 2}


@pytest.mark.parametrize("jobs", [0, 1])
def test_without_keep_going_nothing_new_starts_after_a_failure(tmp_path, jobs):
    bad = stage("fail", "bad", how="refuse", long=True)  # long ones go first
    outcome, _, _ = run_toys([bad, *tree()], tmp_path, jobs=jobs)
    assert not outcome.ran and len(outcome.skipped) == 12
    assert str(outcome.failed[bad.id]) == "StageError: the constraints are infeasible"
    assert set(outcome.skipped.values()) == {"the run stopped when 'bad' failed"}


@pytest.mark.parametrize(
    ("how", "message"),
    [("exit", "SystemExit: 3"), ("return", "TypeError: tests.runtime.toy.fail.run returned dict, not a Result")],
)
def test_a_stage_that_exits_or_gives_no_result_has_failed(tmp_path, how, message):
    bad = stage("fail", "bad", how=how)
    outcome, _, store = run_toys([bad], tmp_path, jobs=0)
    assert str(outcome.failed[bad.id]) == message
    assert not list(store.entries())


def test_a_stage_whose_worker_dies_is_tried_again_once(tmp_path):
    unlucky = stage("fail", "unlucky", how="kill once", marker=str(tmp_path / "marker"))
    outcome, heard, _ = run_toys([unlucky, *tree()], tmp_path / "store", jobs=1)
    assert len(outcome.ran) == 13
    (death,) = of(heard, events.WorkerDied)
    assert death.label == "unlucky" and death.retry and "signal 9 (SIGKILL)" in str(death)


def test_a_stage_that_kills_its_worker_fails_and_the_rest_goes_on(tmp_path):
    deadly = stage("fail", "deadly", how="kill")
    outcome, _, _ = run_toys([deadly, *tree()], tmp_path, jobs=2, keep_going=True)
    assert len(outcome.ran) == 12
    expected = "WorkerDied: 2 times its worker was killed by signal 9 (SIGKILL), perhaps for lack of memory: it "
    assert str(outcome.failed[deadly.id]).startswith(expected)


def test_prints_and_reads_in_a_stage_do_not_reach_the_pipes_and_are_kept(tmp_path):
    noisy = [stage("add", f"noisy {i}", number=i, print='{"type": "idle"}\n') for i in range(4)]
    outcome, heard, _ = run_toys(noisy, tmp_path, jobs=1)
    assert len(outcome.ran) == 4
    output = of(heard, events.RunFinished)[0].output
    with open(output) as file:
        assert file.read().count('{"type": "idle"}') == 16


@pytest.mark.parametrize("jobs", [0, 2])
def test_a_damaged_input_is_computed_again_and_its_user_goes_on(tmp_path, jobs):
    stages = tree()
    _, _, store = run_toys(stages, tmp_path, jobs=0)
    before = contents(store)
    leaf, user = stages[0], stages[4]
    keys = {store.manifest(key)["label"]: key for key in store.entries()}
    store.remove(keys[user.label])
    path = store.path(keys[leaf.label]) / "arrays.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    outcome, heard, _ = run_toys(stages, tmp_path, jobs=jobs)
    assert sorted(outcome.ran) == sorted([leaf.id, user.id])
    (damage,) = of(heard, events.EntryDamaged)
    assert str(damage) == (
        f"cache entry {keys['leaf 0'][:12]} of 'leaf 0' is damaged (sha256 of arrays.safetensors differs); recomputing"
    )
    assert contents(store) == before
    assert len(outcome.cached) == len(stages) - 2


def test_two_runs_at_once_compute_each_stage_once(tmp_path):
    counter = tmp_path / "counter"
    stages = tree(width=6, sleep=0.01, counter=str(counter))
    outcomes = []

    def run():
        outcomes.append(run_toys(stages, tmp_path / "store", jobs=1)[0])

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(outcome.ok for outcome in outcomes)
    assert sorted(counter.read_text().splitlines()) == sorted(one.label for one in stages)


def test_one_who_waits_for_another_run_says_for_whom(tmp_path):
    slow = stage("add", "slow", number=1)
    stages_by_id, keys = plan_of(slow)
    store = Store(tmp_path)
    lock = store.lock(keys[slow.id], "slow")
    lock.acquire()
    heard = []

    def listen(event):
        if isinstance(event, events.StageWaiting):
            heard.append(str(event))
            lock.release()

    assert execute(stages_by_id, keys, store, jobs=1, events=listen).ok
    assert heard[0].startswith(f"waiting for pid {os.getpid()} which is computing 'slow' since ")


def test_a_long_stage_resumes_from_its_partial_result(tmp_path):
    trace = tmp_path / "trace"
    count = stage("count", "count", long=True, steps=6, trace=str(trace), **{"die at": 4})
    outcome, heard, store = run_toys([count], tmp_path / "store", jobs=1)
    assert outcome.ok
    assert trace.read_text() == "from 0\nfrom 4\n"
    assert of(heard, events.StageProgress)[-1].note == "step 6"
    assert not list((store.root / "partial").iterdir())


def test_the_manifest_says_how_a_result_came_about(tmp_path):
    one = stage("add", "leaf", number=1)
    two = stage("add", "sum", {"a": one}, number=2)
    _, _, store = run_toys([one, two], tmp_path, jobs=1)
    manifests = {manifest["label"]: manifest for manifest in map(store.manifest, store.entries())}
    manifest = manifests["sum"]
    assert manifest["stage"] == "add" and manifest["params"] == {"number": 2} and manifest["cores"] == 1
    assert manifest["inputs"] == {"a": manifests["leaf"]["key"]}
    assert manifest["device"] == "cpu" and manifest["versions"] == {"python": "3"}
    assert store.parts(manifest["key"]) == FakeKey("").parts
    assert store.parts("ff" * 32) is None
    assert manifest["peak_memory"] > 10**6 and manifest["seconds"] >= 0 and "T" in manifest["started"]
