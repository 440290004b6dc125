"""A report is whole and as it was written, whatever happens to it, to its writer and to its readers."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys

import pytest

from tests.system.lab import SMALL, finish
from wmlab.app.report_folder import MANIFEST, read_report


@pytest.fixture
def known(small, tmp_path):
    """A folder in which the study was run before."""
    return small.lab.copy(tmp_path / "lab")


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def mark_of(folder):
    return json.loads((folder / "results.json").read_text())["provenance"]["page_sha256"]


def test_a_report_that_was_changed_is_said_and_written_again(known):
    folder = known.report("small")
    before = files(folder)
    results = folder / "results.json"
    results.write_text(re.sub(r'"mean": [\d.e-]+', '"mean": 7', results.read_text(), count=1))
    figure = folder / "figures" / "bars-corner.svg"
    figure.write_bytes(figure.read_bytes()[:100])
    (folder / "notes.txt").write_text("mine")
    said = known.wmlab("run", SMALL, "--check").err
    assert (
        f"the report in {folder} is damaged (figures/bars-corner.svg was changed and 1 more); writing it again" in said
    )
    after = files(folder)
    assert after.pop("notes.txt") == b"mine" and after.keys() == before.keys()
    times = {"index.html", "results.json", MANIFEST}  # in these stands when the run was
    assert {name: after[name] for name in after.keys() - times} == {
        name: before[name] for name in before.keys() - times
    }
    written = figure.stat().st_mtime_ns
    assert "damaged" not in known.wmlab("run", SMALL, "--check").err and figure.stat().st_mtime_ns == written

    results.write_text(results.read_text().replace("corner", "center"))
    said = known.wmlab("report", SMALL).err
    assert "is damaged (results.json was changed); writing it again" in said and read_report(folder).whole


@pytest.mark.slow
def test_a_report_is_the_same_however_the_path_of_its_spec_is_typed(known):
    inner = known.folder / "specs" / "inner"
    inner.mkdir(parents=True)
    shutil.copy(SMALL, known.folder / "specs" / "parent.yaml")
    (inner / "child.yaml").write_text("wmlab: 1\nname: child\nextends: ../parent.yaml\nseeds: 1\nclaims: null\n")
    seen = set()
    for typed in ("specs/inner/child.yaml", "./specs/../specs/inner/child.yaml", inner / "child.yaml"):
        known.wmlab("run", typed, "--jobs", "1")
        page = known.report("child") / "index.html"
        seen.add((mark_of(page.parent), page.read_bytes(), page.stat().st_mtime_ns))
    assert len(seen) == 1
    assert b">child.yaml:4:8<" in page.read_bytes() and b"../parent.yaml:" in page.read_bytes()


def test_two_runs_of_different_questions_into_one_folder_do_not_mix(known):
    folder = known.report("small")
    for seeds in (1, 2):
        (known.folder / f"{seeds}.yaml").write_text(SMALL.read_text().replace("seeds: 2", f"seeds: {seeds}"))
    both = [known.start("run", f"{seeds}.yaml", "--jobs", "1") for seeds in (1, 2)]
    for process in both:
        finish(process)
    assert read_report(folder).whole
    assert mark_of(folder) in (folder / "index.html").read_text()
    assert sorted(path.name for path in folder.parent.iterdir()) == ["full"]


KILLED = """
import os, sys
from wmlab.cli import main

seen = []
def watch(event, arguments):
    if event == "open" and "/figures/" in str(arguments[0]) and str(arguments[1]).startswith("w"):
        seen.append(arguments)
        if len(seen) == 2:
            os.kill(os.getpid(), 9)

sys.addaudithook(watch)
main(sys.argv[1:])
"""


HUNG_UP = KILLED.replace("os.getpid(), 9", "os.getpid(), 1")  # SIGHUP


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_writes_figures_leaves_the_report_as_it_was(known):
    folder = known.report("small")
    before = files(folder)
    (known.folder / "small.yaml").write_text(SMALL.read_text().replace("seeds: 2", "seeds: 1"))
    killed = [sys.executable, "-c", KILLED, "run", "small.yaml"]
    done = subprocess.run(killed, cwd=known.folder, env=known.environment, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    assert files(folder) == before and read_report(folder).whole
    assert "damaged" not in known.wmlab("run", "small.yaml", "--check").err
    assert read_report(folder).results["seeds"] == [0]
    assert sorted(path.name for path in folder.parent.iterdir()) == ["full"]


@pytest.mark.parametrize("encoding", [{"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C"}])
def test_a_terminal_with_few_letters_gets_plain_ones_and_the_claims_hold(small, encoding):
    environment = {**small.lab.environment, **encoding, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "wmlab", "run", str(SMALL), "--check"]
    done = subprocess.run(command, cwd=small.lab.folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    letters = done.stdout.decode(encoding.get("PYTHONIOENCODING", "ascii")).replace("\xa0", " ")
    assert "<= 1" in letters and "10^-8" in letters and "+ holds" in letters


def test_a_run_whose_terminal_is_closed_still_writes_its_report(known):
    """The screen is gone from the start, and it hangs up while the report is written."""
    folder = known.report("small")
    (folder / "results.json").unlink()
    ours, theirs = pty.openpty()
    os.close(ours)
    with open(theirs, "w") as screen:
        places = {"cwd": known.folder, "env": known.environment, "stdout": screen, "stderr": screen}
        done = subprocess.run([sys.executable, "-c", HUNG_UP, "run", str(SMALL), "--check"], **places, check=False)
    assert done.returncode == 1 and read_report(folder).whole


def test_a_reader_who_leaves_early_hears_no_complaint(small):
    line = f"{sys.executable} -m wmlab plan {SMALL} -v --format json | head -c 10"
    done = subprocess.run(
        line, shell=True, cwd=small.lab.folder, env=small.lab.environment, capture_output=True, check=False
    )
    assert done.stderr == b"" and len(done.stdout) == 10
