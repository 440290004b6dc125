"""The store gives back what was put in, or says why it cannot."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from wmlab.graph.key import find_root
from wmlab.runtime.result import Result
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import CorruptEntry, MissingEntry, Store

KEY = "ab" + "0" * 62


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / ".wmlab")
    store.save(KEY, Result({"a": np.arange(5)}, {"n": 5}), {"kind": "count", "label": "count to 5"})
    return store


def test_an_entry_is_a_folder_with_a_manifest_that_a_person_can_read(store):
    folder = store.root / "objects" / "ab" / KEY
    assert sorted(path.name for path in folder.iterdir()) == ["arrays.safetensors", "data.json", "manifest.json"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["key"] == KEY and manifest["label"] == "count to 5"
    assert manifest["files"]["data.json"]["size"] == len('{"n":5}\n')
    assert store.has(KEY) and list(store.entries()) == [KEY]
    assert store.load(KEY).data == {"n": 5}
    assert not list((store.root / "tmp").iterdir())


def test_a_missing_entry_is_said_to_be_missing(store):
    with pytest.raises(MissingEntry):
        store.load("cd" * 32)


def truncate(folder):
    path = folder / "arrays.safetensors"
    path.write_bytes(path.read_bytes()[:-3])


def flip(folder):
    path = folder / "arrays.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 4
    path.write_bytes(content)


def garble(folder):
    (folder / "manifest.json").write_bytes(b'{"key": "ab00", "fi')


def forge(folder):
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace("count to 5", "count to 6"))


DAMAGES = {
    truncate: r"arrays.safetensors has \d+ bytes instead of \d+",
    flip: "sha256 of arrays.safetensors differs",
    garble: "manifest.json cannot be read",
    forge: "manifest.json was changed after it was written",
    lambda folder: (folder / "data.json").unlink(): "data.json is missing",
    lambda folder: (folder / "manifest.json").unlink(): "manifest.json is missing",
    lambda folder: (folder / "manifest.json").write_bytes(b"[]"): "manifest.json cannot be read",
    lambda folder: (folder / "manifest.json").write_bytes(b"\xff\xfe"): "manifest.json cannot be read",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_never_used(store, damage):
    damage(store.path(KEY))
    with pytest.raises(CorruptEntry, match=DAMAGES[damage]) as caught:
        store.load(KEY)
    assert caught.value.label == ("" if "manifest" in DAMAGES[damage] else "count to 5")
    assert not store.has(KEY)
    assert len(list((store.root / "quarantine").iterdir())) == 1
    store.save(KEY, Result({"a": np.arange(5)}, {"n": 5}), {})
    assert store.load(KEY).arrays["a"].sum() == 10


def test_an_entry_of_another_key_is_not_used(store):
    other = "ab" + "1" * 62
    os.rename(store.path(KEY), store.path(other))
    with pytest.raises(CorruptEntry, match="it belongs to another key"):
        store.load(other)


def test_saving_over_a_folder_without_a_manifest_replaces_it(tmp_path):
    store = Store(tmp_path)
    store.path(KEY).mkdir(parents=True)
    (store.path(KEY) / "junk").touch()
    store.save(KEY, Result({}, {"n": 1}), {})
    assert store.load(KEY).data == {"n": 1}


def test_the_second_to_save_the_same_answer_changes_nothing(store):
    before = (store.path(KEY) / "manifest.json").read_bytes()
    store.save(KEY, Result({"a": np.arange(5)}, {"n": 5}), {"label": "later"})
    assert (store.path(KEY) / "manifest.json").read_bytes() == before


def test_a_partial_result_replaces_the_one_before_and_a_damaged_one_is_not_used(tmp_path):
    notices = []
    partial = Store(tmp_path).partial(KEY, "train", notices.append)
    assert partial.load() is None
    for step in (1, 2):
        partial.save(Result({}, {"step": step}))
    assert partial.load().data == {"step": 2}
    assert len(list(partial.path.iterdir())) == 1
    (newest,) = partial.path.iterdir()
    (newest / "data.json").write_text("{}")
    assert partial.load() is None
    assert notices == ["a partial result of 'train' is damaged (data.json has 2 bytes instead of 11); not used"]
    partial.clear()
    assert not partial.path.exists()


def test_the_last_run_of_an_experiment_is_remembered_by_profile(store):
    assert store.last("maze", "paper") == {}
    store.remember("maze/a", "paper", {"train seed=1": KEY})
    assert store.last("maze/a", "paper") == {"train seed=1": KEY}
    assert store.last("maze/a", "quick") == {}


def test_the_cache_is_in_the_nearest_folder_that_has_one(tmp_path, monkeypatch):
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_root(inner) == inner / ".wmlab"
    (tmp_path / "a" / ".wmlab").mkdir()
    assert find_root(inner) == tmp_path / "a" / ".wmlab"
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / "home"))
    assert find_root(inner) == tmp_path / "home"


def test_a_lock_names_its_holder_and_dies_with_it(store):
    code = f"""
import os, sys
from wmlab.runtime.store import Store
Store({str(store.root)!r}).lock({KEY!r}, "train seed=1").acquire()
print("locked", flush=True)
sys.stdin.read()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline() == b"locked\n"
        lock = store.lock(KEY, "train seed=1")
        assert not lock.acquire(block=False)
        assert str(lock.holder()).startswith(f"pid {process.pid} which is computing 'train seed=1' since ")
        heard = []

        def waiting(holder):
            heard.append(holder.pid)
            process.kill()

        lock.acquire(waiting=waiting)
        assert heard == [process.pid]
        lock.release()
    assert not lock.path.exists()


def test_in_a_cache_that_a_group_shares_everything_is_the_groups_whatever_the_umask(tmp_path):
    root = tmp_path / "shared"
    root.mkdir()
    root.chmod(0o2770)
    before = os.umask(0o077)
    try:
        store = Store(root)
        with store.holding([KEY]), store.lock(KEY), RunLog(root, spec="maze"):
            store.save(KEY, Result({"a": np.arange(5)}, {}), {})
            store.partial(KEY).save(Result({}, {}))
            store.remember("maze", "paper", {})
            modes = {path: path.stat().st_mode & 0o7777 for path in root.rglob("*") if not path.is_symlink()}
    finally:
        os.umask(before)
    assert len(modes) >= 25
    for path, mode in modes.items():
        assert oct(mode) == ("0o2770" if path.is_dir() else "0o660"), path


@pytest.mark.parametrize(("value", "synced"), [("1", True), ("0", False), ("", False), (None, False)])
def test_an_entry_is_on_the_disk_before_it_has_its_name_where_that_is_asked_for(tmp_path, monkeypatch, value, synced):
    monkeypatch.setenv("WMLAB_FSYNC", "to be restored")
    monkeypatch.delenv("WMLAB_FSYNC") if value is None else monkeypatch.setenv("WMLAB_FSYNC", value)
    calls, sync, rename = [], os.fsync, os.rename

    def note_sync(descriptor):
        calls.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        sync(descriptor)

    def note_rename(source, target):
        calls.append("renamed")
        rename(source, target)

    store = Store(tmp_path)
    store.prepare()
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "rename", note_rename)
    store.save(KEY, Result({"a": np.arange(5)}, {}), {})
    if not synced:
        assert calls == ["renamed"]
        return
    assert sorted(calls[:3]) == ["arrays.safetensors", "data.json", "manifest.json"]
    assert calls[3].startswith("ab0000000000-") and calls[4:] == ["renamed", "ab"]
