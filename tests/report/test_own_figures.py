"""Figures of one's own: every sort shows the stored numbers, in panels, on the scales that a spec chooses."""

from __future__ import annotations

import itertools

import pytest

from wmlab.report.asked import asked_charts, caption, describe, not_drawn
from wmlab.report.data import ReportData
from wmlab.report.figures.asked import asked_chart
from wmlab.report.render import render

EVIL = "<script>x</script>$\\alpha$"
AXES = {"goals": [1, 10, 100], "method": ["lp", EVIL], "noise": [0.0, 0.5]}


def results(**figures):
    metrics = {}
    for goals, method, noise in itertools.product(*AXES.values()):
        where = {"goals": goals, "method": method, "noise": noise}
        base = 1.0 / goals + (method == "lp") * 0.1 + noise
        for name, factor in (("wm.tv", 1.0), ("wm.mse", 3.0)):
            values = [factor * base, None, factor * base * 1.2]
            if name == "wm.tv" and where == {"goals": 1, "method": "lp", "noise": 0.0}:
                continue  # it was not run
            entry = {"metric": name, "where": where, "values": values, "mean": factor * base * 1.1, "n": 2}
            metrics[f"{name} {where}"] = {**entry, "se_over_seeds": factor * 0.01}
    axes = {name: {"paths": [], "values": values} for name, values in AXES.items()}
    asked = {"spec": "s", "profile": "p", "seeds": [0, 1, 2], "claims": [], "axes": axes, "metrics": metrics}
    return {**asked, "report": {"figures": figures, "tables": []}}


LINE = {"metric": "wm.tv", "over": "goals", "by": "method", "facets": ["noise"]}


def test_a_line_has_a_spot_for_each_label_and_a_panel_for_each_facet():
    (chart,) = asked_charts(results(one=LINE))
    assert [panel.title for panel in chart.panels] == ["noise = 0.0", "noise = 0.5"]
    assert chart.columns == ("1", "10", "100") and chart.places == (0, 1, 2) and len(chart.series) == 2
    spot = chart.panels[1].rows[0][2]
    assert spot.mean == pytest.approx(1.1 * 0.61) and spot.error == 0.01
    assert spot.seeds == (pytest.approx(0.61), pytest.approx(0.61 * 1.2))
    assert chart.panels[0].rows[0][0].mean is None and chart.lost == 1
    assert caption(chart, 3).endswith(
        "Means over 3 seeds, at 11 places over fewer; bars are standard errors. 1 place without a number not drawn."
    )


def test_labels_stand_by_their_numbers_where_that_is_asked():
    (chart,) = asked_charts(results(one={**LINE, "across": "log"}))
    assert chart.places == (1.0, 10.0, 100.0) and chart.x_log


def test_a_scatter_has_every_point_of_the_sweep_that_has_both_numbers():
    (chart,) = asked_charts(results(one={"metric": "wm.tv", "against": "wm.mse", "as": "scatter", "by": "method"}))
    (panel,) = chart.panels
    assert [len(row) for row in panel.rows] == [5, 6] and chart.x_label
    assert all(spot.x == pytest.approx(3 * spot.mean) and spot.x_error == pytest.approx(0.03) for spot in panel.rows[1])


@pytest.mark.parametrize("sort", ["line", "bar", "heatmap", "distribution"])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_every_sort_is_drawn_on_both_scales_and_twice_the_same(sort, scale):
    (chart,) = asked_charts(results(one={**LINE, "as": sort, "scale": scale}))
    picture = asked_chart(chart)
    assert picture.svg.startswith("<?xml") and "noise = 0.5" in picture.svg and picture.pdf[:4] == b"%PDF"
    assert "<script>" not in picture.svg and "mathdefault" not in picture.svg
    if sort == "heatmap":
        assert "n = 2" in picture.svg and "no value" in picture.svg


def test_a_scatter_on_powers_of_ten_is_drawn():
    figure = {"metric": "wm.tv", "against": "wm.mse", "as": "scatter", "facets": ["noise"]}
    (chart,) = asked_charts(results(one={**figure, "scale": "log", "across": "log"}))
    assert "noise = 0" in asked_chart(chart).svg


def test_a_page_has_them_with_captions_and_says_what_it_could_not_draw():
    shown = results(mine={**LINE, "title": f"What {EVIL} does"}, empty={"metric": "q.nmse", "over": "goals"})
    files = render(ReportData(shown))
    page = files["index.html"].decode()
    assert "Figures asked for" in page and "report.figures.empty: no point has a number in this run" in page
    assert "figures/figure-mine.svg" in files and "figures/figure-mine.pdf" in files and EVIL not in page
    assert not_drawn(shown) == ["report.figures.empty: no point has a number in this run"]


def test_a_figure_is_told_in_a_sentence():
    (chart,) = asked_charts(results(one={**LINE, "as": "bar"}))
    assert describe(chart).startswith("wm.tv by goals as a bar in 2 panels: from 0.011")


def test_names_that_would_run_into_each_other_stand_at_a_slant():
    def slanted(*names):
        metrics = {
            name: {"metric": "wm.tv", "where": {"method": name}, "values": [1.0, 2.0 + at], "mean": 1.5 + at, "n": 2}
            for at, name in enumerate(names)
        }
        axes = {"method": {"paths": [], "values": list(names)}}
        asked = {"one": {"metric": "wm.tv", "over": "method", "as": "distribution"}}
        (chart,) = asked_charts({"seeds": [0, 1], "axes": axes, "metrics": metrics, "report": {"figures": asked}})
        return "rotate(-30" in asked_chart(chart).svg

    assert not slanted("lp", "matching", "pseudo_inverse")
    assert slanted("linear_programming", "column_matching", "pseudo_inverse", "evolution")
