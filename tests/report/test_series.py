"""What figures show is taken from the results as the spec asks, and the plan stays small."""

from __future__ import annotations

import pytest

from tests.report import sample
from wmlab.report import series
from wmlab.report.data import KindEdge, PlanRows, StageRow
from wmlab.report.plan_graph import draw, layers, summaries, worth_listing
from wmlab.results.assemble import steps_of_all, with_steps

TWO_AXES = {"depth": {"values": [1, 2]}, "width": {"values": [16, 32, 64]}}


def two_axes(**report: object) -> dict:
    metrics = {}
    for depth in (1, 2):
        for width in (16, 32, 64):
            curve = {"mean": [depth * 1.0, width * 1.0], "se_over_seeds": [0.5, None], "n": [2, 1]}
            where = {"depth": depth, "width": width}
            record = {"metric": "wm.mse", "where": where, "values": [1.0], "mean": depth * width / 10, "n": 1}
            metrics[f"depth={depth},width={width}/wm.mse"] = {**record, "curve": curve}
    return {"seeds": [0], "axes": TWO_AXES, "steps": [100, 200], "metrics": metrics, "report": report}


def test_curves_have_one_line_for_each_value_of_the_axis() -> None:
    first, second, _ = series.curves(sample.results())
    assert [line.label for line in first.lines] == ["goals = 5", "goals = 10", "goals = 20", "goals = 68"]
    assert first.lines[0].x == tuple(sample.STEPS) and first.x_label == "environment steps"
    assert first.reference is None and second.reference == pytest.approx(0.87123456789)


def test_points_that_trained_for_other_lengths_have_steps_of_their_own() -> None:
    results = {**two_axes(curves={"metrics": ["wm.mse"], "slices": [{"depth": 1}]}), "steps": []}
    results["metrics"] = {
        name: with_steps(entry, [{"depth": 1, "width": 16}, {"depth": 1, "width": 32}], [[10, 20], [30, 60]])
        for name, entry in results["metrics"].items()
        if entry["where"] != {"depth": 1, "width": 64}
    }
    (chart,) = series.curves(results)
    assert [line.x for line in chart.lines] == [(10, 20), (30, 60)] and chart.x_label == "environment steps"
    assert steps_of_all([[10, 20], [30, 60]]) == [] and steps_of_all([[10, 20], [], [10, 20]]) == [10, 20]


def test_over_two_axes_lines_run_along_one_and_figures_along_the_other() -> None:
    found = series.curves(two_axes(curves={"metrics": ["wm.mse"], "one_line_per": "width"}))
    assert [(chart.place, len(chart.lines)) for chart in found] == [("depth = 1", 3), ("depth = 2", 3)]
    sliced = series.curves(
        two_axes(curves={"metrics": ["wm.mse"], "slices": [{"depth": 2}, {"width": 64}, {"width": 7}]})
    )
    assert [[line.label for line in chart.lines] for chart in sliced] == [
        ["width = 16", "width = 32", "width = 64"],
        ["depth = 1", "depth = 2"],
    ]


def test_a_band_ends_one_standard_error_from_the_mean_and_is_absent_where_there_is_none() -> None:
    (chart,) = series.curves(two_axes(curves={"metrics": ["wm.mse"], "slices": [{"depth": 1, "width": 16}]}))
    assert (chart.lines[0].low, chart.lines[0].high) == ((0.5, None), (1.5, None))


def test_the_curve_of_a_relation_has_its_own_interval() -> None:
    curve = {"value": [None, -0.9], "ci": [None, [-0.95, -0.8]], "n": [1, 42]}
    relation = {"metric": "relate.r.spearman", "where": {}, "value": -0.9, "ci": [-0.95, -0.8], "n": 42, "curve": curve}
    results = {"metrics": {"relate.r.spearman": relation}, "report": {"curves": {"metrics": ["relate.r.spearman"]}}}
    (chart,) = series.curves(results)
    assert chart.lines[0].mean == (None, -0.9) and chart.lines[0].low == (None, -0.95)
    assert chart.x_label == "checkpoint"


