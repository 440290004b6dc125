"""Planning in a continuous model on a grid of its states."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.ranges import RANGES, check_ranges
from wmlab.errors import suggest
from wmlab.planning.continuous.memory import check_memory
from wmlab.registry import Finding, Scope, SolverTraits, option, solvers

if TYPE_CHECKING:
    from jax import Array

    from wmlab.core.continuous.dynamics import Dynamics
    from wmlab.core.continuous.tasks import Task
    from wmlab.core.continuous.world import ContinuousWorld

COUNT = {"type": ["integer", "string"], "minimum": 2, "x-wmlab": "number"}
SIZES: dict[str, Any] = {
    "type": ["integer", "string", "object"],
    "x-wmlab": "number",
    "minimum": 2,
    "additionalProperties": COUNT,
}


@dataclass(frozen=True)
class Options:
    grid: int | dict[str, int] = option(doc="Points along each variable: one number, or one for each.", schema=SIZES)
    bounds: dict[str, tuple[float, ...]] = option(
        {}, doc="Variable: the range that the grid covers, where it is not the variable's own.", schema=RANGES
    )
    quadrature: int = option(5, doc="Nodes for each random number of a stochastic model.", at_least=1, at_most=64)
    tolerance: float = option(1e-6, doc="No value changes by more than this in a last full sweep.", above=0)
    max_sweeps: int = option(10_000, doc="Full sweeps after which it gives up.", at_least=1)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    space = scope.space
    if space is None:
        return
    if not isinstance(space, ContinuousSpace):
        yield Finding(("kind",), "a grid of states needs a continuous world", "in a finite one say value_iteration")
        return
    wrong = [*check_bounds(options.bounds, space), *check_sizes(options.grid, space, ("grid",))]
    yield from wrong
    if not wrong:
        outcomes = outcomes_of(scope, options.quadrature, space.size)
        yield from check_memory(options.grid, space, outcomes, ("grid",))


def outcomes_of(scope: Scope, nodes: int, size: int) -> int:
    """How many next states of a state and action planning looks at, in the true world or in the model."""
    noise = ((scope.mdp and scope.mdp.get("noise")) or {}).values()
    truth = math.prod(len(each.values) if each.kind == "categorical" else nodes for each in noise)
    gaussian = scope.extract is not None and scope.extract.get("model", "family") == "gaussian"
    return max(truth, nodes**size if gaussian else 1)


def check_bounds(bounds: dict[str, tuple[float, ...]], space: ContinuousSpace) -> Iterator[Finding]:
    """Every variable needs a range, its own or a given one; a circle needs none."""
    yield from check_ranges(bounds, space)
    for variable in space.variables:
        if variable.periodic and variable.name in bounds:
            message = f"{variable.name} goes round in a circle; the grid covers all of it"
            yield Finding(("bounds", variable.name), message)
        if not variable.bounded and variable.name not in bounds:
            hint = f"say bounds: {{{variable.name}: [low, high]}}"
            yield Finding(("bounds",), f"{variable.name} has no range of its own, and a grid needs one", hint)


def check_sizes(sizes: int | dict[str, int], space: ContinuousSpace, path: tuple[str, ...]) -> Iterator[Finding]:
    """A number of points for each variable."""
    if isinstance(sizes, int):
        return
    for name in sizes:
        if name not in space.names:
            hint = suggest(name, space.names) or f"say {', '.join(space.names)}"
            yield Finding((*path, name), f"'{name}' is not a state variable", hint, key=True)
    for name in space.names:
        if name not in sizes:
            yield Finding(path, f"how many points along {name}?")


@dataclass(frozen=True, eq=False)
class Solved:
    """A plan for one goal: what the model promises of it, and what it attains where it is followed."""

    value: np.ndarray  # [N] on the grid
    shape: tuple[int, ...]  # of the grid
    believed: float  # mean of the model's values over the starts
    attained: float  # mean discounted return in the true world; NaN where there is none
    returns: np.ndarray  # [S] from each start
    path: np.ndarray  # [T + 1, d] the way from the first start in the true world
    residual: float  # greatest change of a value in the last full sweep


@solvers.register("grid_value_iteration", Options, SolverTraits(worlds="continuous"), check=check)
def grid_value_iteration(
    options: Options,
    model: Dynamics,
    world: ContinuousWorld | None,
    task: Task,
    starts: np.ndarray,
    *,
    space: ContinuousSpace,
    discount: float,
    start: int | None = None,
    key: Array,
) -> Solved:
    """The optimal policy of a continuous model, on a grid of states with multilinear interpolation."""
    from wmlab.core.continuous.grid import grid_of
    from wmlab.planning.continuous.plan import believed, follow, plan_on_grid

    actions = len(space.actions)
    found = plan_on_grid(
        grid_of(space, options.grid, options.bounds),
        model,
        task,
        actions,
        discount,
        tolerance=options.tolerance,
        max_sweeps=options.max_sweeps,
        points_per_noise=options.quadrature,
    )
    value, promised = np.asarray(found.values), float(believed(found, starts).mean())
    if world is None:
        nothing = np.zeros(0, np.float32)
        return Solved(value, found.grid.shape, promised, math.nan, nothing, nothing, found.residual)
    done = follow(found, model, world.dynamics, task, actions, discount, starts, world.horizon, key, options.quadrature)
    path = done.states[: int(done.steps[0]) + 1, 0]
    mean = float(done.returns.mean(dtype=np.float64))
    return Solved(value, found.grid.shape, promised, mean, done.returns, path, found.residual)
