"""Relations across points."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
import scipy.stats

from wmlab.errors import WmlabError
from wmlab.registry import build
from wmlab.results import relate as relations
from wmlab.results.collect import collect
from wmlab.sections.spec import Relate

POINTS = [{"depth": depth, "width": width} for depth in (1, 2, 3) for width in (16, 32, 64)]
X = [0.1, 0.3, 0.2, 0.5, 0.4, 0.7, 0.6, 0.9, 0.8]
Y = [0.9, 0.8, 0.7, 0.65, 0.5, 0.3, 0.35, 0.2, 0.1]
BOOTSTRAP = {"resample": "points", "resamples": 300, "level": 0.9, "seed": 0}


def results(failed=(), curve=False):
    """Two seeds a point, around X and Y; `failed` are (point, seed)."""
    outputs = []
    for p, (x, y) in enumerate(zip(X, Y, strict=True)):
        row = []
        for s, shift in enumerate((-0.01, 0.01)):
            made = {"agent.return": {"value": x + shift}, "wm.mse": {"value": y - shift}}
            if curve:
                made["agent.return"]["curve"] = [1 - x + shift, x + shift]
                made["wm.mse"]["curve"] = [y - shift, y - shift]
            row.append(None if (p, s) in failed else made)
        outputs.append(row)
    return collect(POINTS, [0, 1], outputs)


def relate(section, metrics, points, numbers=None):
    return relations.relate({name: build(Relate, one) for name, one in section.items()}, metrics, points, numbers)


def section(**changes):
    plain = {"x": "agent.return", "y": "wm.mse", "across": ["depth", "width"], "statistics": ["spearman", "pearson"]}
    return {"r": {**plain, "bootstrap": BOOTSTRAP, **changes}}


def test_a_relation_is_taken_over_means_of_seeds_and_says_what_it_is():
    found = relate(section(), results(), POINTS)
    assert list(found) == ["relate.r.spearman", "relate.r.pearson"]
    one = found["relate.r.spearman"]
    assert one["value"] == pytest.approx(scipy.stats.spearmanr(X, Y).statistic)
    assert one["ci"][0] <= one["value"] <= one["ci"][1]
    assert (one["interval"], one["level"], one["n"]) == ("bootstrap_over_points", 0.9, 9)
    assert one["metric"] == "relate.r.spearman" and one["where"] == {} and "incomplete" not in one
    assert found["relate.r.pearson"]["value"] == pytest.approx(scipy.stats.pearsonr(X, Y).statistic)
    json.dumps(found, allow_nan=False)


def test_the_same_seed_gives_the_same_interval():
    assert relate(section(), results(), POINTS) == relate(section(), results(), POINTS)


def test_without_a_bootstrap_there_is_no_interval():
    one = relate(section(bootstrap=None), results(), POINTS)["relate.r.pearson"]
    assert one["ci"] is None and one["interval"] is None and one["level"] is None and one["n"] == 9


def test_all_checkpoints_make_a_curve_and_the_last_is_the_headline():
    one = relate(section(where={"step": "all"}), results(curve=True), POINTS)["relate.r.spearman"]
    assert one["curve"]["value"] == pytest.approx([-scipy.stats.spearmanr(X, Y).statistic, one["value"]])
    assert one["value"] == pytest.approx(scipy.stats.spearmanr(X, Y).statistic)
    assert one["curve"]["n"] == [9, 9] and one["curve"]["ci"][1] == one["ci"]


def test_one_checkpoint_can_be_chosen():
    one = relate(section(where={"step": "first"}), results(curve=True), POINTS)["relate.r.spearman"]
    assert one["value"] > 0 and "curve" not in one


def test_without_checkpoints_a_curve_is_empty_and_says_so():
    one = relate(section(where={"step": "all"}), results(), POINTS)["relate.r.spearman"]
    assert one["value"] is None and one["n"] == 0 and one["curve"]["value"] == []
    assert one["incomplete"] == ["no point has checkpoints of agent.return and wm.mse"]


def test_where_fixes_the_other_axes_and_narrows_those_across():
    one = relate(section(across=["width"], where={"depth": 2}), results(), POINTS)["relate.r.pearson"]
    assert one["n"] == 3 and one["value"] == pytest.approx(scipy.stats.pearsonr(X[3:6], Y[3:6]).statistic)
    narrowed = relate(section(where={"width": [16, 32]}), results(), POINTS)["relate.r.pearson"]
    assert narrowed["n"] == 6


def test_the_numeric_value_of_an_axis_can_be_related():
    points = [{"epsilon": epsilon} for epsilon in (1e-4, 1e-3, 1e-2)]
    metrics = collect(points, [0], [[{"wm.l1_max": {"value": 3 * point["epsilon"]}}] for point in points])
    growth = {"growth": {"x": "axis.epsilon", "y": "wm.l1_max", "across": ["epsilon"], "statistics": ["loglog_slope"]}}
    assert relate(growth, metrics, points)["relate.growth.loglog_slope"]["value"] == pytest.approx(1.0)


def test_labels_stand_for_their_numbers():
    points = [{"gamma": label} for label in ("low", "mid", "high")]
    numbers = {"gamma": {"low": 0.1, "mid": 0.5, "high": 0.9}}
    metrics = collect(points, [0], [[{"a": {"value": 2 * numbers["gamma"][point["gamma"]]}}] for point in points])
    line = {"line": {"x": "axis.gamma", "y": "a", "across": ["gamma"], "statistics": ["slope"]}}
    assert relate(line, metrics, points, numbers)["relate.line.slope"]["value"] == pytest.approx(2.0)
    with pytest.raises(WmlabError, match="axis.gamma: the label 'low' has no numeric value"):
        relate(line, metrics, points)


def test_failed_seeds_and_lost_points_are_told():
    one = relate(section(), results(failed={(0, 0), (4, 0), (4, 1)}), POINTS)["relate.r.pearson"]
    assert one["n"] == 8
    assert one["incomplete"] == [
        "depth=1,width=16: 1 of 2 seeds gave no agent.return",
        "depth=1,width=16: 1 of 2 seeds gave no wm.mse",
        "depth=2,width=32: no value of agent.return",
        "depth=2,width=32: no value of wm.mse",
    ]


def test_one_point_or_equal_points_have_no_correlation():
    one = relate(section(across=["width"], where={"depth": 1, "width": 16}), results(), POINTS)["relate.r.pearson"]
    assert one["value"] is None and one["ci"] is None and one["n"] == 1
    same = collect(POINTS, [0], [[{"agent.return": {"value": 1.0}, "wm.mse": {"value": y}}] for y in Y])
    assert relate(section(), same, POINTS)["relate.r.spearman"]["value"] is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"across": ["depth"]}, "relate.r: the axis 'width' is neither in across nor fixed by where"),
        ({"across": ["depth", "width", "height"]}, "relate.r: there is no axis 'height'"),
        (
            {"across": ["depth"], "where": {"width": "all"}},
            "relate.r: where.width chooses several labels; put 'width' into across",
        ),
    ],
)
def test_a_relation_over_axes_left_open_is_refused(changes, message):
    with pytest.raises(WmlabError) as error:
        relate(section(**changes), results(), POINTS)
    assert str(error.value) == message


def test_no_section_makes_no_results():
    assert relate({}, {}, []) == {} and relate({}, {}, [{}]) == {}


def test_forty_two_points_at_twenty_checkpoints_take_seconds_at_most():
    points = [{"depth": d, "width": w} for d in range(6) for w in range(7)]
    rng = np.random.default_rng(0)
    outputs = [
        [{name: {"value": 1.0, "curve": list(rng.random(20))} for name in ("agent.return", "wm.mse")}] for _ in points
    ]
    metrics = collect(points, [0], outputs)
    start = time.perf_counter()
    relate(section(where={"step": "all"}, statistics=["spearman"], bootstrap={"resamples": 2000}), metrics, points)
    assert time.perf_counter() - start < 5


def training(seeds=2, checkpoints=6):
    """Points whose error falls as their return grows, at another level in each point; [points, seeds, checkpoints]."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(len(POINTS), seeds, checkpoints))
    level = 10 * np.arange(len(POINTS))[:, None, None]
    return x + level, -x + 0.5 * rng.normal(size=x.shape) + level


