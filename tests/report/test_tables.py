"""Metrics in tables: every number with its kind and n, nothing dropped in silence."""

from __future__ import annotations

from tests.report import sample
from wmlab.report.data import ResolvedRow
from wmlab.report.tables import Quantity, by_section, metric_rows, pivot, widths


def entry(metric: str, where: dict, values: list, **more: object) -> dict:
    return {**sample.entry(metric, where, values), **more}


def test_a_pivot_has_a_column_for_each_value_of_the_axis() -> None:
    results = {
        "seeds": [0, 1],
        "axes": {"goals": {"paths": ["goals.at.first"], "values": [5, 20]}},
        "metrics": {
            "goals=5/wm.mse": entry("wm.mse", {"goals": 5}, [0.2, 0.4]),
            "goals=20/wm.mse": entry("wm.mse", {"goals": 20}, [0.1, None]),
            "goals=20/wm.tv": entry("wm.tv", {"goals": 20}, [0.1, 0.1]),
            "relate.a.pearson": {"metric": "relate.a.pearson", "where": {}, "value": 0.5, "n": 2},
        },
    }
    table = pivot(results)
    assert table is not None and table.columns == ("5", "20")
    cells = {metric: [(cell.text, cell.note) for cell in row] for metric, _, row in table.rows}
    assert cells == {
        "wm.mse": [("0.30 ± 0.10", ""), ("0.1000", "1 of 2 seeds")],
        "wm.tv": [("–", ""), ("0.1000 ± 0", "")],
    }


def test_there_is_no_pivot_without_an_axis_or_over_two() -> None:
    assert pivot({"axes": {}, "metrics": {}}) is None
    assert pivot({"axes": {"a": {"values": [1]}, "b": {"values": [1]}}, "metrics": {}}) is None


def test_a_single_seed_has_no_standard_error_and_a_failed_one_is_seen() -> None:
    rows = metric_rows(
        {
            "seeds": [0, 1, 2],
            "metrics": {
                "one": entry("one", {}, [0.5, None, None]),
                "two": entry("two", {}, [0.5, None, 0.7]),
                "none": entry("none", {}, [None, None, None]),
            },
        }
    )
    assert [(row.kind, row.n, row.expected) for row in rows] == [
        ("one seed", 1, 3),
        ("mean, s.e. over seeds", 2, 3),
        ("no seed finished", 0, 3),
    ]
    assert rows[0].spread is None and rows[1].spread is not None and rows[2].value.text == "–"
    assert [figure.text for figure in rows[1].values] == ["0.5000", "–", "0.7000"]


def test_a_relation_shows_its_interval_with_level_and_kind() -> None:
    relation = {"value": -0.9812, "ci": [-0.99, -0.95], "interval": "bootstrap_over_points", "level": 0.95, "n": 42}
    (row,) = metric_rows({"seeds": [0], "metrics": {"relate.return_and_error.spearman": relation}})
    assert row.spread is not None and row.spread.text == "[−0.9900, −0.9500]"
    assert (row.kind, row.n) == ("95 % interval, bootstrap over points", 42)


def test_full_precision_stays_behind_what_is_shown() -> None:
    (row,) = metric_rows({"seeds": [0], "metrics": {"wm.mse": entry("wm.mse", {}, [0.1 + 0.2])}})
    assert (row.value.text, row.value.exact) == ("0.3000", "0.30000000000000004")


def test_breakdowns_and_notes_come_with_their_metric() -> None:
    parts = {"action": {"up": {"values": [1.0, 2.0], "mean": 1.5, "se_over_seeds": 0.5, "n": 2}}, "max": [0.1, None]}
    record = entry("wm.nmse", {}, [1.0, 2.0], by=parts, notes=["seed 1: nan"], incomplete=["seed 2 failed"])
    (row,) = metric_rows({"seeds": [0, 1], "metrics": {"wm.nmse": record}})
    assert row.breakdown == (("action, up", "1.50 ± 0.50"), ("max", "0.1000, –"))
    assert row.notes == ("seed 1: nan", "seed 2 failed")


def test_columns_line_up_on_the_decimal_point() -> None:
    figures = [Quantity(text, "") for text in ("0.9993", "12.50", "68", "−1.200\u00a0×\u00a010⁻⁴", "[1.5, 2]")]
    splits = [("0", ".9993"), ("12", ".50"), ("68", ""), ("−1", ".200\u00a0×\u00a010⁻⁴"), ("[1.5, 2]", "")]
    assert [figure.split for figure in figures] == splits
    assert widths(figures[:3]) == 5 and widths([]) == 0


def test_settings_stand_under_their_top_level_key() -> None:
    rows = [ResolvedRow(path, 0, "default") for path in ("mdp.map", "goals.at[2]", "seeds", "mdp.slip.left")]
    sections = [(name, [row.path for row in members]) for name, members in by_section(rows)]
    assert sections == [("mdp", ["mdp.map", "mdp.slip.left"]), ("goals", ["goals.at[2]"]), ("seeds", ["seeds"])]
