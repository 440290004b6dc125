"""A stage that fails: the others do not suffer, the page says why, and a later run goes on from there."""

from __future__ import annotations

import re

import pytest

from tests.system.lab import HERE, Lab

OVERFLOW = HERE / "overflow.yaml"
AT = "scale=1e+308"


@pytest.fixture(scope="module")
def failed(tmp_path_factory, compiled):
    """A sweep in which one scale of the rewards is beyond floats, run with --keep-going."""
    lab = Lab(tmp_path_factory.mktemp("failed"), compiled)
    return lab, lab.wmlab("run", OVERFLOW, "--jobs", "1", "--keep-going", code=1)


def failure(said):
    """The stage that failed, and why; it is the only one that did."""
    found = re.findall(r"^failed: (overflow: \w+ scale=1e\+308): (StageError: .*nan.*)$", said.err, re.MULTILINE)
    assert len(found) == 1 and "Traceback" not in said.err
    return found[0]


def outcomes(lab):
    return {record["label"]: record["outcome"] for record in lab.logs()[-1]}


def test_with_keep_going_all_that_can_be_done_is_done(failed):
    lab, said = failed
    label, _ = failure(said)
    found = outcomes(lab)
    assert found.pop(label) == "failed" and re.search(r"done: \d/10 stages, 1 failed, [12] skipped in", said.err)
    assert found["overflow: measure scale=1e+308"] == "skipped"
    assert {outcome for label, outcome in found.items() if AT not in label} == {"ran"}


def test_the_results_have_a_hole_where_it_failed_and_no_claim_holds_over_it(failed):
    lab, said = failed
    label, why = failure(said)
    results = lab.results("overflow")
    assert results["metrics"]["scale=1/wm.tv"]["n"] == 1
    hole = results["metrics"][f"{AT}/wm.tv"]
    assert hole["values"] == [None] and hole["mean"] is None and hole["n"] == 0
    assert [claim["holds"] for claim in results["claims"]] == [False]
    assert "Claims hold: 0 of 1. Not so: exact." in said.out
    rows = {row["label"]: (row["state"], row["error"]) for row in results["failures"]}
    assert rows.pop(label) == ("failed", why)
    assert set(rows.values()) == {("skipped", f"needs '{label}', which failed")}


def test_the_page_tells_the_failures_also_when_it_is_drawn_again(failed):
    lab, said = failed
    page = lab.report("overflow") / "index.html"
    drawn = page.read_bytes()
    assert '<section id="failures"' in drawn.decode() and failure(said)[1] in drawn.decode()
    lab.wmlab("report", OVERFLOW)
    assert page.read_bytes() == drawn


def test_a_later_run_does_only_what_is_left(failed, tmp_path):
    lab = failed[0].copy(tmp_path)
    lab.wmlab("run", OVERFLOW, "--jobs", "1", "--set", "sweep.scale={let.scale: [1, 1e30, 2]}", "--check")
    (folder,) = (path for path in lab.report("overflow").parent.iterdir() if "+" in path.name)
    assert sorted(lab.ran()) == [f"overflow: {kind} scale=1e+30" for kind in ("extract", "measure", "train")]
    assert lab.results("overflow", folder.name)["failures"] == []


def test_without_keep_going_the_run_stops_and_says_what_it_left(lab):
    said = lab.wmlab("run", OVERFLOW, "--jobs", "1", code=1)
    label, _ = failure(said)
    found = outcomes(lab)
    assert found[label] == "failed" and "skipped" in found.values()
    reasons = {row["error"] for row in lab.results("overflow")["failures"] if row["state"] == "skipped"}
    assert f"the run stopped when '{label}' failed" in reasons
    assert '<section id="failures"' in (lab.report("overflow") / "index.html").read_text()
