"""What results say of how they came to be."""

from __future__ import annotations

import re
import shutil
import subprocess

from tests.cli.test_runs import GIT
from wmlab.runtime import git


def test_results_have_the_commit_of_the_code_and_whether_it_was_changed(terminal, monkeypatch):
    package = terminal.folder / "package"
    package.mkdir()
    (package / "git.py").write_text("")
    monkeypatch.setattr(git, "__file__", str(package / "git.py"))

    def code():
        shutil.rmtree(terminal.folder / "reports", ignore_errors=True)
        terminal.run("tiny.yaml")
        return terminal.report("tiny", "full")["provenance"]["code"]

    assert code() is None
    subprocess.run([*GIT, "init"], cwd=package, check=True, capture_output=True)
    assert code() is None  # a package that lies in somebody's tree is not part of it
    for words in (["add", "git.py"], ["commit", "-m", "one"]):
        subprocess.run([*GIT, *words], cwd=package, check=True, capture_output=True)
    commit = code()
    assert re.fullmatch("[0-9a-f]{40}", commit)
    (package / "git.py").write_text("# changed")
    assert code() == f"{commit}, changed since"
