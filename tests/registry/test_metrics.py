"""Metrics are declared once, and everything that speaks of them reads the declaration."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from wmlab.registry.metrics import BLANK, Blank, Measurement, Metric, axis_label, fill, find, meaning, measurements
from wmlab.sections.experiment import Evaluate, FitSection
from wmlab.spec.check.metrics import maker_of, makers, need_truth

METRICS = [(measurement, metric) for measurement in measurements() for metric in measurement.metrics]
NAMES = [metric.name for _, metric in METRICS]
PAIRS = [(one, world) for one in measurements() for world, function in one.functions.items() if function is not None]


def test_each_metric_is_declared_once():
    assert len(NAMES) == len(set(NAMES)) > 30


@pytest.mark.parametrize(("measurement", "metric"), METRICS, ids=NAMES)
def test_a_sentence_serves_the_report_and_the_reference(measurement, metric):
    filling = {name: "a_b" for name in BLANK.findall(metric.name)}
    for text in (measurement.meaning(metric), meaning(fill(metric.name, filling))):
        assert text and not text.endswith(".") and "<" not in text


@pytest.mark.parametrize(("measurement", "world"), PAIRS, ids=lambda one: getattr(one, "asked_by", one))
def test_what_measures_is_there_and_every_metric_is_of_a_world_that_measures_it(measurement, world):
    module = importlib.import_module(measurement.module(world))
    function = measurement.functions[world]
    assert callable(getattr(module, function.partition(":")[2]) if isinstance(function, str) else function)
    for metric in measurement.metrics:
        assert metric.world is None or measurement.functions[metric.world] is not None


def test_declarations_are_read_without_jax_in_a_fresh_process():
    code = (
        "import sys; from wmlab.registry.metrics import measurements; assert measurements()\n"
        "print([name for name in ('jax', 'scipy', 'matplotlib', 'wmlab.measure.continuous') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout == "[]\n", answer.stderr


def test_a_name_finds_the_declaration_that_says_most_of_it():
    assert find("compare.both.times_closer")[1].name == "compare.<name>.times_closer"
    assert find("compare.both.nmse_interior")[1].name == "compare.<name>.<distance>_interior"
    assert find("compare.both.nmse")[2] == {"name": "both", "distance": "nmse"}
    assert find("wm.unheard_of") is None and find("unseen.ratio") is None


def test_blanks_read_as_what_fills_them():
    assert meaning("unseen.one_unsafe.ratio").startswith("Rᵂᴹ over R* on the unseen goal one_unsafe")
    assert meaning("unseen.mean.r_star") == "return on average over the unseen goals of the optimal policy (R*)"
    assert meaning("bound.theorem_3c.upper").startswith("the upper bound of theorem 3c")
    assert meaning("relate.more_goals.loglog_slope") == "loglog slope of more goals, across the points of a sweep"
    assert meaning("agent.td_error") and meaning("wm.unheard_of") == ""


def test_an_axis_says_what_it_shows_or_else_the_metrics_name():
    assert axis_label("wm.nmse") == "model error (NMSE)" and axis_label("unseen.far.ratio") == "Rᵂᴹ / R*"
    assert axis_label("ident.gap") == "ident.gap" and axis_label("wm.unheard_of") == "wm.unheard_of"


def test_what_a_spec_says_fills_the_blanks_of_what_it_asks_for():
    each = Measurement(Metric("m.<a>.<b>", doc=""), asked_by="x.<a>.y.<b>", a=Blank(""), b=Blank("", always=("z",)))
    data = {"x": {"one": {"y": ("p", "q")}, "two": {"y": "r"}, "three": {}}}
    names = [fill("m.<a>.<b>", filling) for filling in each.fillings(data)]
    assert names == ["m.one.p", "m.one.q", "m.one.z", "m.two.r", "m.two.z"]
    plain = Measurement(Metric("m", doc=""), asked_by="evaluate.fit")
    assert list(plain.fillings({"evaluate": Evaluate(fit=FitSection())})) == [{}]
    assert list(plain.fillings({"evaluate": Evaluate()})) == list(plain.fillings({})) == []


def test_what_must_be_asked_for_is_known_from_the_declarations():
    assert maker_of("wm.energy") == "evaluate.model_error" and maker_of("ident.width") == "evaluate.identify.width"
    assert maker_of("agent.td_error") == "evaluate.fit" and maker_of("unseen.far.ratio") is None
    assert maker_of("unseen.far.r_certain") == "evaluate.unseen.guarantee"
    assert makers()["evaluate.value_error"] == {"q.nmse", "q.max_error", "q.l1_max", "q.grid_nmse"}
    of_truth = {("return",), ("model_error",), ("value_error",), ("identify", "bounds"), ("baselines", "regression")}
    assert set(need_truth()) == of_truth


def test_what_is_asked_for_beside_something_else_needs_both():
    unseen = {"goals": {"far": {}}}
    (one,) = [measurement for measurement in measurements() if measurement.beside]
    assert list(one.fillings({"evaluate": {"unseen": unseen}})) == []
    both = one.fillings({"evaluate": {"unseen": {**unseen, "guarantee": {}}}})
    assert [filling["goal"] for filling in both] == ["far", "mean"]
