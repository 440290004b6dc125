"""The first experiment, from the command to the page: what a newcomer sees, and sees again."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.system.lab import QUICKSTART

KEPT = ("results.json", "report.sha256")  # when the run was, and that nobody changed it


@pytest.fixture
def known(quickstart, tmp_path):
    """A folder in which the quickstart was run before."""
    return quickstart.lab.copy(tmp_path)


def edited(lab, old, new):
    """The quickstart's spec in this folder, with one change."""
    shutil.copytree(QUICKSTART.parent, lab.folder / "specs", dirs_exist_ok=True)
    path = lab.folder / "specs" / QUICKSTART.name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def test_it_ends_with_claims_that_hold_and_a_report(quickstart):
    folder = quickstart.lab.report("quickstart")
    assert "\nClaims hold: 5 of 5.\nfindings: none;" in quickstart.said.out
    assert quickstart.said.out.endswith("\nreport: reports/quickstart/paper/index.html\n")
    assert (
        quickstart.said.err.startswith("quickstart: profile paper\n") and "done: 9/9 stages in" in quickstart.said.err
    )
    results = json.loads((folder / "results.json").read_text())
    assert results["metrics"]["wm.mse"]["mean"] == 0 and results["metrics"]["unseen.two_unsafe.ratio"]["mean"] == 1
    assert all(claim["holds"] for claim in results["claims"]) and results["failures"] == []
    page = (folder / "index.html").read_text()
    links = [link for link in re.findall(r'(?:href|src)="([^"]+)"', page) if not link.startswith(("#", "data:"))]
    assert "results.json" in links and all((folder / link).is_file() for link in links)


def test_a_second_run_computes_nothing_and_leaves_the_page_as_it_is(known):
    folder = known.report("quickstart")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    said = known.wmlab("run", QUICKSTART, "--check")
    assert said.err.startswith("quickstart: profile paper\ndone: all 9 stages were cached\nrun: ")
    assert "Claims hold: 5 of 5." in said.out
    assert known.ran() == []
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.slow
def test_a_page_that_lost_something_is_drawn_again(known):
    folder = known.report("quickstart")
    figure = next((folder / "figures").glob("*.svg"))
    drawn, page = figure.read_bytes(), (folder / "index.html").read_text()
    figure.unlink()
    (folder / "index.html").write_text(page[: len(page) // 2])
    known.wmlab("run", QUICKSTART)
    assert known.ran() == [] and figure.read_bytes() == drawn
    assert (folder / "index.html").read_text().rstrip().endswith("</html>")


@pytest.mark.slow
def test_another_bound_is_judged_without_computing_anything(known):
    spec = edited(
        known,
        "columns_differ: {metric: ident.gap, at_least: 1e-9,",
        "columns_differ: {metric: ident.gap, at_least: 10,",
    )
    said = known.wmlab("run", spec, "--check", code=1)
    assert "done: all 9 stages were cached" in said.err and "Claims hold: 4 of 5. Not so: columns_differ." in said.out
    claims = {claim["id"]: claim for claim in known.results("quickstart")["claims"]}
    assert claims["columns_differ"]["holds"] is False and claims["columns_differ"]["test"] == {"at_least": 10}
    assert "Claims hold: 4 of 5." in (known.report("quickstart") / "index.html").read_text()
    known.wmlab("run", spec)  # without --check a claim that fails is only shown


def test_another_discount_reruns_what_depends_on_it_and_says_so(known):
    flag = ("--set", "agent.discount=0.95")
    plan = known.wmlab("plan", QUICKSTART, *flag).out
    assert "train  (will run: agent.discount changed: 0.99 → 0.95)" in plan
    assert "extract  (will run: input 'agent' will run)" in plan
    said = known.wmlab("run", QUICKSTART, *flag, "--jobs", "1")
    assert "done: 9/9 stages" in said.err and len(known.ran()) == 9
    assert known.results("quickstart", "paper+agent.discount=0.95")["sets"] == ["agent.discount=0.95"]
    known.wmlab("run", QUICKSTART)  # and back again: both are known now
    assert known.ran() == [] and known.results("quickstart")["sets"] == []


@pytest.mark.slow
def test_what_is_only_measured_in_another_way_is_not_computed_again(known):
    known.wmlab("run", edited(known, "identify: {rank_tolerance: 1e-9}", "identify: {rank_tolerance: 1e-8}"))
    assert sorted(known.ran()) == ["quickstart: explore", "quickstart: identify"]


def test_report_tells_what_is_missing_and_afterwards_writes_the_same_page_without_jax(known):
    said = known.wmlab("report", QUICKSTART, "--set", "agent.discount=0.5", code=1)
    assert said.err.startswith("wmlab: quickstart (paper) has not been run as it is now; `wmlab plan`") and not said.out
    folder = known.report("quickstart")
    before = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    entries = known.contents()
    for path in [path for path in folder.rglob("*") if path.is_file() and path.name not in KEPT]:
        path.unlink()
    said = known.wmlab("report", QUICKSTART, python=("-X", "importtime"))
    imported = {line.rpartition("|")[2].strip() for line in said.err.splitlines()}
    assert "wmlab.report.render" in imported and "jax" not in imported
    after = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert after == before and known.contents() == entries
