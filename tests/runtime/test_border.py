"""What lies on the disk and is not what wmlab wrote is set aside in one line, and the work goes on."""

from __future__ import annotations

import hashlib
import json
import os

import numpy as np
import pytest

from tests.faults.disk import failing
from tests.runtime.toys import run_toys, stage, tree
from wmlab.cli import guarded
from wmlab.cli.cache import gc as cache_gc
from wmlab.cli.cache import ls as cache_ls
from wmlab.cli.runs import runs
from wmlab.graph.stage import digest
from wmlab.runtime import cache, layout
from wmlab.runtime.codec import Damaged, decode_data
from wmlab.runtime.layout import CacheError
from wmlab.runtime.result import Result
from wmlab.runtime.run_list import list_runs, read_log
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import CorruptEntry, Store

KEY = "ab" + "0" * 62


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / ".wmlab")
    store.save(KEY, Result({"a": np.arange(5)}, {"n": 5}), {"kind": "count", "label": "count to 5"})
    return store


def seal(folder, **changes):
    """Write a manifest as wmlab would, with these changes."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | changes
    del manifest["sha256"]
    path.write_text(json.dumps(manifest | {"sha256": digest(manifest)}))


def reseal(folder, name, content):
    """Put another content into a file of an entry, with all checksums right."""
    (folder / name).write_bytes(content)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    files[name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    seal(folder, files=files)


def without_data(folder):
    files = json.loads((folder / "manifest.json").read_text())["files"]
    del files["data.json"]
    seal(folder, files=files)


NESTED = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
WRONG = {
    "data that is no record": (lambda entry: reseal(entry, "data.json", b"[1]"), "data.json is no record"),
    "data that is no JSON": (lambda entry: reseal(entry, "data.json", b"{"), "data.json cannot be read"),
    "data nested too deeply": (lambda entry: reseal(entry, "data.json", NESTED), "data.json cannot be read"),
    "a float that is none": (lambda entry: reseal(entry, "data.json", b'{"$float":[]}'), "data.json cannot be read"),
    "a record that is none": (lambda entry: reseal(entry, "data.json", b'{"$record":1}'), "data.json cannot be read"),
    "arrays that are none": (lambda entry: reseal(entry, "arrays.safetensors", b"\xff" * 99), "holds no arrays"),
    "no arrays at all": (lambda entry: reseal(entry, "arrays.safetensors", b""), "holds no arrays"),
    "no data at all": (without_data, "it has no data.json"),
    "files that are no list": (lambda entry: seal(entry, files=[1]), "none that this version writes"),
    "files without checksums": (lambda entry: seal(entry, files={"data.json": 3}), "none that this version writes"),
    "files elsewhere": (
        lambda entry: seal(entry, files={"../../x": {"size": 1, "sha256": ""}}),
        "none that this version writes",
    ),
    "a label that is no text": (lambda entry: seal(entry, label=["x"]), "none that this version writes"),
    "a time that is none": (lambda entry: seal(entry, seconds="long"), "none that this version writes"),
    "parts that are not there": (lambda entry: seal(entry, parts=["code"]), "none that this version writes"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_entry_that_is_sealed_but_wrong_is_set_aside(store, wrong):
    change, reason = WRONG[wrong]
    change(store.path(KEY))
    with pytest.raises(CorruptEntry, match=reason):
        store.load(KEY)
    assert not store.has(KEY) and len(list((store.root / "quarantine").iterdir())) == 1


@pytest.mark.parametrize("content", [b"[1]", NESTED])
def test_an_input_that_is_sealed_but_wrong_is_computed_again(tmp_path, content):
    first = stage("add", "first", number=1)
    _, _, store = run_toys([first], tmp_path, jobs=0)
    (key,) = store.entries()
    reseal(store.path(key), "data.json", content)
    outcome, heard, store = run_toys([first, stage("add", "second", {"a": first}, number=2)], tmp_path, jobs=0)
    assert outcome.ok, outcome.failed
    assert any("cache entry" in str(event) and "; recomputing" in str(event) for event in heard)


def pipe(path):
    os.mkfifo(path)


def loop(path):
    path.symlink_to(path)


def folder(path):
    path.mkdir()


@pytest.mark.parametrize("put", [pipe, loop, folder])
@pytest.mark.parametrize("name", ["manifest.json", "data.json"])
def test_a_pipe_a_loop_or_a_folder_in_an_entry_is_damage_and_hangs_nobody(store, put, name, monkeypatch, capsys):
    (store.path(KEY) / name).unlink()
    put(store.path(KEY) / name)
    monkeypatch.setenv("WMLAB_HOME", str(store.root))
    assert guarded(cache_ls) == 0
    said = capsys.readouterr().out
    assert ("(damaged)" if name == "manifest.json" else "count to 5") in said
    with pytest.raises(CorruptEntry):
        store.verify(KEY)
    assert store.parts(KEY) is None and guarded(cache_gc) == 0
    assert not list((store.root / "quarantine").iterdir())


def test_a_file_in_place_of_an_entry_is_replaced(store):
    cache.gc(store, max_size=0)
    store.path(KEY).parent.mkdir(exist_ok=True)
    store.path(KEY).write_text("no folder")
    assert not store.has(KEY)
    store.save(KEY, Result({}, {"n": 1}), {})
    assert store.load(KEY).data == {"n": 1}


@pytest.mark.parametrize("put", [pipe, loop, lambda path: path.write_text("a file")])
@pytest.mark.parametrize("name", ["objects", "tmp", "locks", "partial", "active", "runs", "last", "quarantine"])
def test_whatever_stands_in_the_place_of_a_folder_a_run_goes_on(tmp_path, name, put):
    root = tmp_path / ".wmlab"
    root.mkdir()
    put(root / name)
    store = Store(root)
    with store.holding([KEY]), RunLog(root, spec="maze") as log:
        outcome, _, _ = run_toys(tree(2, 2), root, jobs=0)
        store.partial(KEY, "train").save(Result({}, {"step": 1}))
        store.remember("maze", "paper", {"train": KEY})
    assert outcome.ok and len(outcome.ran) == 4
    assert store.partial(KEY).load().data == {"step": 1} and store.last("maze", "paper") == {"train": KEY}
    assert read_log(log.path)[0]["spec"] == "maze"
    layout.set_aside(root, root / "locks")
    assert (root / "quarantine").is_dir()
    cache.gc(store)
    assert not list(root.glob("quarantine-*")) and not list((root / "quarantine").iterdir())


def test_what_lies_among_entries_and_is_none_is_no_entry(store):
    for name in (".DS_Store", "ab/.DS_Store", "ab/x", "cd"):
        (store.root / "objects" / name).write_text("")
    (store.root / "objects" / "ef").mkdir()
    (store.root / "objects" / "ef" / KEY).mkdir()  # not its place
    assert list(store.entries()) == [KEY] and [entry.key for entry in cache.cache_entries(store)] == [KEY]
    (store.path(KEY) / "dangling").symlink_to("nowhere")
    assert cache.cache_entries(store)[0].size > 0


def test_a_note_of_the_system_among_partial_results_is_none_of_them(tmp_path):
    partial = Store(tmp_path).partial(KEY, "train")
    partial.save(Result({}, {"step": 1}))
    (partial.path / ".DS_Store").write_text("")
    (partial.path / "²").mkdir()
    assert partial.load().data == {"step": 1}
    partial.save(Result({}, {"step": 2}))
    assert partial.load().data == {"step": 2}


def test_a_partial_result_of_another_key_is_not_used(tmp_path):
    notices = []
    store = Store(tmp_path)
    other = store.partial("cd" * 32, "other")
    other.save(Result({}, {"step": 7}))
    mine = store.partial(KEY, "train", notices.append)
    mine.path.parent.mkdir(exist_ok=True)
    os.rename(other.path, mine.path)
    assert mine.load() is None
    assert notices == ["a partial result of 'train' is damaged (it belongs to another key); not used"]
    mine.save(Result({}, {"step": 1}))
    assert mine.load().data == {"step": 1}


def test_a_partial_result_that_is_sealed_but_wrong_is_not_used(tmp_path):
    notices = []
    partial = Store(tmp_path).partial(KEY, "train", notices.append)
    partial.save(Result({}, {"step": 1}))
    (version,) = partial.path.iterdir()
    reseal(version, "data.json", b"[]")
    assert partial.load() is None and len(notices) == 1


def test_a_partial_result_that_cannot_be_written_costs_itself_alone(tmp_path):
    notices = []
    partial = Store(tmp_path).partial(KEY, "train", notices.append)
    partial.save(Result({}, {"step": 1}))
    with failing(tmp_path, 28):
        partial.save(Result({}, {"step": 2}))
    assert notices == ["a partial result of 'train' cannot be written (No space left on device); the stage goes on"]
    assert partial.load().data == {"step": 1}


HEAD = {"type": "run", "spec": "maze", "profile": "paper", "started": "2026-01-01", "pid": 1, "host": "x"}
START = json.dumps(HEAD).encode() + b"\n"
BAD_LOGS = {
    "a bad byte": START + b'{"type": "stage", "label": "\xff", "outcome": "ran"}\n',
    "records that are none": START + b'[1]\n3\n{"type": 4}\n{}\n',
    "a head without fields": b'{"type": "run"}\n',
    "an end without counts": START + b'{"type": "end"}\n',
    "an end of another shape": START + b'{"type": "end", "counts": {"ran": []}, "seconds": "x"}\n',
    "a pid that is none": json.dumps(HEAD | {"pid": "x"}).encode() + b"\n",
    "nested too deeply": START + NESTED + b"\n",
}


@pytest.mark.parametrize("bad", BAD_LOGS)
def test_a_log_with_something_wrong_in_it_is_read_as_far_as_it_can_be(tmp_path, bad, monkeypatch, capsys):
    with RunLog(tmp_path, spec="small"):
        pass
    (tmp_path / "runs" / "20260101-000000-000000-1.jsonl").write_bytes(BAD_LOGS[bad])
    (tmp_path / "runs" / "20260101-000000-000000-2.jsonl").write_bytes(b"\x00\xff not a log")
    os.mkfifo(tmp_path / "runs" / "20260101-000000-000000-3.jsonl")
    (tmp_path / "runs" / "20260101-000000-000000-4.jsonl").mkdir()
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path))
    assert guarded(lambda: runs(args=[], standalone_mode=False)) == 0
    said = capsys.readouterr().out.splitlines()
    assert "small" in said[1] and len(said) == 3
    assert len(list_runs(tmp_path)) == 2


def test_a_last_run_that_is_a_pipe_or_no_index_says_nothing(store):
    for put in (pipe, loop, folder, lambda path: path.write_bytes(b"[" * 100_000), lambda path: path.write_text("[]")):
        path = store.root / "last" / "maze" / "paper.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path)
        assert store.last("maze", "paper") == {}
        store.remember("maze", "paper", {"train": KEY})
        layout.set_aside(store.root, path)


def test_data_is_a_record_or_damaged():
    assert decode_data(b'{"a":1}') == {"a": 1}
    for content in (b"1", b"", b"\xff", NESTED):
        with pytest.raises(Damaged):
            decode_data(content)


# --- the format ------------------------------------------------------------------------------------------------


def test_a_cache_says_its_format_and_one_of_a_newer_wmlab_is_said_to_be_newer(store, monkeypatch, capsys):
    mark = store.root / "format"
    assert mark.read_text().split()[0] == str(layout.FORMAT)
    mark.write_text(f"{layout.FORMAT + 1}\n")
    monkeypatch.setenv("WMLAB_HOME", str(store.root))
    assert guarded(cache_ls) == 1
    assert capsys.readouterr().err == (
        f"wmlab: the cache {store.root} is of format {layout.FORMAT + 1}, and this wmlab knows formats up to "
        f"{layout.FORMAT}: a newer wmlab wrote it; use that one, or name another place with WMLAB_HOME\n"
    )


@pytest.mark.parametrize("mark", [None, b"", b"\xff\xff", b"0\n", b"not a number"])
def test_a_cache_without_a_mark_or_with_a_bad_one_is_read_by_its_entries(store, mark):
    (store.root / "format").unlink()
    if mark is not None:
        (store.root / "format").write_bytes(mark)
    again = Store(store.root)
    assert again.load(KEY).data == {"n": 5}
    again.save("cd" * 32, Result({}, {}), {})
    assert (store.root / "format").exists()


@pytest.mark.parametrize("place", ["a file", "below a file", "a loop", "a name that is too long"])
def test_a_cache_that_can_be_none_is_said_in_one_line(tmp_path, place, monkeypatch, capsys):
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    home = {"a file": "file", "below a file": "file/x", "a loop": "loop", "a name that is too long": "x" * 300}[place]
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / home))
    assert guarded(cache_ls) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"wmlab: the cache {tmp_path / home} ") and "WMLAB_HOME" in said and said.count("\n") == 1


def test_a_cache_that_cannot_be_written_is_refused_before_anything_is_computed(tmp_path):
    with failing(tmp_path, 30), pytest.raises(CacheError, match="cannot be used: Read-only file system; name a folder"):
        run_toys([stage("add", "one", number=1)], tmp_path / ".wmlab", jobs=0)


def test_a_cache_in_proc_is_refused(tmp_path):
    with pytest.raises(CacheError, match="the cache /proc/nowhere cannot be used"):
        run_toys([stage("add", "one", number=1)], "/proc/nowhere", jobs=0)
