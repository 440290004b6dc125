"""A report is in its folder whole or not at all, and what is not as it was written is noticed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from wmlab.app.output_folder import lock_folder
from wmlab.app.report_folder import MANIFEST, StoredReport, read_report, write_report
from wmlab.errors import WmlabError

FILES = {
    "figures/map-a.svg": b"<svg>a</svg>",
    "figures/map-a.pdf": b"%PDF a",
    "results.json": b'{"metrics": {"wm.mse": {"mean": 0.25}}, "provenance": {"page_sha256": "m"}}\n',
    "index.html": b"<html>a</html>",
}
OTHER = {name: content.replace(b"a", b"b") for name, content in FILES.items() if name != "figures/map-a.pdf"}


@pytest.fixture
def folder(tmp_path):
    """A report where reports are."""
    target = tmp_path / "reports" / "maze" / "paper"
    write_report(target, FILES)
    return target


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def test_a_report_is_written_with_a_hash_of_each_of_its_files(folder):
    assert contents(folder) == FILES
    lines = [line for line in (folder / MANIFEST).read_text().splitlines() if not line.startswith("#")]
    assert dict(reversed(line.split("  ")) for line in lines) == {
        name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()
    }
    stored = read_report(folder)
    assert stored.whole and not stored.damage and stored.provenance == {"page_sha256": "m"}


def test_where_there_is_no_report_nothing_is_damaged(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for place in (tmp_path, tmp_path / "missing"):
        assert read_report(place) == StoredReport()


def change(path):
    path.write_bytes(path.read_bytes().replace(b"0.25", b"0.75").replace(b"a", b"c"))


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def to_pipe(path):
    path.unlink()
    os.mkfifo(path)


def to_folder(path):
    path.unlink()
    path.mkdir()


def to_loop(path):
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
@pytest.mark.parametrize("harm", [change, cut, os.unlink, to_pipe, to_folder, to_loop])
def test_every_harm_to_every_file_is_noticed_and_mended(folder, name, harm):
    harm(folder / name)
    stored = read_report(folder)
    assert not stored.whole and stored.damage.startswith(name)
    assert not stored.results or name not in ("results.json", MANIFEST)
    write_report(folder, FILES)
    assert contents(folder) == FILES and read_report(folder).whole


def test_a_list_that_is_cut_at_a_line_is_noticed(folder):
    lines = (folder / MANIFEST).read_text().splitlines(keepends=True)
    (folder / MANIFEST).write_text("".join(lines[:-1]))
    assert read_report(folder).damage == "report.sha256 was changed"


def test_a_report_from_before_there_were_lists_is_written_again(folder):
    (folder / MANIFEST).unlink()
    assert read_report(folder).damage == "report.sha256 is missing"
    write_report(folder, OTHER)
    assert contents(folder) == OTHER


def test_what_a_user_put_into_the_folder_stays_and_what_we_wrote_goes(folder):
    (folder / "notes").mkdir()
    (folder / "notes" / "empty").mkdir()
    (folder / "notes" / "idea.txt").write_text("mine")
    (folder / "figures" / "map-mine.svg").write_text("mine")  # by its name it could be ours
    (folder / "notes" / "link").symlink_to("nowhere")
    os.mkfifo(folder / "notes" / "pipe")
    (folder / "notes").chmod(0o750)
    before = (folder / "notes" / "idea.txt").stat()
    write_report(folder, OTHER)
    after = (folder / "notes" / "idea.txt").stat()
    assert contents(folder) == {**OTHER, "notes/idea.txt": b"mine", "figures/map-mine.svg": b"mine"}
    assert (after.st_ino, after.st_mtime_ns, after.st_nlink) == (before.st_ino, before.st_mtime_ns, 1)
    assert os.readlink(folder / "notes" / "link") == "nowhere" and (folder / "notes" / "pipe").is_fifo()
    assert (folder / "notes" / "empty").is_dir() and (folder / "notes").stat().st_mode & 0o777 == 0o750


def test_a_users_file_is_copied_where_files_have_one_name_only(folder, monkeypatch):
    (folder / "idea.txt").write_text("mine")
    monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(PermissionError("no links here")))
    write_report(folder, OTHER)
    assert contents(folder) == {**OTHER, "idea.txt": b"mine"}


def test_a_users_folder_in_the_place_of_our_file_is_not_removed(folder):
    to_folder(folder / "index.html")
    (folder / "index.html" / "thesis.tex").write_text("mine")
    with pytest.raises(WmlabError, match=r"index\.html is a folder where a file is to be written; move it"):
        write_report(folder, OTHER)
    assert (folder / "index.html" / "thesis.tex").read_text() == "mine"
    assert os.listdir(folder.parent) == ["paper"]


def test_a_report_that_cannot_be_written_leaves_the_old_one(folder, monkeypatch):
    written = type(folder).write_bytes

    def full(path, content):
        if path.name == "index.html":
            raise OSError(28, "No space left on device", str(path))
        return written(path, content)

    monkeypatch.setattr(type(folder), "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(folder, OTHER)
    assert contents(folder) == FILES and read_report(folder).whole and os.listdir(folder.parent) == ["paper"]


def test_one_process_at_a_time_writes_into_a_folder_and_another_waits(folder):
    told, order = [], []

    def other():
        with lock_folder(folder, told.append):
            order.append("other")
            write_report(folder, OTHER)

    with lock_folder(folder, told.append):
        thread = threading.Thread(target=other)
        thread.start()
        while not told and thread.is_alive():
            time.sleep(0.005)
        order.append("first")
        write_report(folder, FILES)
    thread.join()
    assert order == ["first", "other"] and contents(folder) == OTHER
    assert str(told[0]).startswith("waiting for process ") and str(told[0]).endswith(f"to write {folder}")
    assert os.listdir(folder.parent) == ["paper"]


KILLED = """
    import os, sys
    from pathlib import Path
    from tests.app.test_report_folder import FILES, OTHER, contents
    from wmlab.app.output_folder import lock_folder
    from wmlab.app.report_folder import read_report, write_report

    WATCHED = ("open", "os.rename", "os.mkdir", "os.link", "os.remove", "os.rmdir", "os.chmod", "fcntl.flock")
    place = Path(sys.argv[1])
    os.fsync = lambda _: None  # the system lives on, and so does what it was given

    def write(folder, files):
        with lock_folder(folder, print):
            write_report(folder, files)

    def killed_at(step, folder):
        calls = 0
        def watch(event, arguments):
            nonlocal calls
            calls += event in WATCHED
            if calls == step:
                os.kill(os.getpid(), 9)
        child = os.fork()
        if not child:
            sys.addaudithook(watch)
            write(folder, OTHER)
            os._exit(0)
        return os.waitpid(child, 0)[1] != 0

    seen, step, mine = [], 0, {"idea.txt": b"mine"}
    while not seen or killed:
        step += 1
        folder = place / str(step) / "paper"
        write(folder, FILES)
        (folder / "idea.txt").write_bytes(b"mine")
        killed = killed_at(step, folder)
        before = read_report(folder)  # as anyone may look, before the next run
        assert before.whole or not folder.exists(), (step, before)
        with lock_folder(folder, print):
            assert read_report(folder).whole and contents(folder) in ({**FILES, **mine}, {**OTHER, **mine}), step
            seen.append(contents(folder) == {**OTHER, **mine})
        write(folder, OTHER)
        assert contents(folder) == {**OTHER, **mine} and os.listdir(folder.parent) == ["paper"], step
    assert seen == sorted(seen) and not seen[0] and seen[-1]
    print(step)
"""


def test_after_a_kill_at_any_step_the_old_report_or_the_new_one_is_whole(tmp_path):
    script = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20  # steps that were tried
