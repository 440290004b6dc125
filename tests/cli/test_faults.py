"""Faults of the surroundings are a line that says what to do, never a traceback."""

from __future__ import annotations

import errno
import json
import os

import pytest

from wmlab.cli import guarded, main
from wmlab.cli.faults import fault_text

SPEC = """
wmlab: 1
name: tiny
mdp: {kind: random, states: 3, actions: 2, seed: 0}
goals: {reward: {kind: generic, count: 3, seed: 0}, terminate: never}
agent: {kind: exact, discount: 0.9}
extract: {kind: pseudo_inverse}
evaluate: {model_error: {}}
seeds: 1
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a spec."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    (tmp_path / "tiny.yaml").write_text(SPEC)
    return tmp_path


def drawn(data, draw):
    """A page that is drawn at once."""
    return {"index.html": b"page", "results.json": json.dumps(dict(data.results)).encode()}


def exit_code(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no room for /a/b (No space left on device); make some (`wmlab cache gc` removes old results)"),
        (errno.EDQUOT, "no room for /a/b"),
        (
            errno.EROFS,
            "/a/b: Read-only file system; change its rights, or name another folder by --output",
        ),
        (errno.EACCES, "/a/b: Permission denied; change its rights"),
        (errno.ENOTDIR, "/a/b: Not a directory; a file and a folder cannot have the same place: move it"),
        (errno.ENAMETOOLONG, "/a/b: File name too long; choose shorter names"),
        (errno.EIO, "/a/b: Input/output error"),
        (errno.ENOENT, "/a/b: No such file or directory"),
    ],
)
def test_what_the_system_refuses_is_one_line_with_what_to_do(number, words, capsys):
    def command():
        raise OSError(number, os.strerror(number), "/a/b")

    assert guarded(command) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wmlab: {words}")


def test_a_path_in_a_message_is_cut_and_shown_as_text():
    text = fault_text(OSError(errno.ENAMETOOLONG, "File name too long", "/tmp/\x1b[31m" + 300 * "x"))
    assert "/tmp/\\x1b[31mxxx" in text and "…" in text and len(text) < 250
    assert fault_text(OSError("odd")) == "a file: odd"


def test_a_folder_that_was_removed_while_one_was_in_it_is_said(here, monkeypatch, capsys):
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for command in (["run", str(here / "tiny.yaml")], ["plan", str(here / "tiny.yaml")], ["cache", "ls"], ["runs"]):
        assert exit_code(*command) == 1
        said = capsys.readouterr().err
        assert said == "wmlab: the folder that you are in is gone; go to one that exists, and try again\n"


@pytest.mark.parametrize("command", ["run", "report", "export"])
def test_an_output_that_can_be_no_folder_is_refused_before_anything_runs(command, here, capsys):
    (here / "file").write_text("")
    (here / "loop").symlink_to("loop")
    for output, why in (
        ("file", "file is no folder"),
        ("file/below", "file is no folder"),
        ("loop/below", "loop is no folder"),
        ("~nobody_of_this_name/x", "there is no user 'nobody_of_this_name'"),
    ):
        assert exit_code(command, "tiny.yaml", "--output", output) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"wmlab: --output {output}: {why}; name a folder") and said.count("\n") == 1
    assert not (here / ".wmlab").exists()


def test_a_home_in_an_output_is_meant_as_in_a_shell(here, monkeypatch):
    from wmlab.cli.common import usable_folder

    monkeypatch.setenv("HOME", str(here))
    assert usable_folder(type(here)("~/pages/new")) == here / "pages" / "new"


def test_a_full_disk_under_a_report_is_said_and_leaves_the_old_one(here, monkeypatch, capsys):
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", drawn)
    assert exit_code("run", "tiny.yaml", "--jobs", "0") == 0
    page = here / "reports" / "tiny" / "full" / "index.html"
    capsys.readouterr()

    def full(target, fill, durable):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    with monkeypatch.context() as patch:
        patch.setattr("wmlab.app.output_folder.replace_folder", full)
        page.write_bytes(b"harmed")
        assert exit_code("run", "tiny.yaml", "--check") == 1
    said = capsys.readouterr().err
    assert "wmlab: no room for " in said and "Traceback" not in said and page.read_bytes() == b"harmed"
    assert exit_code("run", "tiny.yaml", "--check") == 0 and page.read_bytes() == b"page"
    assert "is damaged (index.html was changed); writing it again" in capsys.readouterr().err


def test_who_may_only_read_the_reports_gets_a_run_that_changes_nothing(here, monkeypatch, capsys):
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", drawn)
    assert exit_code("run", "tiny.yaml", "--jobs", "0") == 0

    def forbidden(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "reports")

    for name in ("replace_folder", "make_folders", "KeyLock", "recover_folder"):
        monkeypatch.setattr(f"wmlab.app.output_folder.{name}", forbidden)
    assert exit_code("run", "tiny.yaml", "--check") == 0
