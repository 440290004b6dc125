"""Which commit a file is of, and whether its tree was changed since: for the memory of runs and for their results."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 2.0  # seconds for a question: a run does not wait for a large tree
# A file system monitor is a program that the repository names: looking at a tree starts none.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false")
_COMMIT = "# branch.oid "


@dataclass(frozen=True)
class GitState:
    """The commit that a file's tree is at."""

    commit: str  # its whole hash
    dirty: bool  # a file of the tree differs from the commit, or the file itself is not in it


def git_state(path: Path) -> GitState | None:
    """The commit of a file's tree; None where there is no git, no repository or no commit, or git takes too long."""
    status = _ask(path, "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules=all")
    if status is None:
        return None
    lines = status.splitlines()
    commit = next((line.removeprefix(_COMMIT) for line in lines if line.startswith(_COMMIT)), "(initial)")
    if commit == "(initial)":
        return None
    changed = any(not line.startswith("#") for line in lines)
    return GitState(commit, changed or not _ask(path, "ls-files", "--", path.name))


def code_state() -> str | None:
    """The commit of the code that runs, in words; None where it is part of no tree, as an installed package."""
    here = Path(__file__)
    state = git_state(here) if _ask(here, "ls-files", "--", here.name) else None
    return None if state is None else state.commit + (", changed since" if state.dirty else "")


def _ask(path: Path, *question: str) -> str | None:
    """What git says in a file's folder."""
    # Variables that name another repository would make it speak of that one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            [*_GIT, *question],
            cwd=path.absolute().parent,
            env={**environment, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")
