"""Tables for terminals, papers and programs: what matters first, nothing by surprise, every digit where it counts."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.report import sample
from wmlab.errors import UsageError
from wmlab.registry.metrics import measurements
from wmlab.report.latex import latex_number
from wmlab.report.listing import chosen_entries, headlines, listings
from wmlab.report.listing_formats import as_csv, as_json, as_latex, as_markdown

LABELS = [1, 20]


def study(metrics=("wm.mse", "wm.l1_max", "agent.return"), **more):
    """Two seeds at two points of one axis, and a relation across them."""
    entries = {
        f"goals={label}/{metric}": sample.entry(metric, {"goals": label}, [0.1 * label, 0.3 * label])
        for label in LABELS
        for metric in metrics
    }
    relation = {"metric": "relate.trend.spearman", "where": {}, "value": 0.5, "ci": [0.25, 0.75], "n": 2}
    return {
        "spec": "study",
        "profile": "smoke",
        "seeds": [4, 7],
        "axes": {"goals": {"paths": ["goals.at.first"], "values": LABELS}},
        "metrics": {**entries, "relate.trend.spearman": relation},
        "claims": [],
        "report": {},
        **more,
    }


def names(entries) -> list[str]:
    return list(dict.fromkeys(entry["metric"] for entry in entries))


def shown(results, *asked, by=None, everything=False):
    return listings(results, chosen_entries(results, asked, everything), by)


# --- which metrics -------------------------------------------------------------------------------------------------


def test_every_measurement_that_a_spec_can_ask_for_has_a_headline_or_stands_behind_another_one():
    without = [one.asked_by for one in measurements() if not any(metric.headline for metric in one.metrics)]
    assert without == [
        *["evaluate.fit"] * 2,  # how values fit themselves, and rewards a log
        "evaluate.identify.bounds.<theorem>",
        *["evaluate.model_error"] * 2,  # yardsticks
        "evaluate.unseen.goals.<goal>.watch.<variable>",
    ]


def test_headlines_are_few_and_in_the_order_of_their_declarations():
    known = ["wm.l1_max", "unseen.door.ratio", "unseen.door.r_believed", "wm.mse", "agent.return", "made.up"]
    assert headlines(known) == ["agent.return", "wm.mse", "unseen.door.ratio"]


def test_without_a_true_world_what_the_model_promises_is_a_headline():
    known = ["fit.residual", "fit.residual_max", "ident.width", "ident.rank", "unseen.door.r_believed"]
    assert headlines(known) == ["ident.rank", "ident.width", "fit.residual", "unseen.door.r_believed"]


def test_the_mean_over_goals_is_a_headline_where_there_are_several():
    assert headlines(["unseen.mean.ratio", "unseen.a.ratio"]) == ["unseen.a.ratio"]
    both = ["unseen.mean.ratio", "unseen.a.ratio", "unseen.b.ratio"]
    assert headlines(both) == both


def test_what_a_spec_speaks_of_comes_first_and_everything_only_when_asked_for():
    results = study(claims=[{"metric": "wm.l1_max"}], report={"curves": {"metrics": ["wm.mse", "never.made"]}})
    assert names(chosen_entries(results)) == ["wm.l1_max", "wm.mse", "agent.return", "relate.trend.spearman"]
    assert names(chosen_entries(study())) == ["agent.return", "wm.mse", "relate.trend.spearman"]
    assert len(names(chosen_entries(study(), everything=True))) == 4


def test_where_nothing_is_a_headline_everything_is_shown():
    results = study(metrics=("wm.l1_max", "q.l1_max"))
    del results["metrics"]["relate.trend.spearman"]
    assert names(chosen_entries(results)) == ["wm.l1_max", "q.l1_max"]


def test_names_patterns_and_names_with_their_point_choose():
    assert names(chosen_entries(study(), ["agent.return", "wm.*"])) == ["agent.return", "wm.mse", "wm.l1_max"]
    assert [entry["where"] for entry in chosen_entries(study(), ["goals=20/wm.mse"])] == [{"goals": 20}]
    assert len(chosen_entries(study(), ["goals=1/*"])) == 3


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("wm.mes", "there is no metric 'wm.mes' here; did you mean 'wm.mse'?"),
        (
            "x*",
            "there is no metric 'x*' here; there are wm.mse, wm.l1_max, agent.return, relate.trend.spearman",
        ),
    ],
)
def test_an_unknown_metric_is_refused_with_what_there_is(asked, message):
    with pytest.raises(UsageError) as refusal:
        chosen_entries(study(), [asked])
    assert str(refusal.value) == message


# --- what stands where ---------------------------------------------------------------------------------------------


def test_a_short_axis_stands_across_and_a_relation_by_itself():
    table, relations = shown(study())
    assert (table.heads, table.columns) == (("metric",), ("goals=1", "goals=20"))
    assert [(row.labels, [cell.text for cell in row.cells]) for row in table.rows] == [
        (("agent.return",), ["0.20 ± 0.10", "4.0 ± 2.0"]),
        (("wm.mse",), ["0.20 ± 0.10", "4.0 ± 2.0"]),
    ]
    assert [cell.text for cell in relations.rows[0].cells] == ["0.5000 [0.2500, 0.7500]"]


def test_over_several_axes_points_are_rows_and_any_of_them_can_stand_across():
    grid = [{"goals": goals, "noise": noise} for goals in (1, 2) for noise in ("low", "high")]
    entries = {
        f"goals={at['goals']},noise={at['noise']}/{metric}": sample.entry(metric, at, [1.5])
        for at in grid
        for metric in ("wm.mse", "agent.return")
    }
    results = study(axes={"goals": {"values": [1, 2]}, "noise": {"values": ["low", "high"]}}, metrics=())
    results["metrics"] = entries
    (points,) = shown(results)
    assert (points.heads, points.columns) == (("goals", "noise"), ("agent.return", "wm.mse"))
    assert [row.labels for row in points.rows] == [("1", "low"), ("1", "high"), ("2", "low"), ("2", "high")]
    (across,) = shown(results, by="noise")
    assert (across.heads, across.columns) == (("metric", "goals"), ("noise=low", "noise=high"))
    assert [row.labels for row in across.rows][:2] == [("agent.return", "1"), ("agent.return", "2")]


def test_seeds_and_metrics_can_stand_across_too():
    (table,) = shown(study(), "wm.mse", by="seed")
    assert table.columns == ("seed=4", "seed=7")
    assert [cell.value for cell in table.rows[1].cells] == pytest.approx([2.0, 6.0])
    assert shown(study(), "wm.*", by="metric")[0].columns == ("wm.mse", "wm.l1_max")


def test_an_unknown_axis_is_refused_with_those_that_there_are():
    with pytest.raises(UsageError, match="--by gaols: there is no such axis; did you mean 'goals'?"):
        shown(study(), by="gaols")
    with pytest.raises(UsageError, match="--by depth: there is no such axis; say goals, metric or seed"):
        shown(study(), by="depth")


def test_seeds_that_are_missing_are_told():
    results = study()
    results["metrics"]["goals=1/wm.mse"] = sample.entry("wm.mse", {"goals": 1}, [0.25, None])
    assert shown(results, "wm.mse")[0].rows[0].cells[0].text == "0.2500 (1 of 2 seeds)"


# --- formats -------------------------------------------------------------------------------------------------------


def test_csv_has_every_digit_with_errors_and_counts_in_columns_of_their_own():
    rows = list(csv.reader(io.StringIO(as_csv(shown(study(), "wm.mse")))))
    assert rows[0] == ["metric", *(f"goals={at}{part}" for at in LABELS for part in ("", " se_over_seeds", " n"))]
    stored = study()["metrics"]["goals=20/wm.mse"]
    assert [float(cell) for cell in rows[1][4:]] == [stored["mean"], stored["se_over_seeds"], 2]


def test_json_is_what_is_stored():
    results = study()
    data = json.loads(as_json(results, chosen_entries(results, ["wm.mse"])))
    assert data["spec"] == "study" and data["seeds"] == [4, 7]
    assert [row["values"] for row in data["metrics"]] == [
        results["metrics"][f"goals={label}/wm.mse"]["values"] for label in LABELS
    ]


def test_markdown_and_latex_take_labels_as_they_are():
    results = study(axes={"kind": {"values": ["a|b_<i>"]}}, metrics=())
    results["metrics"] = {"kind=a|b_<i>/wm.mse": sample.entry("wm.mse", {"kind": "a|b_<i>"}, [1e-5, 3e-5])}
    tables = shown(results, by="metric")
    assert as_markdown(tables).splitlines() == [
        "| kind | wm.mse |",
        "|---|---:|",
        "| a\\|b\\_\\<i\\> | (2.0 ± 1.0)\u00a0×\u00a010⁻⁵ |",
    ]
    latex = as_latex(tables).splitlines()
    assert latex[1:3] == ["\\begin{tabular}{lr}", "\\toprule"] and latex[-1] == "\\end{tabular}"
    assert latex[5] == "a$|$b\\_$<$i$>$ & $(2.0 \\pm 1.0) \\times 10^{-5}$ \\\\"


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("–", "--"),
        ("−1.5", "$-1.5$"),
        ("∞", "$\\infty$"),
        ("12\u202f345", "$12\\,345$"),
        ("0.25 (1 of 2 seeds)", "$0.25$ (1 of 2 seeds)"),
        ("– (0 of 2 seeds)", "-- (0 of 2 seeds)"),
    ],
)
def test_numbers_are_mathematics_in_latex(text, latex):
    assert latex_number(text) == latex
