"""A solver's choice among equal optima moves with the order of states; what is open and what is certain do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.mdps.fourrooms import MAP, TELEPORTS
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.extraction.lp import Options, lp
from wmlab.identify.guarantee import guarantee
from wmlab.identify.width import identified_set
from wmlab.planning.finite.values import Tasks, evaluate_plan, optimal_values, plan, returns
from wmlab.registry import mdps

GAMMA = 0.99
SMALL_MAP = """
#######
#.....#
#..#..#
#.###.#
#..#..#
#.....#
#######
"""
SMALL_TELEPORTS = [
    {"from": [2, 2], "to": {"rows": [4, 5], "columns": [4, 5]}},
    {"from": [2, 4], "to": {"rows": [4, 5], "columns": [1, 2]}},
    {"from": [4, 2], "to": {"rows": [1, 2], "columns": [4, 5]}},
    {"from": [4, 4], "to": {"rows": [1, 2], "columns": [1, 2]}},
]


@dataclass(frozen=True)
class Found:
    """What one order of the states gives, in the order of the map again."""

    intervals: np.ndarray  # [S, A, S] how wide the interval of each probability is
    certain: np.ndarray  # [S]
    r_certain: float
    planned: dict[str, float]  # tie-break: the true return of the plan in the one model that it hands over


def rooms(map_: str, teleports: list[dict[str, Any]]) -> FiniteWorld:
    kind = mdps["gridworld"]
    world: FiniteWorld = kind.run(kind.build({"map": map_, "teleports": teleports}), 0)
    return world


def found_in(order: np.ndarray, world: FiniteWorld, goals: int, reach: int, avoid: list[int]) -> Found:
    """The optimal agent for the first goals of one permutation, read with states, and so columns of M, in an order."""
    size, place = world.kernel.size, np.argsort(order)
    reward = np.eye(size)[np.random.RandomState(0).permutation(size)[:goals]]
    discount = np.full(goals, GAMMA)
    policy, q = optimal_values(world.kernel, reward, 1 - reward, discount)
    reward = reward[:, order]
    view = FiniteView(q[:, order], policy[:, order], reward, 1 - reward, discount, FiniteSpace.named(size, 4))
    task = Tasks.of(size, [[int(place[reach])]], [place[avoid].tolist()], GAMMA)
    truth = Kernel.dense(world.kernel.to_dense()[order][:, :, order])

    def planned(tie_break: Any) -> float:
        model = lp(view, Options(tie_break=tie_break), 0).kernel
        return float(returns(evaluate_plan(truth, plan(model, task).policy, task), task)[0])

    certain = guarantee(view, task, 1e-9).certain
    return Found(
        identified_set(view, 1e-9).intervals[place][:, :, place],
        certain[place],
        float(returns(certain[None], task)[0]),
        {each: planned(each) for each in ("vertex", "highs", "least_norm")},
    )


def in_eight_orders(world: FiniteWorld, goals: int, reach: list[int], *avoid: list[int]) -> list[Found]:
    size = world.kernel.size
    orders = [np.arange(size), *(np.random.default_rng(seed).permutation(size) for seed in range(1, 8))]
    target, *unsafe = (world.space.states(cell)[0] for cell in (reach, *avoid))
    return [found_in(order, world, goals, target, unsafe) for order in orders]


def hold_together(found: list[Found]) -> None:
    """Neither intervals nor what is certain have moved, pair by pair and state by state."""
    for each in found[1:]:
        np.testing.assert_allclose(each.intervals, found[0].intervals, atol=1e-9)
        np.testing.assert_allclose(each.certain, found[0].certain, atol=1e-9)
        assert each.r_certain == pytest.approx(found[0].r_certain, abs=1e-9)


def test_the_order_of_states_moves_plans_in_one_model_and_neither_width_nor_certain_return():
    found = in_eight_orders(rooms(SMALL_MAP, SMALL_TELEPORTS), 3, [5, 1], [3, 1])
    hold_together(found)
    assert found[0].intervals.max() == pytest.approx(1, abs=1e-9)
    for solver in ("vertex", "highs"):
        assert np.ptp([each.planned[solver] for each in found]) > 0.1
    everything = [value for each in found for value in each.planned.values()]
    assert min(everything) < found[0].r_certain < max(everything)  # some plans are worse than what caution has for sure
    for each in found:  # the one nearest to uniform is a single kernel, whatever the order
        assert each.planned["least_norm"] == pytest.approx(found[0].planned["least_norm"], abs=1e-6)


@pytest.mark.slow
def test_five_goals_are_too_few_in_teleporting_rooms_in_every_order_of_states():
    world = rooms(MAP, TELEPORTS)
    one_unsafe = in_eight_orders(world, 5, [9, 1], [5, 3])
    teleport_unsafe = in_eight_orders(world, 5, [9, 9], [4, 4], [4, 6], [6, 4], [6, 6])
    for found in (one_unsafe, teleport_unsafe):
        hold_together(found)
        assert found[0].intervals.max() >= 0.9
    assert one_unsafe[0].r_certain <= 0.2 * min(one_unsafe[0].planned.values())  # luck, in whatever model
    planned = [each.planned["highs"] for each in teleport_unsafe]
    assert min(planned) < 0.5 * teleport_unsafe[0].r_certain < max(planned)
