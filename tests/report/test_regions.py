"""Where goals lie on planes of continuous worlds: what the spec says of them, held against its own tasks and goals."""

from __future__ import annotations

import numpy as np
import pytest

from wmlab.core.continuous.goals import continuous_goals, unseen_task
from wmlab.registry import RewardChoice, WorldChoice
from wmlab.report.content.regions import BEHIND, LATTICE, PlaneStates, targets, trained, untold
from wmlab.report.data import Panel, Plane, Region, ReportData, Sheet
from wmlab.report.gallery import gallery
from wmlab.sections.experiment import Ending, GoalsSection, UnseenGoal

CAR = WorldChoice({"kind": "gymnax", "env": "MountainCar-v0"}).space
ARM = WorldChoice({"kind": "gymnax", "env": "Reacher-misc"}).space


def whole(space, columns=(0, 1), fixed=None):
    x, y = (space.variables[column].scale for column in columns)
    return PlaneStates(space, columns, x, y, fixed)


def states_of(plane):
    return np.concatenate(list(plane.behind())).astype(np.float32)


def by_sort(regions):
    return {region.sort: region.inside.ravel() for region in regions}


def test_what_an_unseen_goal_reaches_and_avoids_is_where_its_task_pays_and_ends():
    goal = UnseenGoal(reach={"position": 0.4}, within=0.1, avoid="abs(velocity) > 0.05")
    plane = whole(CAR)
    found = by_sort(targets(goal, plane))
    reward, continues = map(np.asarray, unseen_task(goal, CAR).arrive(states_of(plane)))
    inside = found["target"] & ~found["unsafe"]
    at_edge = np.abs(np.abs(states_of(plane)[:, 0] - 0.4) - 0.1) < 1e-6  # where rounding decides
    assert (inside == (reward > 0))[~at_edge].all() and inside.any()
    assert ((found["target"] | found["unsafe"]) == (continues == 0))[~at_edge].all()


def test_a_goal_of_derived_variables_lies_on_a_plane_of_angles():
    reach = {"x": 1.2, "y": 1.2}
    names = [variable.name for variable in ARM.derived]
    goal = UnseenGoal(reach=dict(zip(names[:2], reach.values(), strict=True)), within=0.2)
    plane = whole(ARM)
    found = by_sort(targets(goal, plane))["target"]
    one = next(plane.behind()).astype(np.float32)
    assert (found == (np.asarray(unseen_task(goal, ARM).arrive(one)[0]) > 0)).mean() > 0.999
    assert 0 < found.mean() < 0.1


def test_a_goal_goes_round_where_a_variable_does():
    near = by_sort(targets(UnseenGoal(reach={"theta1": 3.1, "theta2": 0.0}, within=0.3), whole(ARM)))["target"]
    columns = near.reshape(LATTICE, LATTICE).any(axis=1)
    assert columns[0] and columns[-1] and not columns[LATTICE // 2]
    straight = UnseenGoal(reach={"theta1": 3.1, "theta2": 0.0}, within=0.3, wraps=False)
    assert not by_sort(targets(straight, whole(ARM)))["target"].reshape(LATTICE, LATTICE)[0].any()


def test_what_other_variables_decide_is_not_drawn_and_said():
    goal = UnseenGoal(reach={"omega1": 1.0}, within=0.1, avoid="abs(omega2) > 1")
    assert list(targets(goal, whole(ARM))) == []
    assert untold(goal, []) == "What is to be reached and avoided is told by other variables."
    partly = UnseenGoal(reach={"theta1": 0.5, "omega1": 1.0}, within=0.1)
    (band,) = targets(partly, whole(ARM))  # wherever the speed may be right
    assert band.inside.any(axis=1).sum() < LATTICE / 20 and untold(partly, [band]) == ""


def goals_of(**said):
    reward = RewardChoice({"kind": "indicator", "radius": 0.107})  # no point of the lattice lies on an edge
    return GoalsSection(reward=reward, at={"position": [-1.0, 0.5]}, **said)


def test_goals_of_a_training_lie_where_they_pay_all_or_one():
    plane = whole(CAR)
    goals = goals_of()
    reward = np.stack([np.asarray(continuous_goals(goals, CAR).arrive(state)[0]) for state in states_of(plane)[::97]])
    found = by_sort(trained(goals, plane))["goal"][::97]
    assert (found == (reward > 0).any(axis=1)).all() and 0 < found.mean() < 1
    alone = by_sort(trained(goals, plane, only=1))["goal"][::97]
    assert (alone == (reward[:, 1] > 0)).all() and alone.sum() < found.sum()
    wider = by_sort(trained(goals_of(terminate=Ending(within=0.3)), plane))["goal"]
    assert wider.sum() > by_sort(trained(goals, plane))["goal"].sum()


def test_on_a_slice_the_other_variables_stand_where_they_stand():
    goal = UnseenGoal(reach={"theta1": 0.0, "omega1": 1.0}, within=0.1)
    still = {"omega1": 0.0, "omega2": 0.0}
    assert list(targets(goal, whole(ARM, fixed=still))) == []
    assert len(list(targets(goal, whole(ARM, fixed={**still, "omega1": 1.0})))) == 1


def test_other_variables_are_looked_at_only_where_they_may_decide(monkeypatch):
    looked, behind = [], PlaneStates.behind
    monkeypatch.setattr(PlaneStates, "behind", lambda plane: (looked.append(1) or states for states in behind(plane)))
    for reach, most in (({"theta1": 0.5}, 1), ({"theta1": 0.5, "omega1": 1.0}, 1), ({"x": 1.2}, BEHIND)):
        looked.clear()
        (found,) = targets(UnseenGoal(reach=reach, within=0.2), whole(ARM))
        assert len(looked) == most and found.inside.any()


def test_goals_without_a_place_or_a_width_are_nowhere():
    plane = whole(CAR)
    formula = RewardChoice({"kind": "expression", "pays": "position"})
    assert list(trained(GoalsSection(reward=formula, at=None, terminate="never"), plane)) == []


@pytest.mark.parametrize("sort", ["target", "unsafe", "goal"])
def test_each_sort_is_drawn_with_its_word_on_planes_and_on_every_panel(sort):
    inside = np.zeros((5, 5), bool)
    inside[1:3, 2:4] = True
    over = {"title": "a", "x": "p", "y": "v", "x_range": (0.0, 1.0), "y_range": (-1.0, 1.0)}
    values = np.arange(4.0).reshape(2, 2)
    word = {"target": ">target<", "unsafe": ">unsafe<", "goal": ">training goal<"}[sort]
    for marked in (True, False):
        more = {"regions": (Region(sort, inside),) if marked else ()}
        plane = Plane(**over, values=values, label="V", **more)
        sheet = Sheet(**over, panels=(Panel("one", values, "V"), Panel("two", values, "V")), columns=2, **more)
        groups = gallery(ReportData({}, planes=(plane,), sheets=(sheet,)))
        svgs = [item.picture.svg for group in groups for item in group.items]
        assert [word in svg for svg in svgs] == [marked] * 2
        contours = [svg.count("QuadContourSet") for svg in svgs]
        assert contours == ([4, 2] if marked else [0, 0])  # outline and inside, on each panel of the sheet
