"""What a further goal is worth: against guarantees and identified sets worked out goal by goal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.extraction.worlds import random_view, rooms_view
from wmlab.core.finite.view import FiniteView
from wmlab.identify.design import PresentGoals, certain_returns, mean_widths
from wmlab.identify.guarantee import guarantee
from wmlab.identify.width import identified_set
from wmlab.planning.finite.values import Tasks, returns
from wmlab.stages.finite.design import drawn_kernels

SLACK = 1e-9
ROWS = ("q", "policy", "reward", "continues", "discount")


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


def test_worlds_that_a_prior_allows_are_drawn_evenly_from_its_simplices():
    support = np.array([[0, 1, 2], [1, -1, -1], [2, 0, -1]])
    kernels = drawn_kernels(support, 2, 4000, 0)
    mean = np.mean([kernel.to_dense() for kernel in kernels], axis=0)  # [S, A, S]
    expected = np.array([[1 / 3, 1 / 3, 1 / 3], [0, 1, 0], [1 / 2, 0, 1 / 2]])
    np.testing.assert_allclose(mean, np.repeat(expected[:, None], 2, axis=1), atol=0.02)
    first = np.array([kernel.to_dense()[2, 0, 0] for kernel in kernels])
    assert np.var(first) == pytest.approx(1 / 12, abs=0.004)  # uniform on [0, 1]


def test_a_seed_draws_the_same_worlds_and_another_seed_others():
    support = np.array([[0, 1, 2], [1, -1, -1], [2, 0, -1]])
    first, again, other = (
        np.array([kernel.to_dense() for kernel in drawn_kernels(support, 2, 3, seed)]) for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(first, again)
    open_ = np.array([0, 2])  # states with a choice of successors
    assert abs(first - other)[:, open_].max(axis=-1).min() > 1e-6
    assert abs(first[0] - first[1])[open_].max(axis=-1).min() > 1e-6  # nor is one world another