def test_too_many_lines_are_cut_and_counted() -> None:
    results = two_axes(curves={"metrics": ["wm.mse"]})
    for index in range(20):
        results["metrics"][f"extra{index}"] = results["metrics"]["depth=1,width=16/wm.mse"]
    (chart,) = series.curves(results)
    assert len(chart.lines) == series.MOST_LINES and chart.left_out == 26 - series.MOST_LINES


def test_bars_set_the_models_return_beside_the_optimum() -> None:
    one, _ = series.bars(sample.results())
    assert (one.goal, one.labels) == ("one_unsafe", ("5", "10", "20", "68"))
    assert all(
        best[0] is not None and model[0] is not None and best[0] >= model[0]
        for best, model in zip(one.best, one.model, strict=True)
    )


def test_without_an_axis_goals_stand_side_by_side() -> None:
    metrics = {
        f"unseen.{goal}.{what}": sample.entry(f"unseen.{goal}.{what}", {}, [0.5])
        for goal in ("near", "far", "mean")
        for what in ("r_star", "r_wm")
    }
    (chart,) = series.bars({"seeds": [0], "metrics": metrics})
    assert chart.labels == ("near", "far") and chart.best == ((0.5, None), (0.5, None))


def test_a_heatmap_needs_both_axes_and_keeps_holes() -> None:
    results = two_axes(heatmaps={"metrics": ["wm.mse", "wm.tv"], "rows": "depth", "columns": "width"})
    del results["metrics"]["depth=2,width=32/wm.mse"]
    (chart,) = series.heats(results)
    assert chart.values == ((1.6, 3.2, 6.4), (3.2, None, 12.8))
    assert series.heats(sample.results()) == []


def test_a_third_axis_gives_a_heatmap_for_each_of_its_labels() -> None:
    results = two_axes(heatmaps={"metrics": ["wm.mse"], "rows": "depth", "columns": "width"})
    results["axes"] = {**TWO_AXES, "noise": {"values": ["low", "high"]}}
    results["metrics"] = {
        f"{name},{noise}": {**entry, "where": {**entry["where"], "noise": noise}, "mean": entry["mean"] * factor}
        for name, entry in results["metrics"].items()
        for noise, factor in (("low", 1), ("high", 10))
    }
    low, high = series.heats(results)
    assert (low.place, low.values) == ("noise = low", ((1.6, 3.2, 6.4), (3.2, 6.4, 12.8)))
    assert (high.place, high.values[0]) == ("noise = high", (16.0, 32.0, 64.0))


def test_what_is_asked_for_and_has_no_numbers_is_named() -> None:
    asked = {"metrics": ["wm.mse", "wm.tv"]}
    results = two_axes(heatmaps={**asked, "rows": "depth", "columns": "width"}, curves=asked)
    assert series.not_drawn(results) == [
        "report.curves of wm.tv: no checkpoint of it was measured in this run",
        "report.heatmaps of wm.tv: no point has a number in this run",
    ]


def test_kinds_are_layered_by_their_longest_way_even_in_a_ring() -> None:
    edges = [KindEdge("a", "b"), KindEdge("b", "c"), KindEdge("a", "c"), KindEdge("c", "c")]
    assert layers(["a", "b", "c"], edges) == {"a": 0, "b": 1, "c": 2}
    assert max(layers(["a", "b"], [KindEdge("a", "b"), KindEdge("b", "a")]).values()) <= 1


def test_four_thousand_stages_are_drawn_as_six_boxes_and_listed_by_what_matters() -> None:
    plan = sample.plan(seeds=100, points=10)
    stages = list(plan.stages)
    stages[2500] = StageRow("broken", "track", "failed")
    plan = PlanRows(tuple(stages), plan.edges)
    drawing = draw(plan)
    assert len(plan.stages) == 4002 and len(drawing.boxes) == 6 and drawing.width < 1100
    listed, left_out = worth_listing(plan.stages)
    assert (listed[0].label, len(listed), left_out) == ("broken", 200, 3802)
    assert next(kind for kind in summaries(plan) if kind.kind == "track").failed


def test_an_empty_plan_is_an_empty_drawing() -> None:
    assert draw(PlanRows()).boxes == () and worth_listing(()) == ([], 0)
