"""What a run would cost, and whether it could be stored, before it begins."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from wmlab.app.run import warn_of_memory
from wmlab.cli.plan import cost_lines
from wmlab.runtime.estimates import CostRange, PlanCost, StageCost
from wmlab.runtime.store import Store


def test_a_plan_says_what_is_not_known_and_what_follows_from_earlier_runs(terminal):
    said = terminal("plan", "tiny.yaml")
    assert said.endswith("cost unknown: train, extract, measure, explore; nothing like it has run here\n")
    assert terminal.json("plan", "tiny.yaml")["cost"]["unknown"] == {
        "train": 1,
        "extract": 1,
        "measure": 1,
        "explore": 1,
    }
    terminal.run("tiny.yaml")
    assert "cost" not in terminal("plan", "tiny.yaml")
    said = terminal("plan", "tiny.yaml", "--set", "agent.discount=0.8").splitlines()[-1]
    assert said.startswith("cost: about ") and said.endswith(" of memory, by what ran before")
    cost = terminal.json("plan", "tiny.yaml", "--set", "agent.discount=0.8")["cost"]
    assert cost["seconds"]["low"] <= cost["seconds"]["middle"] <= cost["seconds"]["high"] and not cost["unknown"]
    assert len(cost["stages"]) == 4


def test_a_cost_is_said_with_its_range():
    seconds, memory = CostRange(40.0, 120.0, 400.0), CostRange(2.0**30, 2.0**30, 2.0**30)
    assert list(cost_lines(PlanCost(seconds, memory, 2, {"plan": 2, "train": 1}))) == [
        "cost: about 2 min (40 s to 7 min) with 2 workers, and 1.0 GiB of memory, by what ran before",
        "cost unknown: plan × 2, train; nothing like it has run here",
    ]


def test_a_run_that_is_expected_to_take_more_memory_than_there_is_says_so_and_goes_on(terminal, monkeypatch):
    terminal.run("tiny.yaml")
    monkeypatch.setattr("wmlab.app.run.usable_memory", lambda: 10 * 2**20)
    terminal.run("tiny.yaml", "--set", "agent.discount=0.8")
    assert "is expected to hold " in terminal.err
    assert " at least, and 10.0 MiB may be used here; make it smaller\n" in terminal.err
    terminal.run("tiny.yaml", "--set", "agent.discount=0.8")
    assert "is expected" not in terminal.err  # all is stored


@pytest.mark.parametrize(("low", "said"), [(16, []), (40, ["2 stages at once are expected to hold 40.0 GiB at least"])])
def test_memory_is_warned_of_only_where_the_lowest_guess_is_too_much(low, said, monkeypatch):
    monkeypatch.setattr("wmlab.app.run.usable_memory", lambda: 24 * 2**30)
    alone, together = (CostRange(part * low * 2**30, part * 2.0**36, part * 2.0**38) for part in (0.5, 1))
    heard = []
    cost = PlanCost(None, together, 2, {}, {"train": StageCost(CostRange(1, 1, 1), alone)})
    warn_of_memory(None, cost, 2, heard.append)
    assert [event.text.split(",")[0] for event in heard] == said


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_a_cache_that_cannot_be_made_is_told_by_plan_as_by_run(terminal, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", "/proc/nope")
    said = "the cache /proc/nope cannot be used: "
    assert "4 will run" in terminal("plan", "tiny.yaml") and terminal.err.startswith(f"wmlab: {said}")
    terminal.run("tiny.yaml", code=1)
    assert said in terminal.err and "Traceback" not in terminal.err


def test_a_cache_that_is_a_file_or_may_not_be_written_is_told_by_plan(terminal, monkeypatch):
    home = terminal.folder / "home"
    home.write_text("")
    monkeypatch.setenv("WMLAB_HOME", str(home))
    terminal("plan", "tiny.yaml", code=1)
    assert terminal.err == (
        f"wmlab: the cache {home} is not a folder; move it away, or name another place with WMLAB_HOME\n"
    )
    home.unlink()
    home.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != home)
    terminal("plan", "tiny.yaml")
    assert terminal.err.startswith(f"wmlab: the cache {home} cannot be used: Permission denied; ")


def test_asking_leaves_no_folder_behind(tmp_path):
    assert Store(tmp_path / "new" / "cache").problem() is None and list(tmp_path.iterdir()) == []


def test_reports_never_lie_at_the_root_of_the_file_system(terminal, monkeypatch, tmp_path):
    spec = tmp_path / "specs" / "tiny.yaml"
    assert Store("/.wmlab").beside("reports", spec) == tmp_path / "specs" / "reports"
    assert Store(tmp_path / ".wmlab").beside("reports", spec) == tmp_path / "reports"
    elsewhere = Store(tmp_path / "cache")
    assert elsewhere.beside("exports", spec) == Path.cwd() / "exports"
    monkeypatch.chdir("/")
    assert elsewhere.beside("exports", spec) == tmp_path / "specs" / "exports"
    terminal("run", "--help")
    assert "reports/ beside .wmlab" in " ".join(terminal.out.split())


def test_every_command_that_lists_does_so_for_programs(terminal):
    terminal.run("tiny.yaml")
    assert len([one for one in terminal.json("cache", "ls") if one["label"].startswith("tiny: ")]) == 4
    assert terminal.json("cache", "gc", "--dry-run")["kept"] == 4
    assert terminal.json("new", "--list").keys() > {"gridworld"}
    assert {"topic", "title", "says"} == terminal.json("reference")[0].keys()
    assert json.loads(terminal("validate", "tiny.yaml", "--format", "json")) == []
    assert terminal.json("runs")[0]["spec"] == "tiny"
