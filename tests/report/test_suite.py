"""Bars of several specs in one figure of a suite's page."""

from __future__ import annotations

from pathlib import Path

from tests.report.sample import GOALS, document
from wmlab.report.data import SuiteRow
from wmlab.report.figures.charts import _short
from wmlab.report.render import render_suite
from wmlab.report.suite import MOST_ROWS, describe_suite_bars, suite_bars, suite_bars_caption

RESULTS = document().results


def row(name: str, **changes) -> SuiteRow:
    return SuiteRow(name, "laptop", f"../{name}.html", {**RESULTS, **changes})


def test_specs_that_vary_the_same_axis_share_a_figure_with_a_row_for_each(tmp_path: Path) -> None:
    rows = [row("rooms_windy"), row("rooms_teleporting", seeds=[0]), SuiteRow("rooms_later", "laptop", "")]
    page = render_suite(rows, tmp_path).read_text("utf-8")
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"bars-goals.svg", "bars-goals.pdf"}
    assert page.count("<figure>") == 1 and 'href="figures/bars-goals.pdf"' in page
    drawn = (tmp_path / "figures" / "bars-goals.svg").read_text("utf-8")
    for label in ("windy", "teleporting", "one_unsafe", "teleport_unsafe", "goals", *map(str, GOALS)):
        assert f">{label}<" in drawn, label
    (figure,) = suite_bars(rows)
    assert describe_suite_bars(figure).startswith("windy: Returns on one_unsafe by goals. 5: R* 0.8712, ")
    assert "over the seeds of each spec" in suite_bars_caption(figure)


def test_a_figure_needs_two_specs_and_has_room_for_a_few(tmp_path: Path) -> None:
    assert suite_bars([row("a"), row("b", axes={"depth": {"values": GOALS}})]) == []
    page = render_suite([row("a")], tmp_path).read_text("utf-8")
    assert 'id="figures"' not in page and not (tmp_path / "figures").exists()
    (figure,) = suite_bars([row(f"a{index}") for index in range(MOST_ROWS + 2)])
    assert len(figure.rows) == MOST_ROWS and "2 further specs not drawn" in suite_bars_caption(figure)


def test_ticks_of_environment_steps_are_short() -> None:
    assert [_short(steps, 0) for steps in (0, 16_384, 1_589_250, 8_000_000)] == ["0", "16.4k", "1.59M", "8M"]
