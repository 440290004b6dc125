"""Figures that one would expect: metrics along a sweep, and how agents and fits learnt."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tests.report import sample
from wmlab.core.finite.space import FiniteSpace
from wmlab.report.along import along_charts
from wmlab.report.content.kernel import kernels
from wmlab.report.content.learning import BINS, Curve, label_of, learning, line_of
from wmlab.report.data import ReportData
from wmlab.report.figures import charts
from wmlab.report.figures.style import STYLE, chosen, page_width
from wmlab.report.gallery import drawings, gallery
from wmlab.report.series import MOST_LINES, Line, MetricCurves, describe_curves
from wmlab.runtime.result import Result
from wmlab.sections.figure_style import FigureStyle


def swept(labels, metric="wm.tv", means=None, apart=1.1, **more):
    means = means or [1.0 / (place + 1) for place in range(len(labels))]
    metrics = {
        f"axis={label}/{metric}": sample.entry(metric, {"axis": label}, [mean, mean * apart])
        for label, mean in zip(labels, means, strict=True)
    }
    return {"seeds": [0, 1], "axes": {"axis": {"values": labels}}, "metrics": metrics, **more}


def test_a_metric_along_an_axis_of_numbers_is_a_line_with_its_errors():
    (chart,) = along_charts(swept([1, 2, 4]))
    assert (chart.sort, chart.metric, chart.x_label, chart.columns) == ("line", "wm.tv", "axis", ("1", "2", "4"))
    assert [spot.mean for spot in chart.numbers] == pytest.approx([1.05, 0.525, 0.35])
    assert all(spot.error is not None and spot.error > 0 for spot in chart.numbers)


def test_words_are_no_line_and_errors_of_many_sizes_have_powers_of_ten():
    (chart,) = along_charts(swept(["lp", "matching"], means=[1e-6, 0.1], apart=10))
    assert chart.sort == "distribution" and chart.log
    (chart,) = along_charts(swept(["lp", "matching"], means=[0.0, 0.1]))
    assert not chart.log


def test_along_words_one_figure_is_drawn_and_only_where_seeds_scatter():
    several = swept(["lp", "matching"])
    more = swept(["lp", "matching"], "wm.mse")["metrics"]
    assert [chart.metric for chart in along_charts({**several, "metrics": {**several["metrics"], **more}})] == [
        "wm.mse"
    ]
    assert along_charts(swept(["lp", "matching"], apart=1.0)) == []  # the table of means says as much
    assert along_charts(swept(["lp", "matching"], means=[1e-9, 0.1], apart=1.1)) == []  # a dot on the figure
    (alone,) = along_charts(
        {
            **swept(["lp", "matching"], apart=1.0),
            "seeds": [0],
            "metrics": {
                label: sample.entry("wm.tv", {"axis": label}, [mean])
                for label, mean in (("lp", 0.1), ("matching", 0.5))
            },
        }
    )
    assert alone.sort == "distribution"


def test_what_is_drawn_already_or_says_nothing_is_not_drawn_again():
    assert along_charts(swept([1])) == []
    assert along_charts(swept([1, 2], means=[0.5, 0.5])) == []
    assert along_charts(swept([1, 2], report={"figures": {"own": {"metric": "wm.tv", "over": "axis"}}})) == []
    assert along_charts(swept([1, 2], "unseen.far.ratio")) == []


def test_of_two_axes_the_one_with_numbers_goes_across_and_three_have_no_plane():
    results = sample.results()
    axes = {"method": {"values": ["a", "b"]}, "goals": {"values": [5, 10]}}
    metrics = {
        f"{method}{goals}": sample.entry("wm.mse", {"method": method, "goals": goals}, [goals / 10 + (method == "b")])
        for method in "ab"
        for goals in (5, 10)
    }
    (chart,) = along_charts({**results, "axes": axes, "metrics": metrics})
    assert chart.x_label == "goals" and chart.by == "method" and chart.series == ("a", "b")
    assert along_charts({**results, "axes": {**axes, "third": {"values": [1, 2]}}, "metrics": metrics}) == []


# --- how it learnt ------------------------------------------------------------------------------------------------


def test_a_long_curve_is_binned_with_its_mean_and_error_over_seeds():
    updates = np.arange(600.0)
    line = line_of("mean", [Curve(updates, 600), Curve(updates + 2, 600)])
    assert len(line.x) == BINS and line.x[-1] == 600 and line.n == 2
    assert line.mean[0] == pytest.approx(np.mean(updates[:10]) + 1)
    assert line.high[0] - line.mean[0] == pytest.approx(1.0)  # the standard error of two values that are 2 apart


def test_updates_without_a_number_are_holes_and_curves_that_end_early_count_as_long_as_they_go():
    line = line_of("mean", [Curve(np.array([np.nan, 1.0, 3.0]), 3), Curve(np.array([np.nan, 2.0]), 2)])
    assert line.mean == (None, 1.5, 3.0) and line.low[2] is None


def test_arrays_are_curves_by_their_names():
    assert label_of("train", "curves/loss") == ("q.loss", "loss of the agent's values")
    assert label_of("train", "curves/clipped_share") == ("agent.clipped_share", "clipped share")
    assert label_of("extract", "curve")[0] == "fit.loss"
    assert label_of("train", "q") is None and label_of("extract", "residual") is None


def test_each_curve_has_a_figure_with_a_line_for_each_point(monkeypatch):
    arrays = {"train": {"curves/loss": np.ones(5), "q": np.ones(5)}, "extract": {"curve": np.arange(3.0)}}
    stored = [FakeRun({"goals": goals}, {kind: Result(one, {}) for kind, one in arrays.items()}) for goals in (1, 2)]
    monkeypatch.setattr("wmlab.report.content.learning.StoredRun", lambda run, keys, store: run)
    figures = list(learning(FakePlan(stored), {}, None))
    assert [figure.metric for figure in figures] == ["q.loss", "fit.loss"]
    assert [line.label for line in figures[0].lines] == ["goals = 1", "goals = 2"]
    page = drawings(ReportData({}, learning=tuple(figures)))
    assert [(drawing.sort, drawing.chart.y_label) for drawing in page] == [
        ("curves", "loss of the agent's values"),
        ("curves", "loss of the world model's fit"),
    ]


def test_lines_are_told_by_the_axes_along_which_they_differ(monkeypatch):
    places = [{"method": method, "noise": noise} for method in ("fit", "solve") for noise in (0, 1)]
    fit = Result({"curve": np.ones(5)}, {"notes": {"steps": 500}})
    runs = [FakeRun(at, {"train": None, "extract": fit if at["method"] == "fit" else Result({}, {})}) for at in places]
    monkeypatch.setattr("wmlab.report.content.learning.StoredRun", lambda run, keys, store: run)
    (figure,) = learning(FakePlan(runs), {}, None)
    assert [line.label for line in figure.lines] == ["noise = 0", "noise = 1"]
    assert figure.lines[0].x[-1] == 500


@pytest.mark.parametrize(
    ("notes", "updates"), [({"updates": 3000}, 3000), ({"updates": 9, "polish": 400}, 400), ({}, 200)]
)
def test_the_curve_of_a_fit_ends_at_its_last_update_however_few_means_it_keeps(notes, updates, monkeypatch):
    fit = Result({"curve": np.ones(200)}, {"notes": notes})
    stored = [FakeRun({}, {"train": Result({"curves/loss": np.ones(5)}, {"notes": {"updates": 7}}), "extract": fit})]
    monkeypatch.setattr("wmlab.report.content.learning.StoredRun", lambda run, keys, store: run)
    agent, model = learning(FakePlan(stored), {}, None)
    assert agent.lines[0].x[-1] == 5  # a training keeps every update
    assert model.lines[0].x[-1] == updates and len(model.lines[0].x) == BINS


def learnt(axes, monkeypatch):
    """The figure of the losses of a whole sweep, of which no two points learn alike."""
    places = [dict(zip(axes, labels, strict=True)) for labels in itertools.product(*axes.values())]
    runs = [
        FakeRun(where, {"train": Result({"curves/loss": np.full(3, at)}), "extract": None})
        for at, where in enumerate(places)
    ]
    monkeypatch.setattr("wmlab.report.content.learning.StoredRun", lambda run, keys, store: run)
    (figure,) = learning(FakePlan(runs), {}, None)
    return figure


def test_all_sixteen_points_of_a_sweep_over_two_axes_are_drawn_in_panels(monkeypatch):
    figure = learnt({"depth": [1, 2, 3, 4], "width": [32, 64, 128, 256]}, monkeypatch)
    assert figure.left_out == 0 and len(figure.lines) == 16
    assert figure.panels == tuple(f"depth = {depth}" for depth in (1, 2, 3, 4))
    assert [line.label for line in figure.lines if line.panel == "depth = 4"] == [
        f"width = {width}" for width in (32, 64, 128, 256)
    ]
    assert "depth = 4, width = 256: 15" in describe_curves(figure)


def test_only_figures_of_several_panels_take_the_width_of_a_page(monkeypatch):
    panelled = learnt({"depth": [1, 2, 3, 4], "width": [32, 64, 128, 256]}, monkeypatch)
    single = learnt({"depth": [1, 2]}, monkeypatch)
    [group] = gallery(ReportData({}, learning=(panelled, single)))
    assert [item.wide for item in group.items] == [True, False]


def test_panels_go_by_an_axis_of_few_labels_and_few_points_have_none(monkeypatch):
    figure = learnt({"goals": list(range(20)), "size": [1, 2]}, monkeypatch)
    assert figure.panels == ("size = 1", "size = 2") and figure.left_out == 40 - 2 * MOST_LINES
    assert learnt({"depth": [1, 2], "width": [1, 2, 3]}, monkeypatch).panels == ("",)
    figure = learnt({"goals": list(range(20))}, monkeypatch)
    assert figure.panels == ("",) and figure.left_out == 20 - MOST_LINES


def test_a_label_has_one_colour_in_all_panels_and_stands_in_the_legend_once(monkeypatch):
    figure = learnt({"depth": [1, 2, 3, 4], "width": [32, 64, 128, 256]}, monkeypatch)
    painted = []
    monkeypatch.setattr(
        charts, "picture", lambda paint, size: painted.append(Figure(figsize=size)) or paint(painted[0])
    )
    charts.curve_chart(figure)
    assert [axes.get_title() for axes in painted[0].axes] == list(figure.panels)
    colours = [[line.get_color() for line in axes.lines] for axes in painted[0].axes]
    assert len({*colours[0]}) == 4 and all(each == colours[0] for each in colours)
    assert [entry.get_text() for entry in painted[0].legends[0].texts] == [f"width = {w}" for w in (32, 64, 128, 256)]


class FakeRun:
    """A run with what its stages gave."""

    def __init__(self, where, results):
        self.where, self.results = where, results
        self.point = self

    def result(self, kind):
        return self.results[kind]


class FakePlan:
    def __init__(self, runs):
        self.runs = runs


# --- the kernel of a table ----------------------------------------------------------------------------------------


def table_run(kind="tabular", states=3, kept=None):
    mdp = SimpleNamespace(data={"kind": kind})
    space = FiniteSpace.named(states, ("stay", "go"))
    successors = np.stack([np.stack([[place, -1], [(place + 1) % states, place]]) for place in range(states)])
    probabilities = np.broadcast_to(np.array([[1.0, 0.0], [0.75, 0.25]]), successors.shape)
    result = Result({"successors": successors, "probabilities": probabilities}, {})
    run = SimpleNamespace(point=SimpleNamespace(experiment=SimpleNamespace(mdp=mdp)))
    return SimpleNamespace(run=run, space=space, place="", result=lambda kind: kept if kind == "explore" else result)


def test_the_kernel_of_a_table_is_a_matrix_for_each_action():
    (sheet,) = kernels(table_run())
    assert [panel.title for panel in sheet.panels] == ["stay", "go"] and sheet.x_range == (-0.5, 2.5)
    np.testing.assert_array_equal(sheet.panels[0].values, np.eye(3))
    assert sheet.panels[1].values[1, 0] == 0.75 and sheet.panels[1].values[0, 0] == 0.25  # [next state, state]
    assert sheet.note == "As it was read out of the values, a panel for each action. States: 0 s0, 1 s1, 2 s2."


def test_the_true_kernel_stands_beside_the_models_on_one_scale_where_it_is_known():
    following = np.array([[[0, -1], [1, 2]], [[1, -1], [2, -1]], [[2, -1], [0, -1]]])
    truth = np.array([[[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]])
    kept = {"next": following, "truth": truth, "left_out": np.zeros((3, 2), int)}
    (sheet,) = kernels(table_run(kept=Result(kept, {})))
    titles = ["stay, the world", "stay, the model", "go, the world", "go, the model"]
    assert [panel.title for panel in sheet.panels] == titles and sheet.columns == 4
    assert {panel.scale for panel in sheet.panels} == {"probability"}
    world, model = sheet.panels[2].values, sheet.panels[3].values  # [next state, state]
    assert world[1, 0] == world[2, 0] == 0.5 and model[1, 0] == 0.75
    assert sheet.note.startswith("The true kernel, and as it was read out of the values, side by side for each action.")
    (sheet,) = kernels(table_run(kept=Result({**kept, "left_out": np.ones((3, 2), int)}, {})))
    assert "Of the world, the likeliest next states are drawn." in sheet.note
    unknown = Result({"next": following, "model": truth}, {})  # nobody says what actions do
    (sheet,) = kernels(table_run(kept=unknown))
    assert [panel.title for panel in sheet.panels] == ["stay", "go"]


def test_other_worlds_and_large_tables_have_no_such_picture():
    assert list(kernels(table_run("gridworld"))) == []
    assert list(kernels(table_run(states=61))) == []


@pytest.mark.parametrize("width", ["4.3in", "3.25in"])
@pytest.mark.parametrize("count", [1, 9])
def test_the_legend_of_many_lines_stays_within_the_figure(count, width, monkeypatch):
    lines = [
        Line(f"depth = {i}, width = {100 + i}", (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)) for i in range(count)
    ]
    boxes = []

    def measured(paint, size):
        figure = Figure(figsize=(page_width(), size[1]), layout="constrained")
        FigureCanvasAgg(figure)
        with matplotlib.rc_context(STYLE):
            paint(figure)
            figure.draw_without_rendering()
        boxes.append((figure.bbox, [legend.get_window_extent() for legend in figure.legends]))

    monkeypatch.setattr(charts, "picture", measured)
    with chosen(FigureStyle(width=width)):
        charts.curve_chart(MetricCurves("q.loss", "", "updates", "loss", tuple(lines), None, 0))
    [(page, legends)] = boxes
    assert len(legends) == (count > 1)
    for legend in legends:
        assert page.x0 <= legend.x0 and legend.x1 <= page.x1 and legend.height < page.height / 2