def trained(x, y):
    outputs = [
        [
            {"agent.return": {"value": a[-1], "curve": list(a)}, "wm.mse": {"value": b[-1], "curve": list(b)}}
            for a, b in zip(xs, ys, strict=True)
        ]
        for xs, ys in zip(x, y, strict=True)
    ]
    return collect(POINTS, list(range(x.shape[1])), outputs)


def test_within_points_over_training_a_relation_may_turn_round():
    x, y = training()
    metrics = trained(x, y)
    within = relate(section(over="training"), metrics, POINTS)["relate.r.pearson"]
    each = [scipy.stats.pearsonr(a.mean(0), b.mean(0)).statistic for a, b in zip(x, y, strict=True)]
    assert within["value"] == pytest.approx(np.mean(each)) and within["value"] < -0.5
    assert relate(section(), metrics, POINTS)["relate.r.pearson"]["value"] > 0.9
    assert within["ci"][0] <= within["value"] <= within["ci"][1] and within["n"] == len(POINTS)
    assert within["kind"] == "mean_over_points_of_linear_correlation_over_training" and "curve" not in within


@pytest.mark.parametrize("resample", ["seeds", "both"])
def test_over_training_seeds_can_be_drawn_again(resample):
    metrics = trained(*training())
    one = relate(section(over="training", bootstrap={**BOOTSTRAP, "resample": resample}), metrics, POINTS)
    low, high = one["relate.r.spearman"]["ci"]
    assert -1 <= low < high < 0


