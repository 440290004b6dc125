"""Which goal to add: against guarantees worked out goal by goal, and against goals at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.extraction.worlds import random_view, rooms_view
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.extraction.lp import Options, lp
from wmlab.identify.design import PresentGoals, certain_returns, mean_widths
from wmlab.identify.guarantee import guarantee
from wmlab.identify.width import identified_set
from wmlab.planning.finite.values import Tasks, optimal_values, returns
from wmlab.registry import mdps

SLACK = 1e-9
GAMMA = 0.95
ROWS = ("q", "policy", "reward", "continues", "discount")


def optimal_view(world: FiniteWorld, goals: np.ndarray) -> FiniteView:
    """The exact values of the optimal agent for goals at states int [G], which end episodes."""
    reward = np.eye(world.kernel.size)[goals]
    discount = np.full(len(goals), GAMMA)
    policy, q = optimal_values(world.kernel, reward, 1 - reward, discount)
    return FiniteView(q, policy, reward, 1 - reward, discount, world.space, world.space.neighbours(4, True))


def rows_of(view: FiniteView, rows: slice | list[int]) -> FiniteView:
    return replace(view, **{name: getattr(view, name)[rows] for name in ROWS})


def certain(view: FiniteView, tasks: list[Tasks]) -> float:
    """The certain return, mean over tasks, by the guarantee of one view."""
    return float(np.mean([returns(guarantee(view, task, SLACK).certain[None], task)[0] for task in tasks]))


@pytest.mark.parametrize("local", [True, False])
def test_candidates_are_worth_what_their_own_guarantees_say(local):
    variant, present, count = ("windy", 2, 6) if local else ("teleporting", 5, 3)
    _, view = rooms_view(variant, present + count, local=local)
    tasks = [Tasks.of(68, [[60]], [[33]], 0.99), Tasks.of(68, [[3]], [[]], 0.99)]
    goals = PresentGoals.of(rows_of(view, slice(present)), SLACK)
    assert 0 < goals.known.sum() < len(goals.known)  # some pairs are settled, some are open
    found = certain_returns(goals.with_each(rows_of(view, slice(present, None)), count), tasks, None)
    for candidate, worth in enumerate(found):
        rows = [*range(present), present + candidate]
        assert worth == pytest.approx(certain(rows_of(view, rows), tasks), abs=2e-5)
    alone = certain(rows_of(view, slice(present)), tasks)
    assert certain_returns(goals.alone, tasks, None)[0] == pytest.approx(alone, abs=1e-9)


def test_widths_are_those_of_identified_sets():
    _, view = rooms_view("windy", 5, local=True)
    goals = PresentGoals.of(rows_of(view, slice(2)), SLACK)
    found = mean_widths(goals.with_each(rows_of(view, slice(2, 5)), 3))
    for candidate, width in enumerate(found):
        alone = identified_set(rows_of(view, [0, 1, 2 + candidate]), SLACK).intervals.max(axis=2).mean()
        assert width == pytest.approx(alone, abs=1e-5)
    assert mean_widths(goals.alone)[0] == pytest.approx(
        identified_set(rows_of(view, slice(2)), SLACK).intervals.max(axis=2).mean(), abs=1e-9
    )


def test_goals_of_several_rows_are_added_whole():
    _, view = random_view(5, 6, 2, 4)  # two goals of two rows each
    task = Tasks.of(6, [[0]], [[1]], 0.9)
    goals = PresentGoals.of(rows_of(view, slice(2)), SLACK)
    found = certain_returns(goals.with_each(rows_of(view, slice(2, 4)), 1), [task], None)
    assert found[0] == pytest.approx(certain(view, [task]), abs=1e-6)


def test_where_nothing_is_open_a_further_goal_changes_nothing():
    _, view = random_view(6, 5, 2, 8)
    task = Tasks.of(5, [[0]], [[]], 0.9)
    goals = PresentGoals.of(rows_of(view, slice(6)), SLACK)
    assert goals.known.all()
    worlds = goals.with_each(rows_of(view, slice(6, 8)), 2)
    np.testing.assert_allclose(certain_returns(worlds, [task], None), certain(view, [task]), atol=1e-6)
    np.testing.assert_array_equal(mean_widths(worlds), 0.0)


# --- ten random mazes ------------------------------------------------------------------------------------------------


def random_maze(seed: int) -> FiniteWorld:
    """A windy maze of 26 cells among seven by seven: all of one size, so that programs compile once."""
    rng = np.random.default_rng(seed)
    while True:
        free = np.pad(rng.random((7, 7)) > 0.33, 1)
        inside, count = np.zeros_like(free), -1
        inside[tuple(rng.choice(np.argwhere(free)))] = True
        while inside.sum() != count:
            count = int(inside.sum())
            for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
                inside |= np.roll(inside, shift, axis) & free
        if count == 26:
            break
    drawn = "\n".join("".join("." if cell else "#" for cell in row) for row in inside)
    kind = mdps["gridworld"]
    world = kind.run(kind.build({"map": drawn, "slip": {"straight": 0.5, "left": 0.25, "right": 0.25}}), 0)
    assert isinstance(world, FiniteWorld)
    return world


def suggestions(seed: int) -> tuple[float, float, np.ndarray]:
    """What is certain with the goal that the truth suggests, with that of a model, and with ten at random."""
    world, rng = random_maze(seed), np.random.default_rng(1000 + seed)
    size = world.kernel.size
    first, *order = rng.permutation(size).tolist()
    tasks = [Tasks.of(size, [[order[0]]], [[order[1]]], GAMMA), Tasks.of(size, [[order[2]]], [[order[3]]], GAMMA)]
    others = np.array([state for state in range(size) if state != first])
    present = optimal_view(world, np.array([first]))

    def best_in(supposed: FiniteWorld) -> int:
        goals = PresentGoals.of(optimal_view(supposed, np.array([first])), SLACK)
        worth = certain_returns(goals.with_each(optimal_view(supposed, others), len(others)), tasks, None)
        return int(others[worth.argmax()])

    def with_goal(state: int) -> float:
        return certain(optimal_view(world, np.array([first, state])), tasks)

    model = FiniteWorld(world.space, lp(present, Options(), 0).kernel.clipped(), world.reset)
    random = np.array([with_goal(int(state)) for state in rng.choice(others, 10, replace=False)])
    return with_goal(best_in(world)), with_goal(best_in(model)), random


@pytest.mark.slow
def test_the_suggested_goal_is_no_worse_than_the_best_of_ten_at_random_in_nine_of_ten_mazes():
    truth, model, random = (np.array(each) for each in zip(*map(suggestions, range(10)), strict=True))
    assert (truth >= random.max(axis=1) - 1e-9).sum() >= 9
    assert model.mean() > random.mean()  # a model that one goal gave is hardly one, and yet of use
