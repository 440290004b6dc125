"""Exact planning in a finite model, and acting in the true world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import SolverTraits, solvers

if TYPE_CHECKING:
    from wmlab.planning.finite.values import Tasks


@dataclass(frozen=True)
class Options:
    """It has none: plans are exact, in float64."""


@dataclass(frozen=True, eq=False)
class FiniteSolution:
    """A plan for one goal: what the model promises of it, and what it attains where it is followed."""

    value: np.ndarray  # [S] in the model that was planned in
    believed: float  # mean of those values over the starts
    attained: float  # mean return in the true world; NaN where there is none
    path: np.ndarray  # int [T] states of one likely way in the true world
    start: np.ndarray  # int [] where that way begins


@solvers.register("value_iteration", Options, SolverTraits(worlds="finite"))
def value_iteration(
    options: Options,
    model: Kernel,
    world: FiniteWorld | None,
    task: Tasks,
    starts: np.ndarray | None,
    *,
    space: FiniteSpace,
    discount: float,
    start: int | None = None,
    key: Any = None,
) -> FiniteSolution:
    """The optimal policy of a finite model, found exactly."""
    from wmlab.planning.finite.values import evaluate_plan, plan, returns, trajectory

    best = plan(model, task)
    believed = float(returns(best.value, task, starts)[0])
    if world is None:
        return FiniteSolution(best.value[0], believed, np.nan, np.zeros(0, np.int64), np.asarray(-1))
    attained = evaluate_plan(world.kernel, best.policy, task)
    if start is None:
        start = farthest(best.value[0], task)
    path = np.asarray(trajectory(world.kernel, best.policy, task, 0, start))
    return FiniteSolution(best.value[0], believed, float(returns(attained, task, starts)[0]), path, np.asarray(start))


def farthest(value: np.ndarray, task: Tasks) -> int:
    """The start from which the goal is farthest and yet can be reached: the longest way to draw."""
    free = task.starts[0] > 0
    reachable = free & (value > 1e-9)
    return int(np.where(reachable, value, np.inf).argmin()) if reachable.any() else int(free.argmax())
