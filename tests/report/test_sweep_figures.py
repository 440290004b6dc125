"""Figures of a sweep: no mean without its error and n, holes that say why, relations with their intervals."""

from __future__ import annotations

import pytest

from wmlab.report import relations, series, tables
from wmlab.report.data import ReportData
from wmlab.report.drawings import INK
from wmlab.report.render import render

AXES = {"depth": {"paths": [], "values": [1, 2]}, "width": {"paths": [], "values": [8, 16]}}
POINTS = [{"depth": d, "width": w} for d in (1, 2) for w in (8, 16)]


def entry(metric, where, mean, n=3):
    """A result with two checkpoints; without seeds where n is 0."""
    error = 0.01 if n > 1 else None
    curve = {"mean": [mean and mean / 2, mean], "se_over_seeds": [error, error], "n": [n, n], "values": []}
    return {
        "metric": metric,
        "where": where,
        "mean": mean,
        "se_over_seeds": error,
        "n": n,
        "values": [],
        "curve": curve,
    }


def relation(name, statistic, value):
    curve = {"value": [0.1, value], "ci": [None, [value - 0.1, value + 0.1]], "n": [3, 3]}
    end = {"value": value, "ci": [value - 0.1, value + 0.1], "n": 3}
    return {"metric": f"relate.{name}.{statistic}", "where": {}, **end, "level": 0.95, "curve": curve}


@pytest.fixture(scope="module")
def drawn():
    """The files of a page, drawn once."""
    return render(ReportData(made()))


@pytest.fixture
def results():
    return made()


def made():
    """Four points: two whole, one with a single seed, one that failed or was not run."""
    numbers = [(0.2, 3), (0.4, 3), (0.6, 1), (None, 0)]
    metrics = {}
    for where, (mean, n) in zip(POINTS, numbers, strict=True):
        for metric, scale in (("agent.return", 1.0), ("wm.mse", 1e-4)):
            metrics[f"{metric} {where}"] = entry(metric, where, None if mean is None else scale * mean, n)
    for statistic, value in (("spearman", -0.9), ("pearson", -0.8)):
        metrics[f"relate.pair.{statistic}"] = relation("pair", statistic, value)
    return {
        "spec": "sweep",
        "profile": "full",
        "seeds": [0, 1, 2],
        "axes": AXES,
        "steps": [1000, 200_000],
        "metrics": metrics,
        "claims": [
            {
                "id": "rank",
                "metric": "relate.pair.spearman",
                "where": {},
                "paper": -0.98,
                "paper_interval": [-0.99, -0.95],
                "test": None,
                "holds": None,
                "cases": [],
            }
        ],
        "relations": {"pair": {"x": "agent.return", "y": "wm.mse", "points": POINTS}},
        "report": {
            "heatmaps": {"metrics": ["agent.return", "wm.mse"], "rows": "depth", "columns": "width"},
            "curves": {"metrics": ["agent.return", "relate.pair.spearman"], "slices": [{"depth": 1}, {"width": 8}]},
            "scatters": {"relations": ["pair"], "colours": ["depth", "width"]},
        },
        "missing": [{"where": POINTS[3], "seeds": [0, 1, 2]}, {"where": POINTS[2], "seeds": [1, 2]}],
        "failures": [],
        "provenance": {},
    }


def test_a_cell_has_mean_error_and_n_and_a_hole_says_why(results):
    heat = series.heats(results)[0]
    assert heat.cells[0][0] == series.HeatCell(0.2, 0.01, 3, "no value")
    assert heat.cells[1][0] == series.HeatCell(0.6, None, 1, "not run")  # one seed has no standard error
    assert heat.cells[1][1].mean is None and heat.holes == ["not run"]
    results["failures"] = [{"where": POINTS[3], "seed": 0, "state": "failed", "label": "train", "error": "diverged"}]
    assert series.heats(results)[0].holes == ["failed"]


def test_a_page_draws_holes_and_tells_what_was_not_run(drawn):
    page, svg = drawn["index.html"].decode(), drawn["figures/heat-agent.return.svg"].decode()
    assert "± 0.01" in svg and "n = 3" in svg and "n = 1" in svg and "not run" in svg
    assert "mean ± standard error over n seeds. Hatched: not run." in page
    assert "Not run yet" in page and "5 of 12 runs" in page and "depth = 2, width = 8, seed 1, 2" in page


def test_a_curve_of_fewer_seeds_says_so_and_a_relation_has_one_curve(results):
    curves = series.curves(results)
    assert [(one.metric, one.place) for one in curves] == [
        ("agent.return", "depth = 1"),
        ("agent.return", "width = 8"),
        ("relate.pair.spearman", ""),
    ]
    assert [line.label for line in curves[1].lines] == ["depth = 1", "depth = 2 (n = 1)"]
    assert curves[2].lines[0].n == 3


def test_a_scatter_has_a_panel_for_each_checkpoint_and_a_figure_for_each_axis(results, drawn):
    by_depth, by_width = relations.scatters(results)
    assert (by_depth.axis, by_width.axis) == ("depth", "width") and by_depth.missing == 1
    assert [panel.title for panel in by_depth.panels] == ["1000 steps", "200\u202f000 steps"]
    last = by_depth.panels[-1]
    assert last.words == "spearman −0.90 [−1, −0.80], n = 3\npearson −0.80 [−0.90, −0.70], n = 3"
    assert [(one.x, one.y, one.n) for one in last.points] == [(0.2, 0.2e-4, 3), (0.4, 0.4e-4, 3), (0.6, 0.6e-4, 1)]
    assert last.points[2].x_error is None and [one.label for one in last.points] == [0, 0, 1]
    assert "no interval" in by_depth.panels[0].words
    assert {"figures/scatter-pair-depth.svg", "figures/scatter-pair-width.svg"} <= set(drawn)


def test_marks_of_a_scatter_have_an_outline_in_the_colour_of_the_text_so_that_dark_ones_are_seen_in_the_dark(drawn):
    svg = drawn["figures/scatter-pair-depth.svg"].decode()
    assert f"stroke: {INK}; stroke-width: 0.5" in svg  # becomes the page's text colour
    assert "#440154" not in svg  # the darkest of all: bars of errors have no outline


def test_many_checkpoints_are_thinned_to_four_from_the_first_to_the_last():
    assert relations._spread_over(3) == [0, 1, 2]
    assert relations._spread_over(20) == [0, 6, 13, 19]


def test_relations_stand_beside_what_the_paper_says(results, drawn):
    (rank, line) = tables.relation_rows(results)
    assert rank.paper == "−0.98 [−0.99, −0.95]" and line.paper == ""
    page = drawn["index.html"].decode()
    assert "beside what the paper says" in page and "−0.98 [−0.99, −0.95]" in page


def test_what_a_scatter_has_no_numbers_for_is_told(results):
    results["metrics"] = {name: one for name, one in results["metrics"].items() if one["metric"] != "wm.mse"}
    assert "report.scatters of pair: no point has both numbers in this run" in relations.not_drawn(results)
