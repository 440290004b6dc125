"""Runs are remembered: each has an id, its page is kept, and two of them can be compared."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time

import pytest

from tests.cli.conftest import SPEC
from wmlab.runtime import git

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]


@pytest.fixture
def three(terminal):
    """A run, one with three seeds, and one whose claim fails; their ids, the latest last."""
    plain, seeds = terminal.run("tiny.yaml"), terminal.run("tiny.yaml", "--seeds", "3")
    return plain, seeds, terminal.run("tiny.yaml", "--set", "claims.near.at_most=-1")


def test_a_run_has_an_id_on_the_screen_in_its_log_in_its_results_and_on_its_page(terminal):
    id = terminal.run("tiny.yaml")
    assert re.fullmatch("[a-z2-7]{7}", id)
    (log,) = (terminal.folder / ".wmlab" / "runs").glob("*.jsonl")
    assert json.loads(log.read_text().splitlines()[0])["id"] == id
    assert terminal.report("tiny", "full")["provenance"]["run"] == id
    assert id in (terminal.folder / "reports" / "tiny" / "full" / "index.html").read_text()


def test_a_page_that_shows_the_same_stays_that_of_the_run_that_drew_it(terminal):
    first = terminal.run("tiny.yaml")
    before = terminal.report("tiny", "full")
    assert terminal.run("tiny.yaml") != first and terminal.report("tiny", "full") == before
    terminal("report", "tiny.yaml")
    assert terminal.report("tiny", "full") == before


def test_the_pages_of_a_run_are_the_group_s_where_the_cache_is(terminal):
    cache = terminal.folder / ".wmlab"
    cache.mkdir(exist_ok=True)
    cache.chmod(0o2770)
    before = os.umask(0o077)
    try:
        kept = cache / "runs" / terminal.run("tiny.yaml")
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o7777 for path in (kept, *kept.rglob("*"))}
    assert len(modes) > 5
    assert [path for path, mode in modes.items() if mode != (0o2770 if path.is_dir() else 0o660)] == []


def test_runs_are_listed_with_what_was_asked_and_what_became_of_it(terminal, three):
    head, *rows = terminal("runs").splitlines()
    assert head.split() == [
        "id",
        "started",
        "spec",
        "profile",
        "changed",
        "seeds",
        "state",
        "claims",
        "took",
        "machine",
        "commit",
    ]
    assert [row.split()[0] for row in rows] == list(reversed(three))
    assert " seeds=3 " in rows[1] and "1 held" in rows[1] and "1 failed" in rows[0]
    data = terminal.json("runs")
    assert [(row["id"], row["seeds"], row["sets"]) for row in data][1:] == [
        (three[1], 3, ["seeds=3"]),
        (three[0], 2, []),
    ]
    assert data[0]["claims"] == {"held": 0, "failed": 1, "shown": 0} and data[0]["state"] == "done"
    assert data[0]["host"] and data[0]["file"] == str(terminal.folder / "tiny.yaml")


def test_runs_are_filtered_by_spec_by_failure_and_by_time(terminal, three):
    (terminal.folder / "other.yaml").write_text(SPEC.format(name="other", bound=1))
    other = terminal.run("other.yaml")

    def ids(*words):
        return [row["id"] for row in terminal.json("runs", *words)]

    assert ids("--spec", "other") == [other] and ids("--failed") == [three[2]]
    assert ids("--since", "1h") == ids("--since", "2020-01-31") == [other, *reversed(three)] and ids(
        "--limit", "1"
    ) == [other]
    assert ids("--since", "9999-12-31") == ids("--spec", "none") == []
    assert terminal("runs", "--spec", "none") == "no such run\n"
    terminal("runs", "--since", "yesterday", code=2)
    assert terminal.err == "wmlab: --since yesterday: say how long ago, as 7d or 12h, or a date, as 2026-01-31\n"


def test_one_run_is_shown_by_the_first_letters_of_its_id(terminal, three):
    shown = terminal("runs", "show", three[1][:5])
    facts = dict(line.split(None, 1) for line in shown.splitlines())
    assert facts["run"] == three[1] and facts["changed"] == "seeds=3" and facts["claims"] == "1 held"
    assert facts["page"].endswith(f".wmlab/runs/{three[1]}/tiny/full+seeds=3/index.html")
    assert terminal.json("runs", "show", three[1])["log"] == facts["log"]
    terminal("runs", "show", "0", code=2)
    assert (
        terminal.err == f"wmlab: there is no run '0' in the cache {terminal.folder}/.wmlab; `wmlab runs` lists them\n"
    )


def test_an_ambiguous_beginning_names_what_it_may_be(terminal):
    folder = terminal.folder / ".wmlab" / "runs"
    folder.mkdir()
    for number, id in enumerate(("abcdefg", "abcdefh")):
        head = json.dumps({"type": "run", "id": id, "spec": "tiny", "pid": 1, "host": "x"})
        (folder / f"20260101-000000-00000{number}-1-{id}.jsonl").write_text(head + "\n")
    terminal("runs", "show", "abc", code=2)
    assert terminal.err == "wmlab: 'abc' may be abcdefh or abcdefg; say more letters\n"
    assert terminal.json("runs", "show", "abcdefg")["id"] == "abcdefg"


def test_the_page_of_an_earlier_run_is_kept_and_takes_no_room_where_it_is_the_same(terminal):
    first = terminal.run("tiny.yaml")
    again = terminal.run("tiny.yaml")
    spec = terminal.folder / "tiny.yaml"
    spec.write_text(spec.read_text().replace("discount: 0.9", "discount: 0.5"))
    changed = terminal.run("tiny.yaml")
    pages = {id: terminal.folder / terminal("report", id).strip() for id in (first, again, changed)}
    assert pages[first].stat().st_ino == pages[again].stat().st_ino != pages[changed].stat().st_ino
    assert first in pages[again].read_text() and changed in pages[changed].read_text()
    assert terminal("report", first, "--output", "shown") == f"shown/{first}/tiny/full/index.html\n"
    assert (terminal.folder / "shown" / first / "tiny" / "full" / "figures" / "map-a.svg").is_file()
    assert terminal.report("tiny", "full")["provenance"]["run"] == changed  # nothing was written over
    terminal("report", first, "--seeds", "3", code=2)
    assert terminal.err == f"wmlab: run '{first}' is as it was; --profile, --seeds and --set are for specs\n"


def test_a_page_that_was_changed_or_removed_is_said_to_be(terminal):
    id = terminal.run("tiny.yaml")
    page = terminal.folder / terminal("report", id).strip()
    page.write_text("harmed")
    terminal("report", id, code=1)
    assert f"there is no page of run {id}: it is damaged (index.html was changed)" in terminal.err
    shutil.rmtree(page.parents[2])
    terminal("report", id, code=1)
    assert "it was removed, perhaps by `wmlab cache gc`; `wmlab run " in terminal.err
    assert "it was removed" in terminal("runs", "show", id)


def test_clean_ups_remove_pages_that_nobody_looked_at_and_keep_the_memory_of_their_runs(terminal, three):
    folder = terminal.folder / ".wmlab" / "runs"
    long_ago = time.time() - 100 * 86400
    for id in three[:2]:
        os.utime(folder / id, (long_ago, long_ago))
    terminal("report", three[1])  # looked at now
    assert "2 leftovers" not in terminal("cache", "gc", "--dry-run", "--older-than", "30d")
    assert (folder / three[0]).is_dir()
    terminal("cache", "gc", "--older-than", "30d")
    assert [id for id in three if (folder / id).is_dir()] == list(three[1:])
    terminal("cache", "gc", "--max-size", "0")
    assert not [id for id in three if (folder / id).is_dir()] and len(terminal.json("runs")) == 3


def test_two_runs_are_compared_by_what_they_found(terminal, three):
    assert terminal("diff", three[0], three[0]).endswith("no difference\n")
    said = terminal("diff", three[0], three[1][:6])
    assert said.startswith(f"run {three[0]}: tiny (full) → run {three[1]}: tiny (full, seeds=3)\n")
    assert "  seeds" in said and "provenance.started" not in said
    assert "provenance.run" in terminal("diff", three[0], three[1], "--exact")
    terminal("diff", "tiny.yaml", three[0], code=2)
    assert "a spec and a results.json, or a run, cannot be compared" in terminal.err


def test_the_runs_of_a_suite_are_compared_member_by_member(terminal):
    (terminal.folder / "other.yaml").write_text(SPEC.format(name="other", bound=1))
    (terminal.folder / "all.yaml").write_text("wmlab: 1\nname: all\nsuite: [tiny.yaml, other.yaml]\n")
    one = terminal.run("all.yaml")
    spec = terminal.folder / "other.yaml"
    spec.write_text(spec.read_text().replace("states: 3", "states: 4"))
    said = terminal("diff", one, terminal.run("all.yaml"))
    assert "other: wm.mse" in said and "tiny: wm" not in said
    assert terminal("report", one).endswith(f"{one}/all/full/index.html\n")
    assert (terminal.folder / ".wmlab" / "runs" / one / "tiny" / "full" / "index.html").is_file()


def test_differences_of_rounding_are_none_unless_asked_for(terminal):
    for name, values in (("a", (1.0, 0.5, 3e-17, 2.0)), ("b", (1.0 + 4e-16, 0.5 + 1e-11, 1e-16, 2.0000001))):
        metrics = {metric: {"mean": value} for metric, value in zip("wxyz", values, strict=True)}
        (terminal.folder / f"{name}.json").write_text(json.dumps({"spec": "x", "metrics": metrics}))
    said = terminal("diff", "a.json", "b.json")
    assert said.endswith("metrics: 3 the same, 1 not\n  z  2 → 2.0000001\n")
    said = terminal("diff", "a.json", "b.json", "--exact")
    assert "0 the same, 4 not" in said and "w  1 → 1.0000000000000004" in said


def test_a_log_of_an_earlier_version_has_no_id_and_is_listed(terminal):
    folder = terminal.folder / ".wmlab" / "runs"
    folder.mkdir()
    head = {"type": "run", "spec": "old", "profile": "full", "started": "2025-01-01T00:00:00.000+00:00", "pid": 1}
    end = {"type": "end", "counts": {"ran": 2, "cached": 0, "failed": 0, "skipped": 0}, "seconds": 3.0}
    text = "".join(json.dumps(record) + "\n" for record in (head, end))
    (folder / "20250101-000000-000000-1.jsonl").write_text(text)
    row = terminal("runs").splitlines()[1]
    assert row.split() == ["–", "2025-01-01", "00:00:00", "old", "full", "done", "3", "s"]
    assert terminal.json("runs")[0]["id"] is None


def test_the_commit_of_the_specs_tree_is_remembered_and_whether_it_was_changed(terminal):
    def commit(*words):
        subprocess.run([*GIT, *words], cwd=terminal.folder, check=True, capture_output=True)

    terminal.run("tiny.yaml")
    commit("init")
    commit("add", "tiny.yaml")
    commit("commit", "-m", "one")
    terminal.run("tiny.yaml")  # reports and the cache are no part of the tree
    (terminal.folder / "new.yaml").write_text(SPEC.format(name="new", bound=1))
    terminal.run("new.yaml")
    with open(terminal.folder / "tiny.yaml", "a") as file:
        file.write("# changed\n")
    terminal.run("tiny.yaml")
    dirty, untracked, clean, before = terminal.json("runs")
    assert before["commit"] is None and len(clean["commit"]) == 40
    assert (clean["dirty"], untracked["dirty"], dirty["dirty"]) == (False, True, True)
    assert f" {clean['commit'][:7]} dirty\n" in terminal("runs")


@pytest.mark.parametrize("fault", [FileNotFoundError("git"), subprocess.TimeoutExpired("git", 2)])
def test_without_git_or_with_one_that_takes_too_long_a_run_has_no_commit(terminal, monkeypatch, fault):
    def fail(*_, **__):
        raise fault

    monkeypatch.setattr(git.subprocess, "run", fail)
    terminal.run("tiny.yaml")
    assert terminal.json("runs")[0]["commit"] is None


def test_a_cache_that_cannot_be_written_costs_the_memory_and_not_the_run(terminal, monkeypatch):
    terminal.run("tiny.yaml")
    real = os.mkdir

    def full(path, *more, **options):
        if "pages-" in str(path):
            raise OSError(28, "No space left on device")
        real(path, *more, **options)

    monkeypatch.setattr(os, "mkdir", full)
    id = terminal.run("tiny.yaml", "--seeds", "3")
    assert (
        "the page of this run cannot be kept in the cache (No space left on device); the report is written"
        in terminal.err
    )
    monkeypatch.undo()
    assert terminal.folder.joinpath("reports", "tiny", "full+seeds=3", "index.html").is_file() and len(id) == 7
