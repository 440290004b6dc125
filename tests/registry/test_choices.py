"""Sections are records: built once from resolved data, with the options of their kinds in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wmlab.graph.study import open_study
from wmlab.registry import Kind, as_data, build
from wmlab.sections.experiment import Evaluate, ExperimentSpec, GoalsSection

SPECS = Path(__file__).parents[2] / "specs"


@pytest.mark.parametrize("name", ["quickstart", "mountaincar_position", "fourrooms_windy"])
def test_an_experiment_as_a_record_is_its_resolved_data_and_back(name):
    (plan,) = open_study(str(SPECS / f"{name}.yaml"), None).plans
    for point in plan.resolved.points:
        again = build(ExperimentSpec, as_data(point.experiment))
        assert as_data(again) == as_data(point.experiment)
        assert point.experiment.mdp.data is point.data["mdp"]


def test_options_of_a_kind_are_built_once_for_a_point(monkeypatch):
    (plan,) = open_study(str(SPECS / "quickstart.yaml")).plans
    built: list[str] = []
    build_options = Kind.build
    monkeypatch.setattr(Kind, "build", lambda kind, data: (built.append(kind.name), build_options(kind, data))[1])
    experiment = plan.resolved.points[0].experiment
    for choice in (experiment.mdp, experiment.agent, experiment.extract, experiment.goals.reward):
        assert choice.options is choice.options
    assert len(built) == len(set(built))


def test_plans_are_judged_by_the_agents_discount_unless_another_is_said():
    sections = {
        "mdp": {"kind": "random", "states": 3, "actions": 2},
        "goals": {"reward": {"kind": "indicator"}, "at": "all"},
        "agent": {"kind": "exact", "discount": 0.9},
    }
    unseen = {"goals": {"g": {"reach": 0}}, "solver": {"kind": "value_iteration"}}
    assert build(ExperimentSpec, {**sections, "evaluate": {"unseen": unseen}}).plan_discount == 0.9
    asked = {"unseen": {**unseen, "discount": 0.5}}
    assert build(ExperimentSpec, {**sections, "evaluate": asked}).plan_discount == 0.5


def test_a_choice_says_what_an_option_is_and_none_where_its_kind_has_none():
    goals = build(GoalsSection, {"reward": {"kind": "gaussian", "sigma": 2}})
    assert goals.reward.get("sigma") == 2 and goals.reward.get("model", "family") is None
    assert as_data(Evaluate()) == {"explore": "auto"} and as_data(goals)["reward"] == {"kind": "gaussian", "sigma": 2}
