"""The other commands and the exit codes: what scripts and continuous integration build upon."""

from __future__ import annotations

import json
import os
import re
import signal
import time

import pytest

from tests.system.lab import QUICKSTART, SMALL, Lab, finish, wait_for_worker

KINDS = {"train", "extract", "measure", "identify", "oracle", "plan", "explore"}


def test_plan_exits_with_1_when_asked_and_something_would_run(lab, small):
    said = lab.wmlab("plan", SMALL, "--exit-code", code=1, python=("-X", "importtime"))
    assert said.out.startswith(
        "small: profile full\n22 stages: 0 cached, 22 will run\ntrain × 4  (4 will run: never run)\n"
    )
    assert "jax" not in {line.rpartition("|")[2].strip() for line in said.err.splitlines()}
    assert not (lab.root / "objects").exists() and not (lab.root / "runs").exists()
    lab.wmlab("plan", SMALL)
    assert "22 stages: 22 cached, 0 will run" in small.lab.wmlab("plan", SMALL, "--exit-code").out


def test_plan_as_json_names_every_stage_its_inputs_and_its_key(small):
    data = json.loads(small.lab.wmlab("plan", SMALL, "--format", "json").out)
    ids = {stage["id"] for stage in data["stages"]}
    assert data["spec"] == "small" and data["cached"] == len(ids) == 22 and data["will_run"] == 0
    assert {stage["kind"] for stage in data["stages"]} == KINDS
    for stage in data["stages"]:
        assert set(stage["inputs"].values()) <= ids
        assert (small.lab.root / "objects" / stage["key"][:2] / stage["key"]).is_dir()


def test_plan_as_a_drawing_has_a_box_for_each_kind(small):
    mermaid = small.lab.wmlab("plan", SMALL, "--format", "mermaid").out
    dot = small.lab.wmlab("plan", SMALL, "--format", "dot").out
    assert mermaid.startswith("flowchart TD\n") and mermaid.count('["') == len(KINDS)
    assert dot.startswith("digraph plan {\n") and dot.endswith("}\n") and dot.count("[label=") == len(KINDS)


def test_resolved_shows_every_value_with_its_place(small):
    text = small.lab.wmlab("plan", SMALL, "--resolved", "--set", "agent.discount=0.8").out
    lines = {line.split()[0]: line for line in text.splitlines()[1:]}
    assert "0.8" in lines["agent.discount"] and "--set agent.discount=0.8" in lines["agent.discount"]
    assert "(full: 0.9)" in lines["agent.discount"] and "small.yaml:" in lines["mdp.kind"]
    rows = json.loads(small.lab.wmlab("plan", SMALL, "--resolved", "--format", "json").out)
    assert {"path": "agent.kind", "value": "exact"}.items() <= next(
        r for r in rows if r["path"] == "agent.kind"
    ).items()


def test_runs_and_the_cache_are_listed(small):
    runs = small.lab.wmlab("runs").out.splitlines()
    assert runs[0].split()[:4] == ["id", "started", "spec", "profile"]
    assert "small" in runs[-1] and "done" in runs[-1] and "2 held" in runs[-1]
    assert small.said.err.endswith(f"\nrun: {runs[-1].split()[0]}\n")
    rows = small.lab.wmlab("cache", "ls").out.splitlines()
    assert rows[0].split() == ["key", "size", "last", "used", "stage"] and rows[-1].startswith("22 entries, ")
    assert any(row.endswith("small: extract goals=8 seed=1") for row in rows)


def test_a_dry_clean_up_says_what_it_would_remove_and_a_real_one_removes_it(small, tmp_path):
    lab = small.lab.copy(tmp_path)
    before = lab.contents()
    said = lab.wmlab("cache", "gc", "--max-size", "0", "--dry-run").out
    assert "would remove 22 entries" in said and lab.contents() == before
    assert "removed 22 entries" in lab.wmlab("cache", "gc", "--max-size", "0").out and lab.contents() == {}


def test_in_an_empty_folder_there_is_nothing_to_list_or_report(lab):
    assert lab.wmlab("runs").out == "no runs yet\n" and lab.wmlab("cache", "ls").out == "the cache is empty\n"
    said = lab.wmlab("report", QUICKSTART, code=1)
    assert said.err == "wmlab: quickstart (paper) has not been run: there is nothing to report yet\n"
    assert not (lab.folder / "reports").exists()


def test_a_wrong_spec_or_flag_exits_with_2_and_runs_nothing(lab):
    said = lab.wmlab("run", QUICKSTART, "--set", "agent.discount=2", code=2)
    assert "--set agent.discount=2" in said.err and "Traceback" not in said.err
    for wrong in (
        ["run", QUICKSTART, "--profile", "none"],
        ["run", "missing.yaml"],
        ["run"],
        ["fly"],
        ["run", QUICKSTART, "--set", "discount"],
        ["cache", "gc", "--older-than", "soon"],
    ):
        said = lab.wmlab(*wrong, code=2)
        assert said.err and "Traceback" not in said.err
    assert not (lab.root / "runs").exists()


def test_ctrl_c_ends_a_run_with_130_and_keeps_what_is_finished(small, lab):
    process = lab.start("run", SMALL, "--jobs", "1")
    wait_for_worker(process)
    while process.poll() is None and not list(lab.root.glob("objects/??/*")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to the workers, too
    said = finish(process, 130)
    assert re.search(r"^stopped: \d+/22 stages in .* s; what is finished is kept$", said.err, re.MULTILINE)
    assert said.err.endswith("\ninterrupted\n") and "Traceback" not in said.err and not said.out
    assert "interrupted" in lab.wmlab("runs").out
    kept = lab.contents()
    assert kept and kept.items() <= small.lab.contents().items()


@pytest.mark.slow
def test_the_cache_may_be_elsewhere_and_reports_stay_here(small, tmp_path):
    home = tmp_path / "cache"
    small.lab.copy(tmp_path / "old").root.rename(home)
    here = tmp_path / "here"
    here.mkdir()
    lab = Lab(here, home / "jax", home=home)
    lab.wmlab("run", SMALL)
    assert lab.ran() == [] and lab.results("small") == small.lab.results("small")
    assert [path.name for path in here.iterdir()] == ["reports"]
    lab.wmlab("run", SMALL, "--output", tmp_path / "pages")
    assert (tmp_path / "pages" / "small" / "full" / "index.html").is_file()
