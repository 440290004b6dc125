"""Plans for goals that nobody trained on."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from tests.mdps.fourrooms import fourrooms
from wmlab.core.finite.kernel import Kernel
from wmlab.planning.finite.values import Tasks, evaluate_plan, plan, returns, trajectory

UNSEEN = {
    "one_unsafe": ([[9, 1]], [[5, 3]]),
    "two_unsafe": ([[9, 9]], [[3, 5], [5, 3]]),
    "teleport_unsafe": ([[9, 9]], [[4, 4], [4, 6], [6, 4], [6, 6]]),
}


def unseen(space, *names):
    lists = [[[space.index(cell) for cell in part] for part in UNSEEN[name]] for name in names]
    return Tasks.of(space.size, [reach for reach, _ in lists], [avoid for _, avoid in lists], 0.99)


def distances(kernel, target, avoid):
    """Steps to the target by breadth-first search, in a deterministic world."""
    before = [[] for _ in range(kernel.size)]
    for state, action in np.ndindex(kernel.size, kernel.actions):
        before[kernel.successors[state, action, 0]].append(state)
    found, queue = {target: 0}, deque([target])
    while queue:
        there = queue.popleft()
        for state in before[there]:
            if state not in found and state not in avoid:
                found[state] = found[there] + 1
                queue.append(state)
    return found


def value_iteration(kernel, task):
    """R* by 4 000 plain sweeps."""
    table, value = kernel.to_dense(), np.zeros(kernel.size)
    (reach, avoid) = task
    reward = np.isin(np.arange(kernel.size), reach).astype(float)
    continues = ~np.isin(np.arange(kernel.size), reach + avoid)
    for _ in range(4000):
        value = (table @ (reward + 0.99 * continues * value)).max(axis=-1)
    return value[continues].mean()


@pytest.mark.parametrize("name", ["one_unsafe", "two_unsafe"])
def test_in_a_deterministic_world_the_return_is_the_discounted_distance(name):
    world = fourrooms("deterministic")
    tasks = unseen(world.space, name)
    steps = distances(world.kernel, int(tasks.reach[0].argmax()), np.flatnonzero(tasks.avoid[0]).tolist())
    starts = np.flatnonzero(tasks.starts[0])
    expected = sum(0.99 ** (steps[state] - 1) for state in starts if state in steps) / len(starts)
    assert returns(plan(world.kernel, tasks).value, tasks)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("variant", "names"),
    [("windy", ("one_unsafe", "two_unsafe")), ("teleporting", ("one_unsafe", "teleport_unsafe"))],
)
def test_the_optimal_returns_of_unseen_goals_are_those_of_plain_value_iteration(variant, names):
    world = fourrooms(variant)
    tasks = unseen(world.space, *names)
    found = returns(plan(world.kernel, tasks).value, tasks)
    lists = [[np.flatnonzero(part[task]).tolist() for part in (tasks.reach, tasks.avoid)] for task in range(2)]
    assert found == pytest.approx([value_iteration(world.kernel, task) for task in lists], abs=1e-10)


def test_two_unsafe_doors_close_the_first_room():
    world = fourrooms("deterministic")
    value = plan(world.kernel, unseen(world.space, "two_unsafe")).value[0]
    room = [world.space.index([row, column]) for row in range(1, 5) for column in range(1, 5)]
    assert (value[room] == 0).all()


def test_a_plan_made_in_the_true_world_keeps_what_it_promises():
    world = fourrooms("windy")
    tasks = unseen(world.space, "one_unsafe", "two_unsafe")
    made = plan(world.kernel, tasks)
    np.testing.assert_allclose(evaluate_plan(world.kernel, made.policy, tasks), made.value, atol=1e-12)


def test_a_plan_made_in_another_world_is_worth_no_more_than_the_best():
    windy, calm = fourrooms("windy"), fourrooms("deterministic")
    tasks = unseen(windy.space, "one_unsafe", "two_unsafe")
    acted = evaluate_plan(windy.kernel, plan(calm.kernel, tasks).policy, tasks)
    best = plan(windy.kernel, tasks).value
    assert (acted <= best + 1e-12).all() and (acted < best - 0.01).any()


def test_entering_an_unsafe_state_ends_with_nothing():
    # s0 -> s1 (unsafe) -> s2 (target)
    kernel = Kernel.deterministic(np.array([[1], [2], [2]]))
    tasks = Tasks.of(3, [[2], [2]], [[1], []], 0.5)
    value = plan(kernel, tasks).value
    assert value[:, 0].tolist() == [0.0, 0.5]
    assert returns(value, tasks).tolist() == [0.0, 0.75]


def test_one_can_plan_in_a_pseudo_world():
    table = np.array([[[-0.5, 1.5], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])
    made = plan(Kernel.dense(table), Tasks.of(2, [[1]], [[]], 0.9))
    assert made.value[0, 0] == 1.0


def test_returns_may_start_elsewhere_but_never_at_the_end():
    tasks = Tasks.of(3, [[2]], [[]], 0.5)
    value = np.array([[0.5, 1.0, 7.0]])
    assert returns(value, tasks).tolist() == [0.75]
    assert returns(value, tasks, np.array([0.5, 0.0, 0.5])).tolist() == [0.5]
    assert np.isnan(returns(value, tasks, np.array([0.0, 0.0, 1.0]))).all()


def test_a_state_cannot_be_target_and_unsafe():
    with pytest.raises(ValueError, match="both reached and avoided"):
        Tasks.of(3, [[2]], [[2]], 0.5)


def test_the_drawn_way_leads_to_the_target_around_the_unsafe_door():
    world = fourrooms("deterministic")
    tasks = unseen(world.space, "one_unsafe")
    start = world.space.index([1, 1])
    way = trajectory(world.kernel, plan(world.kernel, tasks).policy, tasks, 0, start)
    steps = distances(world.kernel, int(tasks.reach[0].argmax()), np.flatnonzero(tasks.avoid[0]).tolist())
    assert way[0] == start and tasks.reach[0, way[-1]] and len(way) - 1 == steps[start]
    assert not tasks.avoid[0, way].any()


def test_the_drawn_way_stops_where_it_would_go_round_in_circles():
    kernel = Kernel.deterministic(np.array([[1], [0], [2]]))
    tasks = Tasks.of(3, [[2]], [[]], 0.5)
    assert trajectory(kernel, np.ones((1, 3, 1)), tasks, 0, 0) == [0, 1, 0]
