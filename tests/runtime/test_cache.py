"""Cleaning up takes what is least used, and never what is in use."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from wmlab.errors import UsageError
from wmlab.runtime import cache
from wmlab.runtime.result import Result
from wmlab.runtime.store import Store

KEYS = [f"{i:02x}" * 32 for i in range(4)]  # the first is the least recently used


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    for days, key in zip((40, 30, 20, 10), KEYS, strict=True):
        store.save(key, Result({"a": np.zeros(1000)}, {}), {"label": f"stage {key[:2]}"})
        used = time.time() - days * 86400
        os.utime(store.path(key) / "manifest.json", (used, used))
    return store


def left(store):
    return list(store.entries())


def test_rows_tell_what_is_there(store):
    entries = cache.cache_entries(store)
    assert [row.key for row in entries] == KEYS[::-1]
    assert entries[0].label == "stage 03" and entries[0].size > 8000
    assert round(entries[0].last_used / 86400) == 10


def test_entries_that_were_not_used_for_long_go(store):
    cleanup = cache.gc(store, older_than=cache.parse_age("25d"))
    assert [row.key for row in cleanup.removed] == KEYS[:2] and cleanup.kept == 2
    assert left(store) == KEYS[2:]


def test_the_least_recently_used_go_until_the_rest_fits(store):
    store.load(KEYS[0])  # now it is the most recently used
    cache.gc(store, max_size=cache.parse_size("20kB"))
    assert left(store) == [KEYS[0], KEYS[3]]


def test_a_dry_run_removes_nothing(store):
    cleanup = cache.gc(store, max_size=0, dry_run=True)
    assert len(cleanup.removed) == 4 and cleanup.freed > 32000
    assert left(store) == KEYS


def test_what_is_locked_or_held_by_a_run_stays(store):
    with store.lock(KEYS[0], "being computed"), store.holding([KEYS[1]]):
        cleanup = cache.gc(store, max_size=0)
    assert left(store) == KEYS[:2] and cleanup.in_use == 2
    cache.gc(store, max_size=0)
    assert left(store) == []


def test_the_list_of_a_dead_run_holds_nothing(store):
    (store.root / "active").mkdir()
    (store.root / "active" / "1-2.json").write_text(f'["{KEYS[0]}"]')
    cache.gc(store, max_size=0)
    assert left(store) == []


def test_leftovers_go(store):
    old = time.time() - 20 * 86400
    for name in ("tmp/dead-1-1", "tmp/fresh-1-2", "quarantine/x", f"partial/{KEYS[0]}", "partial/ff", "partial/ee"):
        (store.root / name).mkdir(parents=True)
    for name in ("tmp/dead-1-1", "partial/ff"):
        os.utime(store.root / name, (old, old))
    (store.root / "locks").mkdir(exist_ok=True)
    (store.root / "locks" / "dead.lock").touch()
    (store.root / "locks" / "dead.holder").symlink_to("1 2 nowhere")
    cleanup = cache.gc(store)
    assert not list((store.root / "locks").iterdir())
    assert cleanup.leftovers == 4  # dead, set aside, of a finished stage, and stale
    assert (store.root / "tmp/fresh-1-2").exists() and (store.root / "partial/ee").exists()
    assert left(store) == KEYS


def test_where_nothing_is_to_go_no_entry_is_opened(store, monkeypatch):
    monkeypatch.setattr(cache, "cache_entries", None)
    assert cache.gc(store).kept == len(KEYS)


def test_sizes_and_ages_are_read_as_people_write_them():
    assert cache.parse_size("2GiB") == 2**31 and cache.parse_size("500MB") == 500_000_000
    assert cache.parse_size("1.5 kib") == 1536 and cache.parse_size("12") == 12
    assert cache.parse_age("7d") == 604800 and cache.parse_age("12h") == 43200


def test_a_size_or_age_that_makes_no_sense_says_how_to_write_one():
    with pytest.raises(UsageError, match=r"^'2 gigs' is not a size; write it like 2GiB, 500MB or 1000 \(bytes\)$"):
        cache.parse_size("2 gigs")
    with pytest.raises(UsageError, match=r"^'7' is not an age; write it like 7d, 12h, 30m, 45s or 2w$"):
        cache.parse_age("7")
