"""What stages are known to hold from the sizes in a spec, and what jobs ask for because of that."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.conftest import *  # noqa: F403 - a folder and its terminal
from tests.system.lab import REPOSITORY
from wmlab.cluster.jobs import WORKER
from wmlab.core.memory import WORKER_BYTES
from wmlab.extraction import options as tables
from wmlab.graph.study import open_study
from wmlab.planning import grid_value_iteration as grids
from wmlab.stages.memory import KnownMemory

TABLE = """
wmlab: 1
name: table
mdp: {kind: random, states: 1000, actions: 4, branching: 5}
goals: {reward: {kind: generic, count: 10, seed: 0}, terminate: never}
agent: {kind: exact, discount: 0.9}
extract: {kind: pseudo_inverse}
evaluate: {fit: {}, identify: {width: {slack: 0}}}
"""
# 4000 pairs of state and action. Three copies of two kernels, of 5 and 1000 successors with 12 bytes each, and of 10
# rows with 16 bytes for each pair and each state; and 8 bytes for each candidate.
EXTRACT = 3 * (12 * 4000 * 1005 + 16 * 10 * (4000 + 1000)) + 8 * 4000 * 1000
IDENTIFY = 3 * (12 * 4000 * 5 + 16 * 10 * (4000 + 1000)) + 2 * 8 * 4000 * 1000
# At each of 100 x 100 points 3 actions, each with a successor of 16 bytes and 8 more, thrice; one of a policy, 24; 4
# for each action; and 64.
GRID = 100**2 * (3 * 3 * (16 + 8) + 24 + 3 * 4 + 64)
PROCESS = WORKER + WORKER_BYTES * 3 // 2  # of a job with one process, beside its data
CAR = REPOSITORY / "specs" / "mountaincar_position.yaml"
ON_GRID = (CAR, "--set", "evaluate.unseen.solver.grid=100")


@pytest.fixture
def table(terminal):
    path = terminal.folder / "table.yaml"
    path.write_text(TABLE)
    return path


def test_what_a_table_takes_is_known_from_its_sizes(table):
    study = open_study(str(table))
    known = KnownMemory(study.stages)
    held = {stage.kind: known(id) for id, stage in study.stages.items()}
    assert (held["extract"], held["identify"]) == (EXTRACT, IDENTIFY) == (179_120_000, 67_120_000)
    assert held["train"] == 3 * (12 * 4000 * 5 + 16 * 10 * 5000)


def test_a_job_with_a_table_asks_for_it_before_anything_has_run(terminal, table):
    (job,) = terminal.json("plan", table, "--on", "slurm")["jobs"]
    assert (job["memory"], job["memory_by"], job["memory_unknown"]) == (268_680_000 + PROCESS, "sizes", [])
    assert terminal("plan", table, "--on", "slurm").splitlines()[-1].endswith("1 core, 1.8 GiB; memory by sizes")


def test_the_file_caps_what_follows_from_sizes(terminal, table):
    (terminal.folder / "c.yaml").write_text("engine: slurm\nmemory: 1G\n")
    (job,) = terminal.json("plan", table, "--on", "c.yaml")["jobs"]
    assert (job["memory"], job["memory_by"]) == (1 << 30, "the file (sizes say more)")


def test_a_job_with_a_grid_asks_for_it_before_anything_has_run(terminal):
    jobs = terminal.json("plan", *ON_GRID, "--on", "slurm")["jobs"]
    known = [job for job in jobs if not job["memory_unknown"]]
    assert len(known) == 3  # oracles, which the seeds share
    assert {job["memory"] for job in known} == {GRID * 3 // 2 + PROCESS} == {4_740_000 + PROCESS}


def test_what_is_not_known_is_named_and_left_to_the_file_or_the_engine(terminal):
    (terminal.folder / "c.yaml").write_text("engine: slurm\nmemory: 7G\n")
    for on, memory, said in (("slurm", None, "what the engine gives"), ("c.yaml", 7 << 30, "as the file says")):
        jobs = terminal.json("plan", *ON_GRID, "--on", on)["jobs"]
        unknown = [job for job in jobs if job["memory_unknown"]]
        assert {job["memory"] for job in unknown} == {memory}
        assert all({"train", "extract", "measure"} <= {*job["memory_unknown"]} for job in unknown)
        assert "plan" not in unknown[0]["memory_unknown"]
        assert f"memory of train, extract, measure is not known: {said}" in terminal("plan", *ON_GRID, "--on", on)


@pytest.mark.parametrize(("module", "held", "which"), [(tables, 8 * 4000 * 1000, "table"), (grids, GRID, "grid")])
def test_a_spec_is_refused_by_the_same_number(terminal, table, monkeypatch, module, held, which):
    text = table.read_text().replace(", identify: {width: {slack: 0}}", "")
    table.write_text(text)
    words = ("plan", table) if which == "table" else ("plan", *ON_GRID, "--set", "evaluate.value_error.grid=100")
    monkeypatch.setattr(module, "usable_memory", lambda: held)
    terminal(*words)
    monkeypatch.setattr(module, "usable_memory", lambda: held - 1)
    terminal(*words, code=2)
    assert "GiB, and there are" in terminal.err


def test_jobs_are_planned_by_sizes_without_jax(table):
    code = """
import sys
from wmlab.cli import main
try:
    main(["plan", sys.argv[1], "--on", "slurm"])
except SystemExit as end:
    print(end.code, "jax" in sys.modules)
"""
    words = [sys.executable, "-c", code, str(table)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=table.parent)
    assert "memory by sizes" in done.stdout and done.stdout.splitlines()[-1] == "0 False", done.stderr
