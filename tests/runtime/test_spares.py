"""Workers that serve one run after another: the same processes, and nothing of one run in the next."""

from __future__ import annotations

import os

import pytest

from tests.runtime.toys import contents, run_toys, stage, tree
from wmlab.runtime import pool, workers
from wmlab.runtime.spares import Spares


@pytest.fixture
def started(monkeypatch) -> list[int]:
    """The processes that were started."""
    begun: list[int] = []
    begin = workers.subprocess.Popen

    def remembered(*arguments, **options):
        process = begin(*arguments, **options)
        begun.append(process.pid)
        return process

    monkeypatch.setattr(workers.subprocess, "Popen", remembered)
    return begun


def test_runs_that_follow_each_other_share_workers_and_change_no_byte(tmp_path, started):
    with Spares() as spares:
        first, _, _ = run_toys(tree(), tmp_path / "store", jobs=2, spares=spares)
        second, _, store = run_toys(tree(width=5), tmp_path / "store", jobs=2, spares=spares)
        assert first.ok and second.ok and len(started) <= 2
    _, _, alone = run_toys([*tree(), *tree(width=5)], tmp_path / "alone", jobs=0)
    assert contents(store) == contents(alone)


def test_another_cache_gets_workers_of_its_own(tmp_path, started):
    with Spares() as spares:
        for name in ("one", "another"):
            outcome, _, _ = run_toys([stage("add", "leaf", number=1)], tmp_path / name, jobs=1, spares=spares)
            assert outcome.ok
    assert len(started) == 2


def test_what_a_stage_prints_goes_to_the_file_of_its_own_run(tmp_path, started):
    files = [tmp_path / "first.out", tmp_path / "second.out"]
    with Spares() as spares:
        for number, file in enumerate(files):
            chatty = stage("add", f"chatty {number}", number=number, print=f"I am {number}")
            run_toys([chatty], tmp_path / "store", jobs=1, spares=spares, output=file)
    said = [file.read_text() for file in files]  # the stage prints in four ways
    assert [(text.count("I am 0"), text.count("I am 1")) for text in said] == [(4, 0), (0, 4)]
    assert len(started) == 1


def test_a_worker_that_died_or_was_told_to_stop_is_not_used_again(tmp_path, started):
    bad, good = stage("fail", "bad", how="raise"), stage("add", "another", number=77)
    with Spares() as spares:
        run_toys([bad, *tree()], tmp_path / "store", jobs=1, spares=spares)  # stops at the failure
        outcome, _, _ = run_toys([good], tmp_path / "store", jobs=1, spares=spares)
        assert outcome.ok and len(started) == 2
        (idle,) = spares._idle
        idle.process.kill()
        idle.process.wait()
        outcome, _, _ = run_toys([stage("add", "more", number=78)], tmp_path / "store", jobs=1, spares=spares)
        assert outcome.ok and len(started) == 3


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_a_worker_that_keeps_much_of_earlier_stages_is_replaced_and_no_byte_changes(tmp_path, started, monkeypatch):
    first = stage("add", "first", number=1, long=True)
    chain = [first, stage("add", "second", {"left": first}, number=2, long=True)]
    _, _, kept = run_toys(chain, tmp_path / "kept", jobs=1)
    assert len(started) == 1
    monkeypatch.setattr(pool, "WORN", 1)
    outcome, _, replaced = run_toys(chain, tmp_path / "replaced", jobs=1)
    assert outcome.ok and len(started) == 3 and contents(kept) == contents(replaced)


def test_no_worker_is_left_behind(tmp_path, started):
    with Spares() as spares:
        run_toys(tree(), tmp_path / "store", jobs=2, spares=spares)
        idle = list(spares._idle)
        assert idle and all(worker.process.poll() is None for worker in idle)
    assert all(worker.process.poll() is not None for worker in idle)