def test_a_point_without_checkpoints_is_left_out_of_what_is_over_training_and_told():
    x, y = training()
    metrics = {name: one for name, one in trained(x, y).items() if not name.startswith("depth=1,width=16/")}
    one = relate(section(over="training"), metrics, POINTS)["relate.r.pearson"]
    assert one["n"] == len(POINTS) - 1 and "depth=1,width=16" in one["incomplete"][0]


def test_a_partial_correlation_is_that_of_what_the_fixed_quantity_leaves():
    rng = np.random.default_rng(4)
    z = rng.normal(size=len(POINTS))
    x, y = z + rng.normal(size=z.shape), -z + rng.normal(size=z.shape)
    rows = [{"agent.return": {"value": z[i]}, "a": {"value": x[i]}, "b": {"value": y[i]}} for i in range(len(z))]
    metrics = collect(POINTS, [0], [[row] for row in rows])
    found = relate(section(x="a", y="b", given="agent.return"), metrics, POINTS)

    def left(of):
        return of - np.polyval(np.polyfit(z, of, 1), z)

    assert found["relate.r.pearson"]["value"] == pytest.approx(scipy.stats.pearsonr(left(x), left(y)).statistic)
    assert found["relate.r.pearson"]["kind"] == "partial_linear_correlation_across_points"
    ranks = [scipy.stats.rankdata(of) for of in (x, y, z)]
    inverse = np.linalg.inv(np.corrcoef(ranks))
    expected = -inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])
    assert found["relate.r.spearman"]["value"] == pytest.approx(expected)


def test_what_follows_from_the_fixed_quantity_has_no_partial_correlation():
    one = relate(section(given="agent.return"), results(), POINTS)["relate.r.pearson"]
    assert one["value"] is None and one["ci"] is None
