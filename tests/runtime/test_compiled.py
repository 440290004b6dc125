"""Compiled programs lie in a folder that nobody else can write to, or nowhere."""

from __future__ import annotations

import os

import pytest

from tests.faults.disk import failing
from wmlab.runtime import worker_env
from wmlab.runtime.cache import gc
from wmlab.runtime.compiled import compiled_folder, compiled_root
from wmlab.runtime.store import Store


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    return tmp_path / "own"


def test_compiled_programs_lie_in_a_folder_of_the_users_own(home):
    programs, problem = compiled_folder("cpu-1")
    assert programs == home / "wmlab" / "jax" / "cpu-1" and not problem
    assert {path.stat().st_mode & 0o777 for path in (programs, programs.parent, home / "wmlab")} == {0o700}
    assert worker_env.settings(1)["JAX_COMPILATION_CACHE_DIR"].startswith(str(home / "wmlab" / "jax"))


def test_they_are_not_kept_where_another_could_write(home, monkeypatch):
    compiled_folder("cpu-1")
    (home / "wmlab" / "jax").chmod(0o770)
    programs, problem = compiled_folder("cpu-1")
    assert programs is None
    said = f"compiled programs are not kept: others can write to {home / 'wmlab' / 'jax'}; chown it, or chmod go-w"
    assert problem == said == worker_env.no_compiled_programs(1)
    assert "JAX_COMPILATION_CACHE_DIR" not in worker_env.settings(1)
    (home / "wmlab" / "jax").chmod(0o700)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert compiled_folder("cpu-1")[0] is None


def test_without_a_home_or_on_a_disk_that_cannot_be_written_they_are_compiled_each_time(home, monkeypatch):
    home.mkdir()
    with failing(home, 30):
        assert compiled_folder("cpu-1") == (
            None,
            f"compiled programs are not kept: {home / 'wmlab' / 'jax'} cannot be made (Read-only file system)",
        )
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored
    monkeypatch.setenv("HOME", str(home))
    assert compiled_root() == home / ".cache" / "wmlab" / "jax"
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert compiled_folder("cpu-1")[0] is None and not os.path.exists("~")


def test_old_programs_are_cleaned_up_and_those_of_earlier_versions_leave_the_cache(home, tmp_path):
    programs, _ = compiled_folder("cpu-1")
    for name, days in (("old", 40), ("new", 0)):
        (programs / name).write_text("")
        used = (programs / name).stat().st_mtime - days * 86400
        os.utime(programs / name, (used, used))
    root = tmp_path / ".wmlab"
    (root / "jax" / "cpu-1").mkdir(parents=True)
    gc(Store(root), older_than=30 * 86400)
    assert os.listdir(programs) == ["new"] and not (root / "jax").exists()
