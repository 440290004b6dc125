"""Claims in words, on the screen and in pipes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rich.console import Console

from tests.report import sample
from wmlab.cli.run import claims_table, claims_text
from wmlab.report import claims
from wmlab.report.claims import claim_rows, tally, words
from wmlab.report.render import render

THREE = {"seeds": [0, 1, 2]}


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            {"metric": "wm.mse", "where": {"goals": 20}, "test": {"at_least": 0.99}, "bound": 0.99},
            "wm.mse at goals = 20, mean over 3 seeds ≥\u00a00.99",
        ),
        (
            {"metric": "wm.mse", "test": {"at_most": {"where": {"goals": 5}, "times": 0.5}}, "bound": 0.25},
            "wm.mse, mean over 3 seeds ≤\u00a00.5 × wm.mse at goals = 5 (here 0.2500)",
        ),
        (
            {"metric": "wm.tv", "where": {"step": "all"}, "statistic": "each_seed", "test": {"at_most": "2 * epsilon"}},
            "wm.tv, every checkpoint, each seed ≤\u00a02 * epsilon",
        ),
        (
            {"metric": "ident.rank", "where": {"axis": ["a", "b"]}, "test": {"equals": 3, "within": 0.5}, "bound": 3},
            "ident.rank at axis = a and b, mean over 3 seeds =\u00a03 to within 0.5",
        ),
        (
            {"metric": "relate.r.pearson", "test": {"between": [-0.88, -0.76]}, "bound": [-0.88, -0.76]},
            "relate.r.pearson between −0.88 and −0.76",
        ),
        (
            {"metric": "relate.r.pearson", "statistic": "ci_high", "test": {"at_most": 0}, "bound": 0},
            "relate.r.pearson, upper end of its interval ≤\u00a00",
        ),
        (
            {"metric": "wm.nmse", "by": {"dimension": ["x", "v"]}, "test": {"at_most": {"by": {}, "times": 2}}},
            "wm.nmse of dimension x and v, mean over 3 seeds ≤\u00a02 × wm.nmse",
        ),
        (
            {"metric": "wm.nmse", "by": {"action": "all"}, "test": {"at_most": {"metric": "wm.identity_nmse"}}},
            "wm.nmse of every action, mean over 3 seeds ≤\u00a0wm.identity_nmse of every action",
        ),
        (
            {"metric": "q.nmse", "where": {"goals": "all"}, "test": None},
            "q.nmse at every value of goals, mean over 3 seeds",
        ),
    ],
)
def test_a_claim_reads_as_a_sentence(claim: dict, text: str) -> None:
    assert words(claim, THREE) == text


def test_a_claim_without_test_is_shown_and_never_counted() -> None:
    counted = tally(claim_rows(sample.results()))
    assert (counted.held, counted.tested, counted.shown, counted.failing) == (5, 5, 1, ())
    assert counted.sentence == "Claims hold: 5 of 5."
    assert claim_rows(sample.results())[-1].verdict == "shown"


def test_a_failing_claim_is_named_with_its_reason() -> None:
    results = sample.results()
    results["claims"][0].update(holds=False, reason="1 of 3 seeds gave no value")
    assert tally(claim_rows(results)).sentence == "Claims hold: 4 of 5. Not so: one_unsafe."
    assert "1 of 3 seeds gave no value" in claims_text(results) and "✗ fails" in claims_text(results)


def test_a_test_without_a_verdict_does_not_hold() -> None:
    (row,) = claim_rows({"claims": [{"id": "a", "metric": "b", "test": {"at_most": 1}, "measured": None}]})
    assert (row.verdict, row.measured) == ("fails", "–")


def test_no_claims_are_said_to_be_none() -> None:
    for results in ({}, {"claims": []}, {"claims": None}):
        assert tally(claim_rows(results)).sentence == "No claim is tested here."
        assert claims_text(results) == "No claim is tested here."


def test_a_measurement_just_short_of_its_bound_shows_why_it_fails() -> None:
    claim = {"id": "a", "metric": "b", "test": {"at_least": 0.999}, "bound": 0.999, "measured": 0.99897, "holds": False}
    metric = {"metric": "b", "where": {}, "values": [], "mean": 0.99897, "se_over_seeds": 0.0123, "n": 3}
    (row,) = claim_rows({"claims": [claim], "metrics": {"b": metric}})
    assert row.measured == "0.99897 ± 0.012"


def test_cases_say_where_and_name_the_step() -> None:
    row = next(row for row in claim_rows(sample.results()) if row.id == "never_above_optimal")
    assert len(row.cases) == 60 and row.failing == 0
    assert row.cases[0].place == "goals = 5, step 1\u202f600\u202f000, seed 0"


def test_the_table_on_the_screen_says_the_same_and_takes_no_markup() -> None:
    results = sample.results()
    results["claims"][0].update(id="[red]x[/red]\x1b[31m", reason="[link=evil]y")
    console = Console(width=150, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(claims_table(results))
    shown = console.export_text()
    console.file.close()
    assert "[red]x[/red][31m" in shown and "[link=evil]y" in shown and "\x1b" not in shown
    assert "Claims hold: 5 of 5." in shown and "0.999" in shown
    assert "\x1b" not in claims_text(results)


def test_the_claims_table_needs_neither_matplotlib_nor_jax() -> None:
    code = "import sys, wmlab.cli.run as run, wmlab.report.render; run.claims_text({})\n"
    code += "print({'matplotlib', 'jax'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_new_column_is_a_field_and_a_line_for_the_screen_and_the_page_alike(monkeypatch):
    monkeypatch.setattr(claims, "COLUMNS", (*claims.COLUMNS, claims.Column("source", "source", "Where it is said")))
    shown = sample.document()
    told = claims.claim_rows(shown.results)[0].source
    head, first, *_ = claims_text(shown.results).splitlines()
    assert head.endswith("source") and first.endswith(told)
    page = render(shown)["index.html"].decode()
    assert "Where it is said</th>" in page and f'data-label="Where it is said">{told}</td>' in page
