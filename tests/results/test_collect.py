"""From what seeds gave to named results."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.results.collect import collect
from wmlab.results.names import at_step, estimate, failed_seeds, label_text, name_of, same_label, steps_of

labels = st.integers() | st.floats(allow_nan=False) | st.booleans() | st.text("abc_.-+ é", min_size=1)
axes = st.dictionaries(st.text("abcdefg_", min_size=1, max_size=6), labels, max_size=4)


def value(number, **more):
    return {"value": number, **more}


@settings(deadline=None)
@given(axes, axes)
def test_two_results_have_one_name_only_where_their_points_read_the_same(one, other):
    texts = [{axis: label_text(label) for axis, label in where.items()} for where in (one, other)]
    assert (name_of(one, "wm.mse") == name_of(other, "wm.mse")) == (texts[0] == texts[1])


def test_axes_stand_in_alphabetical_order_and_no_axes_make_no_prefix():
    assert name_of({"width": 512, "depth": 4}, "wm.mse") == "depth=4,width=512/wm.mse"
    assert name_of({}, "wm.mse") == "wm.mse"
    assert name_of({"epsilon": 1e-4, "on": True}, "q.nmse") == "epsilon=0.0001,on=true/q.nmse"


@pytest.mark.parametrize("label", ["a/b", "a,b", "a=b", ""])
def test_labels_that_would_break_a_name_are_refused(label):
    with pytest.raises(ValueError, match="results are named by it"):
        name_of({"axis": label}, "wm.mse")


def test_labels_are_the_same_as_numbers_or_as_text_and_true_is_not_one():
    assert same_label(20, 20.0) and same_label(20, "20") and same_label("a", "a") and same_label(True, "true")
    assert not same_label(True, 1) and not same_label(2, "2.0") and not same_label("a", "b")


def test_results_have_the_shape_of_the_language():
    outputs = [[{"wm.mse": value(0.5)}, {"wm.mse": value(0.25)}, {"wm.mse": value(0.75)}]]
    assert collect([{"goals": 20}], [0, 1, 2], outputs) == {
        "goals=20/wm.mse": {
            "metric": "wm.mse",
            "where": {"goals": 20},
            "values": [0.5, 0.25, 0.75],
            "mean": 0.5,
            "se_over_seeds": pytest.approx(0.25 / math.sqrt(3)),
            "n": 3,
        }
    }


def test_a_failed_seed_keeps_its_place_and_is_not_counted():
    found = collect([{}], [0, 1, 2], [[{"a": value(1.0)}, None, {"a": value(3.0)}]])["a"]
    assert found["values"] == [1.0, None, 3.0] and found["n"] == 2 and found["mean"] == 2.0
    assert failed_seeds(found) == 1


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(-1e3, 1e3), min_size=1, max_size=8))
def test_n_is_the_number_of_seeds_that_gave_a_number(numbers):
    outputs = [[{"a": value(number), "b": value(1.0)} if number is not None else None for number in numbers]]
    found = collect([{}], range(len(numbers)), outputs)
    present = [number for number in numbers if number is not None]
    if not present:
        assert found == {}
        return
    for entry in found.values():
        assert len(entry["values"]) == len(numbers) and entry["n"] == len(present)
        assert [one is None for one in entry["values"]] == [number is None for number in numbers]


def test_a_metric_that_one_seed_lacks_is_null_there():
    found = collect([{}], [0, 1], [[{"a": value(1.0), "b": value(2.0)}, {"a": value(1.0), "b": None}]])
    assert found["b"]["values"] == [2.0, None] and found["b"]["n"] == 1
    assert collect([{}], [0, 1], [[{"a": value(1.0), "b": value(2.0)}, {"a": value(1.0)}]]) == found


def test_a_point_where_every_seed_failed_stands_with_no_values():
    found = collect([{"x": 1}, {"x": 2}], [0, 1], [[{"a": value(1.0)}, {"a": value(1.0)}], [None, None]])
    assert found["x=2/a"] == {
        "metric": "a",
        "where": {"x": 2},
        "values": [None, None],
        "mean": None,
        "se_over_seeds": None,
        "n": 0,
    }


def test_points_may_make_different_metrics():
    found = collect([{"variant": "a"}, {"variant": "b"}], [0], [[{"one": value(1)}], [{"two": value(2)}]])
    assert list(found) == ["variant=a/one", "variant=b/two"]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_what_is_not_a_finite_number_is_null_with_a_note_and_results_are_json(number):
    found = collect([{}], [7, 8], [[{"a": value(number)}, {"a": value(1.0)}]])
    assert found["a"]["values"] == [None, 1.0] and found["a"]["n"] == 1
    assert found["a"]["notes"] == [f"seed 7: {float(number)}, not a finite number"]
    json.dumps(found, allow_nan=False)


def test_numbers_keep_their_full_precision():
    outputs = [[{"a": value(np.float64(0.1) + 0.2), "b": value(np.int64(3)), "c": value(np.bool_(True))}]]
    found = json.loads(json.dumps(collect([{}], [0], outputs)))
    assert found["a"]["values"] == [0.1 + 0.2] and found["b"]["values"] == [3] and found["c"]["values"] == [1]


def test_curves_are_summarised_at_each_checkpoint():
    outputs = [[{"a": value(3.0, curve=[1.0, 3.0])}, {"a": value(5.0, curve=np.array([math.nan, 5.0]))}, None]]
    found = collect([{}], [0, 1, 2], outputs)["a"]
    curve = found["curve"]
    assert curve["values"] == [[1.0, 3.0], [None, 5.0], None]
    assert curve["mean"] == [1.0, 4.0] and curve["n"] == [1, 2] and curve["se_over_seeds"] == [None, 1.0]
    assert found["notes"] == ["seed 1, step 0: nan, not a finite number"]
    assert steps_of(found) == 2 and at_step(found, "final") is found
    first = at_step(found, "first")
    assert first["values"] == [1.0, None, None] and estimate(first) == 1.0 and first == at_step(found, 0)
    assert at_step(found, 2) is None and at_step(found, -1) is None


def test_a_shorter_curve_is_padded_and_noted():
    found = collect([{}], [0, 1], [[{"a": value(1.0, curve=[1.0, 1.0])}, {"a": value(1.0, curve=[1.0])}]])["a"]
    assert found["curve"]["values"] == [[1.0, 1.0], [1.0, None]] and found["curve"]["n"] == [2, 1]
    assert found["notes"] == ["seed 1: 1 values of step where others have 2"]


def test_breakdowns_are_summarised_number_by_number():
    outputs = [
        [
            {"a": value(1.0, by={"dimension": {"x": 1.0, "v": 2.0}, "action": [1.0, 2.0]})},
            {"a": value(1.0, by={"dimension": {"x": 3.0}, "action": [3.0, 2.0]})},
            None,
        ]
    ]
    found = collect([{}], [0, 1, 2], outputs)["a"]["by"]
    assert found["dimension"]["x"] == {"values": [1.0, 3.0, None], "mean": 2.0, "se_over_seeds": 1.0, "n": 2}
    assert found["dimension"]["v"]["n"] == 1 and found["action"]["mean"] == [2.0, 2.0]


def test_outputs_of_another_shape_and_points_that_stand_twice_are_refused():
    with pytest.raises(ValueError, match="expected outputs for 1 points and 2 seeds"):
        collect([{}], [0, 1], [[None]])
    with pytest.raises(ValueError, match="x=1 stands twice"):
        collect([{"x": 1}, {"x": 1}], [0], [[{"a": value(1)}], [{"a": value(1)}]])


def unseen(**goals):
    return {
        f"unseen.{goal}.{field}": value(number) for goal, fields in goals.items() for field, number in fields.items()
    }


def test_the_mean_over_unseen_goals_is_made_per_seed_and_its_ratio_is_one_of_means():
    output = unseen(near={"r_wm": 0.9, "r_star": 1.0, "ratio": 0.9}, far={"r_wm": 0.0, "r_star": 0.1, "ratio": 0.0})
    found = collect([{}], [0], [[output]])
    assert found["unseen.mean.r_wm"]["mean"] == pytest.approx(0.45)
    assert found["unseen.mean.r_star"]["mean"] == pytest.approx(0.55)
    assert found["unseen.mean.ratio"]["mean"] == pytest.approx(0.45 / 0.55)  # the mean of ratios would be 0.45


def test_a_goal_that_cannot_be_reached_leaves_the_mean_ratio_defined():
    output = unseen(near={"r_wm": 0.5, "r_star": 1.0}, never={"r_wm": 0.0, "r_star": 0.0})
    assert collect([{}], [0], [[output]])["unseen.mean.ratio"]["mean"] == 0.5
    nothing = collect([{}], [0], [[unseen(never={"r_wm": 0.0, "r_star": 0.0})]])["unseen.mean.ratio"]
    assert nothing["mean"] is None and "notes" not in nothing  # a finding says so in words


def test_a_seed_that_lacks_a_goal_has_no_mean_over_goals():
    whole = unseen(a={"r_wm": 1.0, "r_star": 1.0}, b={"r_wm": 0.0, "r_star": 1.0})
    found = collect([{}], [0, 1], [[whole, unseen(a={"r_wm": 1.0, "r_star": 1.0})]])
    assert found["unseen.mean.r_wm"]["values"] == [0.5, None]
    assert found["unseen.mean.ratio"]["values"] == [0.5, None]


def test_the_mean_over_goals_has_a_curve_where_the_goals_have_one():
    output = {
        "unseen.a.r_wm": value(1.0, curve=[0.0, 1.0]),
        "unseen.b.r_wm": value(0.5, curve=[0.5, 0.5]),
        "unseen.a.r_star": value(1.0),
        "unseen.b.r_star": value(1.0),
    }
    found = collect([{}], [0], [[output]])
    assert found["unseen.mean.r_wm"]["curve"]["mean"] == [0.25, 0.75]
    assert found["unseen.mean.ratio"]["curve"]["mean"] == [0.25, 0.75] and "curve" not in found["unseen.mean.r_star"]


def test_without_the_true_world_only_the_believed_return_is_averaged():
    found = collect([{}], [0], [[unseen(a={"r_believed": 1.0}, b={"r_believed": 0.0})]])
    assert found["unseen.mean.r_believed"]["mean"] == 0.5 and "unseen.mean.ratio" not in found
