"""Whichever call to the system fails, the stage at hand is all that it costs, and a plain run makes it good."""

from __future__ import annotations

import errno

import pytest

from tests.faults.disk import FaultyDisk, nth
from tests.runtime.toys import contents, run_toys, tree
from wmlab.runtime import cache
from wmlab.runtime.layout import CacheError
from wmlab.runtime.run_list import list_runs
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import Store


def run_all(root):
    """What a run does with the cache, from the first look to the last use."""
    store = Store(root)
    with store.holding(store.entries()), RunLog(root, spec="tree"):
        outcome, _, _ = run_toys(tree(1, 2), root, jobs=0, keep_going=True)
        store.remember("tree", "paper", {"one": "two"})
    return outcome


@pytest.mark.parametrize(
    ("number", "every"),
    [
        (errno.EIO, 5),
        pytest.param(errno.EIO, 1, marks=pytest.mark.slow),
        pytest.param(errno.ENOSPC, 1, marks=pytest.mark.slow),
    ],
)
def test_whichever_call_fails_a_plain_run_gives_the_same_bytes(tmp_path, number, every):
    run_all(tmp_path / "whole")
    whole = contents(Store(tmp_path / "whole"))
    place = 1
    while True:
        root = tmp_path / str(place)
        refused = False
        with FaultyDisk(root, nth(place, number=number)).mounted() as disk:
            try:
                outcome = run_all(root)
            except CacheError:
                refused = True  # in one line, before anything was computed
        assert refused or len(outcome.failed) <= 1, (disk.failed, outcome.failed)
        assert number == errno.EIO or not refused, disk.failed
        if not refused:
            assert len(outcome.ran) + len(outcome.failed) + len(outcome.skipped) == 2
        assert run_all(root).ok and contents(Store(root)) == whole, disk.failed
        list_runs(root)
        if not disk.failed:
            break
        place += every
    print(f"{place - 1} calls")
    assert place > 40


@pytest.mark.slow
def test_whichever_call_of_a_clean_up_fails_nothing_half_removed_is_used(tmp_path):
    run_all(tmp_path / "whole")
    whole = contents(Store(tmp_path / "whole"))
    place = 1
    while True:
        root = tmp_path / str(place)
        run_all(root)
        with FaultyDisk(root, nth(place, number=errno.EIO)).mounted() as disk:
            try:
                cache.gc(Store(root), max_size=0)
            except CacheError as error:
                assert str(error).startswith(f"the cache {root} cannot be cleaned up: ")
        assert run_all(root).ok and contents(Store(root)) == whole, disk.failed
        if not disk.failed:
            break
        place += 1
    print(f"{place - 1} calls")
    assert place > 15
