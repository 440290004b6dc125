"""wmlab diff: what is different, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from wmlab.app.diff import compare
from wmlab.cli.diff import show_difference
from wmlab.errors import UsageError, WmlabError

SPECS = Path(__file__).parents[1] / "specs" / "valid"
MAZE = str(SPECS / "maze.yaml")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path))


def test_a_spec_does_not_differ_from_itself():
    found = compare([MAZE, MAZE])
    assert found.empty and show_difference(found).endswith("\nno difference")
    assert all(row.same and not row.differ for row in found.stages[0])


def test_a_changed_value_is_shown_with_both_places_and_with_the_stages_that_it_changes():
    found = compare([MAZE], sets=["agent.discount=0.5"])
    (value,) = found.values
    assert value.path == "agent.discount" and value.values[1] == 0.5
    assert "maze.yaml:" in value.sources[0] and value.sources[1] == "--set agent.discount=0.5"
    why = {row.role: row.why for row in found.stages[0] if row.differ}
    assert why["train"] == ("agent.discount",) and why["extract"] == ("input 'agent'",)
    assert json.loads(show_difference(found, "json"))["values"][0]["path"] == "agent.discount"


def test_two_profiles_of_one_spec():
    found = compare([str(SPECS / "profiles.yaml")], profiles=["laptop", "smoke"])
    assert [value.path for value in found.values] == ["seeds", "sweep.goals"]
    (train,) = (row for row in found.stages[0] if row.role == "train")
    assert train.differ == 0 and train.only_one > 0  # the same question, asked at fewer points
    alone = sum(row.only_one for row in found.stages[0])
    assert f"stages the same, 0 not, {alone} only in A" in show_difference(found)


def test_a_stage_that_points_share_is_counted_once(tmp_path):
    spec = tmp_path / "ties.yaml"
    maze = Path(MAZE).read_text().partition("claims:")[0]
    spec.write_text(maze + "sweep: {ties: {extract.tie_break: [vertex, least_norm]}}\n")
    for change, train, extract in (("agent.discount=0.5", (0, 1), (0, 2)), ("extract.norm=l1", (1, 0), (2, 0))):
        found = compare([str(spec)], sets=[change])
        counts = {row.role: (row.same, row.differ) for row in found.stages[0]}
        assert counts["train"] == train and counts["extract"] == extract


def test_another_kind_is_shown_without_the_defaults_of_either():
    found = compare([MAZE], sets=["extract={kind: tabular_p_learning, steps: 50}"])
    assert [value.path for value in found.values] == ["extract.kind", "extract.steps"]


def test_two_results_are_compared_by_their_metrics(tmp_path):
    for name, value in (("a", 0.5), ("b", 0.25)):
        metrics = {"wm.tv": {"mean": value}, "fit.residual": {"mean": 0.0}}
        text = json.dumps({"spec": "x", "profile": name, "metrics": metrics})
        (tmp_path / f"{name}.json").write_text(text)
    found = compare([str(tmp_path / "a.json"), str(tmp_path / "b.json")])
    assert [(row.name, row.values) for row in found.metrics] == [("wm.tv", (0.5, 0.25))]
    assert found.same_metrics == 1 and [value.path for value in found.values] == ["profile"]
    assert "wm.tv  0.5 → 0.25" in show_difference(found)


def write_results(folder, **sides):
    """A results.json of each side, with one metric and one claim; None: nothing was measured."""
    for name, values in sides.items():
        entry = values and {"mean": sum(values) / len(values), "values": values}
        claims = values and [{"id": "near", "holds": entry["mean"] < 1}]
        found = {
            "spec": "x",
            "profile": name,
            "metrics": {"wm.tv": entry, "fit.residual": {"mean": 0.0}} if values else {},
        }
        (folder / f"{name}.json").write_text(json.dumps({**found, "claims": claims or []}))
    return [str(folder / f"{name}.json") for name in sides]


def test_three_results_are_each_held_against_the_first(tmp_path):
    found = compare(write_results(tmp_path, a=[0.5, 0.6], b=[2.5, 2.6], c=[0.5, 0.6]))
    (metric,) = found.metrics
    assert metric.values == (0.55, 2.55, 0.55) and metric.within == (False, True) and found.same_metrics == 1
    assert [(claim.id, claim.verdicts) for claim in found.claims] == [("near", ("holds", "fails", "holds"))]
    assert [(value.path, value.values) for value in found.values] == [("profile", ("a", "b", "c"))]
    lines = [" ".join(line.split()) for line in show_difference(found).splitlines()]
    assert [line[:3] for line in lines[:3]] == ["A: ", "B: ", "C: "]
    assert "wm.tv 0.55 → 2.55 beyond chance → 0.55" in lines and "near holds → fails → holds" in lines


def test_a_side_that_differs_by_rounding_alone_is_shown_as_the_first_where_another_differs(tmp_path):
    files = write_results(tmp_path, a=[0.5], b=[0.5 + 1e-12], c=[0.25])
    assert "wm.tv 0.5 → 0.5 → 0.25" in " ".join(show_difference(compare(files)).split())
    cells = compare(files).metrics[0].cells
    assert [cell.text for cell in cells] == ["0.5000", "0.5000", "0.2500"] and cells[1].chance == "as A"
    assert "0.5 → 0.500000000001" in show_difference(compare(files[:2], exact=True))


def test_a_row_is_shown_where_any_side_differs_and_a_side_without_numbers_differs_in_none(tmp_path):
    found = compare(write_results(tmp_path, a=[0.5], b=[0.5], c=[0.25], d=None))
    assert [row.values for row in found.metrics] == [(0.5, 0.5, 0.25, None)]
    assert not compare(write_results(tmp_path, a=[0.5], b=None, c=[0.5])).metrics


def test_more_than_two_sides_are_lists_in_json_and_two_are_one_and_the_other(tmp_path):
    files = write_results(tmp_path, a=[0.5], b=[0.25], c=[0.125])
    two = json.loads(show_difference(compare(files[:2]), "json"))
    assert two["metrics"] == [{"name": "wm.tv", "one": 0.5, "other": 0.25, "interval": None}]
    assert [*two] == ["one", "other", "values", "stages", "metrics", "same_metrics", "claims"]
    assert [*two["values"][0]] == ["path", "one", "other", "one_source", "other_source"]
    more = json.loads(show_difference(compare(files), "json"))
    assert more["metrics"] == [{"name": "wm.tv", "values": [0.5, 0.25, 0.125], "intervals": [None, None]}]
    assert len(more["sides"]) == 3 and more["values"][0]["values"] == ["a", "b", "c"]


def test_profiles_of_a_spec_are_sides_and_set_changes_all_but_the_first():
    spec = str(SPECS / "profiles.yaml")
    found = compare([spec], ["full", "laptop", "smoke"], ["agent.discount=0.5"])
    assert [title.partition(" ")[2] for title in found.sides] == [
        "(full)",
        "(laptop, agent.discount=0.5)",
        "(smoke, agent.discount=0.5)",
    ]
    discount = next(value for value in found.values if value.path == "agent.discount")
    assert discount.values[1:] == (0.5, 0.5) and discount.sources[2] == "--set agent.discount=0.5"
    assert len(found.stages) == 2 and len(found.data["stages"]) == 2
    text = show_difference(found)
    assert "plan of B: " in text and "plan of C: " in text and "only in C" not in text.partition("plan of C")[0]


def test_a_suite_s_member_that_a_side_lacks_is_compared_among_the_others(tmp_path):
    maze = Path(MAZE).read_text()
    for name, members in (("a", "[one, two]"), ("b", "[one]"), ("c", "[one, two]")):
        (tmp_path / f"{name}.yaml").write_text(
            f"wmlab: 1\nname: {name}\nsuite: {members.replace('one', 'one.yaml').replace('two', f'{name}/two.yaml')}\n"
        )
        (tmp_path / name).mkdir()
        discount = maze.replace("discount: 0.9", "discount: 0.5") if name == "c" else maze
        (tmp_path / name / "two.yaml").write_text(discount.replace("name: maze", "name: two"))
    (tmp_path / "one.yaml").write_text(maze.replace("name: maze", "name: one"))
    found = compare([str(tmp_path / f"{name}.yaml") for name in "abc"])
    rows = {value.path: value.values for value in found.values}
    assert rows == {"two": ("full", None, "full"), "two: agent.discount": (0.9, None, 0.5)}


def test_what_cannot_be_compared_says_why(tmp_path):
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(UsageError, match="compare with what"):
        compare([MAZE])
    with pytest.raises(UsageError, match="a spec and a results.json"):
        compare([MAZE, str(tmp_path / "a.json")])
    with pytest.raises(WmlabError, match="is no results.json"):
        compare([str(tmp_path / "a.json")] * 2)
    with pytest.raises(UsageError, match="once for all sides, or once for each"):
        compare([MAZE, MAZE], profiles=["a", "b", "c"])
    with pytest.raises(UsageError, match="at most 26 sides"):
        compare([MAZE] * 27)


def test_a_difference_is_found_without_jax():
    code = f"import sys; from wmlab.app.diff import compare as c; c([{MAZE!r}] * 2); print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
