"""What is written is there whole or not at all, whoever is killed when."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from wmlab.runtime import durable
from wmlab.runtime.durable import make_folders, recover_folder, replace_folder, write_file


def fill_with(text):
    def fill(folder: Path) -> None:
        (folder / "figures").mkdir()
        (folder / "index.html").write_text(text)
        (folder / "figures" / "one.svg").write_text(text)

    return fill


def content(folder):
    return {(folder / name).read_text() for name in ("index.html", "figures/one.svg")}


def test_a_file_is_written_with_its_folders_and_nothing_stays_beside_it(tmp_path):
    path = tmp_path / "a" / "b" / "page.html"
    write_file(path, b"one", durable=True)
    write_file(path, b"two", durable=False)
    assert path.read_bytes() == b"two" and os.listdir(path.parent) == ["page.html"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_file(path, b"one")
    with monkeypatch.context() as full:

        def fail(descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        full.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space left"):
            write_file(path, b"two", durable=True)
    assert path.read_bytes() == b"one" and os.listdir(tmp_path) == ["page.html"]


def test_a_link_to_a_file_or_a_folder_stays_a_link(tmp_path):
    (tmp_path / "disk" / "folder").mkdir(parents=True)
    (tmp_path / "page").symlink_to(tmp_path / "disk" / "page")
    (tmp_path / "folder").symlink_to(tmp_path / "disk" / "folder")
    write_file(tmp_path / "page", b"one")
    replace_folder(tmp_path / "folder", fill_with("one"))
    assert (tmp_path / "page").is_symlink() and (tmp_path / "disk" / "page").read_bytes() == b"one"
    assert (tmp_path / "folder").is_symlink() and content(tmp_path / "disk" / "folder") == {"one"}


@pytest.mark.parametrize("name", ["report", "ö" * 120])
@pytest.mark.parametrize("durable", [True, False])
def test_a_folder_takes_the_place_of_the_old_one(tmp_path, name, durable):
    target = tmp_path / name
    replace_folder(target, fill_with("one"), durable=durable)
    (target / "of the old one.txt").write_text("gone")
    replace_folder(target, fill_with("two"), durable=durable)
    assert content(target) == {"two"} and sorted(os.listdir(target)) == ["figures", "index.html"]
    assert os.listdir(tmp_path) == [name]


def test_a_folder_that_cannot_be_filled_leaves_the_old_one(tmp_path):
    def fail(folder):
        fill_with("two")(folder)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    replace_folder(tmp_path / "report", fill_with("one"))
    with pytest.raises(OSError, match="No space left"):
        replace_folder(tmp_path / "report", fail)
    assert content(tmp_path / "report") == {"one"} and os.listdir(tmp_path) == ["report"]


def test_a_file_in_place_of_the_folder_gives_way(tmp_path):
    (tmp_path / "report").write_text("a file")
    replace_folder(tmp_path / "report", fill_with("one"))
    assert content(tmp_path / "report") == {"one"} and os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("step", range(4))
def test_when_any_rename_fails_the_old_folder_or_the_new_one_is_there(tmp_path, monkeypatch, step):
    replace_folder(tmp_path / "report", fill_with("one"))
    calls, rename = [], os.rename

    def failing(source, target):
        calls.append(source)
        if len(calls) == step:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    if step:
        with pytest.raises(OSError, match="Input/output"):
            replace_folder(tmp_path / "report", fill_with("two"))
    else:
        replace_folder(tmp_path / "report", fill_with("two"))
    assert content(tmp_path / "report") == ({"one"} if step else {"two"})
    assert os.listdir(tmp_path) == ["report"]


KILLED = """
    import os, sys
    from pathlib import Path
    from wmlab.runtime.durable import replace_folder

    target, last = Path(sys.argv[1]), int(sys.argv[2])
    calls = []

    def watch(event, arguments):
        if event in ("os.rename", "os.mkdir", "open", "os.rmdir", "os.remove") and target.name in str(arguments[0]):
            calls.append(event)
            if len(calls) == last:
                os.kill(os.getpid(), 9)

    def fill(folder):
        (folder / "figures").mkdir()
        (folder / "index.html").write_text("two")
        (folder / "figures" / "one.svg").write_text("two")

    sys.addaudithook(watch)
    replace_folder(target, fill)
    print(len(calls))
"""


def test_a_kill_at_any_step_leaves_a_whole_folder_to_those_who_recover_it(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED))
    seen, step = [], 0
    while True:
        step += 1
        target = tmp_path / str(step) / "report"
        replace_folder(target, fill_with("one"))
        done = subprocess.run([sys.executable, script, target, str(step)], capture_output=True, check=False)
        recover_folder(target)
        assert len(content(target)) == 1 and os.listdir(target.parent) == ["report"], step
        seen.append(content(target).pop())
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr
    assert len(seen) > 6 and seen == sorted(seen) and {"one", "two"} == set(seen)


def test_what_a_living_process_or_another_machine_writes_is_left_alone(tmp_path, monkeypatch):
    target = tmp_path / "report"

    def fill(folder):
        recover_folder(target)  # as a reader would, at this very moment
        assert folder.is_dir()
        fill_with("one")(folder)

    replace_folder(target, fill)
    foreign = tmp_path / ".report~another-machine.1.0.new"
    foreign.mkdir()
    recover_folder(target)
    assert foreign.is_dir() and content(target) == {"one"}


def test_two_who_write_the_same_folder_both_succeed(tmp_path):
    target = tmp_path / "report"

    def fill(folder):
        fill_with("one")(folder)
        replace_folder(target, fill_with("two"))  # someone else is quicker

    replace_folder(target, fill)
    assert content(target) == {"one"} and os.listdir(tmp_path) == ["report"]


def test_a_folder_that_a_group_may_write_to_is_shared_whatever_the_umask(tmp_path):
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    own.mkdir()
    shared.chmod(0o2770)
    own.chmod(0o700)
    before = os.umask(0o077)
    try:
        for place in (shared, own):
            write_file(place / "a" / "page", b"one")
            make_folders(place / "b")
    finally:
        os.umask(before)
    modes = [(place / name).stat().st_mode & 0o7777 for place in (shared, own) for name in ("a", "a/page", "b")]
    assert [oct(mode) for mode in modes] == ["0o2770", "0o660", "0o2770", "0o700", "0o600", "0o700"]


def test_a_file_system_that_cannot_sync_folders_is_no_fault(tmp_path, monkeypatch):
    sync = os.fsync

    def only_files(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        sync(descriptor)

    monkeypatch.setattr(durable.os, "fsync", only_files)
    write_file(tmp_path / "page", b"one", durable=True)
    assert (tmp_path / "page").read_bytes() == b"one"
