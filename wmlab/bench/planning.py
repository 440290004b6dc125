"""How fast plans are made on a grid, beside plain value iteration to the same tolerance.

Plain value iteration sweeps over all states and actions until no value changes by more than the tolerance. It reads
the same table of successors as the planner does, which makes it a strict yardstick. Times are of compiled programs,
with the making of tables on both sides; the best of some repeats counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from wmlab.core.continuous.goals import unseen_task
from wmlab.core.continuous.grid import grid_of
from wmlab.mdps.gymnax import Options, gymnax
from wmlab.planning.continuous.plan import plan_on_grid
from wmlab.planning.continuous.solver import GridValues, swept_values, tabulate
from wmlab.sections.experiment import UnseenGoal

DISCOUNT, TOLERANCE, MOST = 0.99, 1e-6, 10_000
OMEGAS = {"omega1": (-2.0, 2.0), "omega2": (-2.0, 2.0)}


@dataclass(frozen=True)
class PlanCase:
    """A goal in a world, on a grid."""

    env: str
    size: int
    goal: UnseenGoal
    bounds: Mapping[str, tuple[float, float]]


CASES = {
    "MountainCar 200^2, fast car": PlanCase(
        "MountainCar-v0", 200, UnseenGoal(reach={"velocity": 0.06}, within=0.01), {}
    ),
    "Reacher 30^4, far fingertip": PlanCase(
        "Reacher-misc", 30, UnseenGoal(reach={"x": 2**0.5, "y": 2**0.5}, within=0.2), OMEGAS
    ),
}


def measure_case(name: str, case: PlanCase, repeats: int = 3) -> str:
    """The seconds of one goal, planned both ways, and how far their values are apart."""
    world = gymnax(Options(case.env), 0)
    grid, task = grid_of(world.space, case.size, case.bounds), unseen_task(case.goal, world.space)
    actions = len(world.space.actions)

    def plain() -> GridValues:
        table = tabulate(grid, world.dynamics, task, DISCOUNT, actions)
        return jax.block_until_ready(swept_values(grid, table, TOLERANCE, MOST))

    def planner() -> Any:
        return plan_on_grid(grid, world.dynamics, task, actions, DISCOUNT, tolerance=TOLERANCE, max_sweeps=MOST)

    planned, fast = best_of(planner, repeats)
    swept_values(grid, tabulate(grid, world.dynamics, task, DISCOUNT, actions), jnp.inf, 1)  # compiles
    swept, slow = best_of(plain, repeats if grid.count < 100_000 else 1, warm=False)
    apart = float(jnp.abs(planned.values - swept.value).max())
    return (
        f"{name:30} plain {slow:8.3f} s ({int(swept.sweeps)} sweeps)   planner {fast:7.3f} s"
        f" ({planned.sweeps} full + {planned.evaluations} policy sweeps)   {slow / fast:5.1f} x   max |dV| {apart:.1e}"
    )


def best_of(work: Callable[[], Any], repeats: int, warm: bool = True) -> tuple[Any, float]:
    """A result and its least seconds, compilation left out."""
    if warm:
        work()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - began)
    return result, min(seconds)


def main(repeats: int = 3) -> None:
    """Print the timings, with the load of the machine: on a busy one they are no more than a hint."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, tolerance {TOLERANCE:g}, discount {DISCOUNT:g}")
    for name, case in CASES.items():
        print(measure_case(name, case, repeats), flush=True)
