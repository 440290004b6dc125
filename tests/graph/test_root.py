"""Which folder is the cache, and whose it has to be."""

from __future__ import annotations

import os
import pwd

import pytest

from wmlab.cli import main
from wmlab.errors import UsageError
from wmlab.graph.key import find_root


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder below one with a cache."""
    monkeypatch.setenv("WMLAB_HOME", "to be restored")
    monkeypatch.delenv("WMLAB_HOME")
    (tmp_path / ".wmlab").mkdir()
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    return tmp_path


@pytest.fixture
def stranger(monkeypatch):
    """Let this process be another user than the one who owns its files."""
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    return pwd.getpwuid(owner).pw_name


def exit_code(*words):
    with pytest.raises(SystemExit) as stop:
        main(words)
    return stop.value.code


COMMANDS = [("cache", "ls"), ("cache", "gc"), ("runs",), ("plan", "maze.yaml"), ("run", "maze.yaml", "--jobs", "0")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_cache_of_another_user_that_is_only_found_is_refused(project, stranger, capsys, command):
    main_exit = exit_code("new", "maze", "--from", "gridworld")
    assert main_exit == 0
    capsys.readouterr()
    assert exit_code(*command) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    root = project / ".wmlab"
    assert said == (
        f"wmlab: the cache {root} belongs to the user {stranger}, who could put wrong results there; use it with "
        f"--trust or WMLAB_HOME={root} if you trust them, or begin one of your own with `mkdir .wmlab`"
    )
    assert not list(root.iterdir())


def test_a_cache_of_another_user_is_used_where_it_is_trusted_or_named(project, stranger, capsys, monkeypatch):
    assert exit_code("cache", "ls", "--trust") == 0 and exit_code("runs", "--trust") == 0
    monkeypatch.delenv("WMLAB_HOME")
    assert exit_code("runs") == 2
    monkeypatch.setenv("WMLAB_HOME", str(project / ".wmlab"))
    assert exit_code("runs") == 0 and find_root() == project / ".wmlab"


def test_a_cache_of_ones_own_comes_first_and_a_link_that_we_made_names_what_it_leads_to(project, monkeypatch):
    owner = os.geteuid()
    assert find_root() == project / ".wmlab"
    (project / "inner" / ".wmlab").symlink_to(project / ".wmlab")
    assert find_root() == project / "inner" / ".wmlab"
    real = os.lstat

    class Foreign:
        st_uid = owner + 1

    monkeypatch.setattr(os, "lstat", lambda path: Foreign if os.fspath(path).endswith("/.wmlab") else real(path))
    with pytest.raises(UsageError, match=f"belongs to the user (number {owner + 1}|\\w+), who"):
        find_root()


def test_a_home_of_a_user_who_is_none_and_a_folder_that_is_gone_are_said(project, monkeypatch, capsys):
    (project / "gone").mkdir()
    monkeypatch.chdir(project / "gone")
    (project / "gone").rmdir()
    assert exit_code("runs") == 1
    assert (
        capsys.readouterr().err == "wmlab: the folder that you are in is gone; go to one that exists, and try again\n"
    )
    monkeypatch.setenv("WMLAB_HOME", "~nobody-of-this-name/x")
    assert exit_code("runs") == 2
    said = "wmlab: WMLAB_HOME is ~nobody-of-this-name/x, and there is no such user; write the whole path\n"
    assert capsys.readouterr().err == said
