"""Bars of several specs in one figure of a suite's page."""

from __future__ import annotations

from tests.report.sample import GOALS, document
from wmlab.report.data import SuiteRow
from wmlab.report.figures.charts import _short
from wmlab.report.render import render_suite
from wmlab.report.suite import MOST_ROWS, describe_suite_bars, suite_bars, suite_bars_caption

RESULTS = document().results

BESIDE = ("tables/claims.csv", "tables/claims.tex")


def row(name: str, **changes) -> SuiteRow:
    return SuiteRow(name, "laptop", f"../{name}.html", {**RESULTS, **changes})


def test_specs_that_vary_the_same_axis_share_a_figure_with_a_row_for_each() -> None:
    rows = [row("rooms_windy"), row("rooms_teleporting", seeds=[0]), SuiteRow("rooms_later", "laptop", "")]
    files = render_suite(rows)
    page = files["index.html"].decode()
    assert set(files) == {
        "index.html",
        *BESIDE,
        *(f"figures/{name}" for name in ("bars-goals.svg", "bars-goals.pdf", "keys.json")),
    }
    assert page.count("<figure>") == 1 and 'href="figures/bars-goals.pdf"' in page
    drawn = files["figures/bars-goals.svg"].decode()
    for label in ("windy", "teleporting", "one_unsafe", "teleport_unsafe", "goals", *map(str, GOALS)):
        assert f">{label}<" in drawn, label
    (figure,) = suite_bars(rows)
    assert describe_suite_bars(figure).startswith("windy: Returns on one_unsafe by goals. 5: R* 0.8712, ")
    assert "over the seeds of each spec" in suite_bars_caption(figure)


def test_a_figure_needs_two_specs_and_has_room_for_a_few() -> None:
    assert suite_bars([row("a"), row("b", axes={"depth": {"values": GOALS}})]) == []
    files = render_suite([row("a")])
    assert b'id="figures"' not in files["index.html"] and set(files) == {"index.html", *BESIDE}
    (figure,) = suite_bars([row(f"a{index}") for index in range(MOST_ROWS + 2)])
    assert len(figure.rows) == MOST_ROWS and "2 further specs not drawn" in suite_bars_caption(figure)


def test_ticks_of_environment_steps_are_short() -> None:
    assert [_short(steps, 0) for steps in (0, 16_384, 1_589_250, 8_000_000)] == ["0", "16.4k", "1.59M", "8M"]


def test_what_speaks_against_a_spec_s_reading_is_on_the_suite_s_page_with_a_way_to_it() -> None:
    finding = {"id": "not_settled", "severity": "doubtful", "sentence": "Not <settled>.", "where": {}}
    page = render_suite([row("a", findings=[]), row("b", findings=[finding])])["index.html"].decode()
    assert '<h3><a href="../b.html#findings"><code>b</code></a></h3>' in page and "a.html#findings" not in page
    assert '<li class="doubtful"><strong>doubtful</strong> Not &lt;settled&gt;.</li>' in page
