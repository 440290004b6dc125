"""Planning in a continuous model on a grid of its states."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wmlab.core.continuous.controls import lattice, named_actions
from wmlab.core.continuous.space import ContinuousSpace, check_ranges
from wmlab.core.memory import gib, usable_memory
from wmlab.errors import suggest
from wmlab.limits import ACTIONS, GRID, grouped
from wmlab.registry import Finding, Scope, SolverTraits, budget, by_world, option, solvers
from wmlab.registry.options import PAIRS

if TYPE_CHECKING:
    from jax import Array

    from wmlab.core.continuous.dynamics import ContinuousWorld, Dynamics
    from wmlab.core.continuous.goals import Task

COUNT = {"type": ["integer", "string"], "minimum": 2, "maximum": GRID, "x-wmlab": "number"}
SIZES: dict[str, Any] = {
    "type": ["integer", "string", "object"],
    "x-wmlab": "number",
    "minimum": 2,
    "maximum": GRID,
    "additionalProperties": COUNT,
}


@dataclass(frozen=True)
class Options:
    grid: int | dict[str, int] = option(
        by_world(quick=budget("points", 2_500, at_most=100), continuous=budget("points", 10_000, at_most=200)),
        doc="Points along each variable: one number, or one for each.",
        schema=SIZES,
    )
    bounds: dict[str, tuple[float, ...]] = option(
        {}, doc="Variable: the range that the grid covers, where it is not the variable's own.", schema=PAIRS
    )
    controls: int | None = option(
        by_world(box=budget("actions", 125, at_most=21), otherwise=None),
        doc="Of actions from a box: points along each component of the lattice of actions that plans choose from.",
        at_least=2,
        at_most=10_000,
    )
    quadrature: int = option(
        by_world(continuous=budget("outcomes", 32, at_most=5)),
        doc="Nodes for each random number of a stochastic world or model.",
        at_least=1,
        at_most=64,
    )
    acts_by: Literal["lookahead", "interpolation"] = option(
        "lookahead",
        doc="How a plan acts between points of its grid: by a step ahead in the model and interpolated values from"
        " there, or by interpolated values of actions.",
    )
    ties: Literal["any", "first"] = option(
        "any", doc="Which of equally good actions a plan takes: any of them at each step, or always the first."
    )
    pessimism: float = option(
        0.0,
        doc="How far the worst member of an ensemble counts in a plan: 0 plans in what members predict together, 1"
        " takes the worst of them at every step, and between them values are mixed. It keeps plans away from what"
        " members do not agree on, where that could cost something.",
        at_least=0,
        at_most=1,
    )
    tolerance: float = option(1e-6, doc="No value changes by more than this in a last full sweep.", above=0)
    max_sweeps: int = option(10_000, doc="Full sweeps after which it gives up.", at_least=1)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    space = scope.space
    if space is None:
        return
    if not isinstance(space, ContinuousSpace):
        yield Finding(("kind",), "a grid of states needs a continuous world", "in a finite one say value_iteration")
        return
    if options.controls is not None and not space.in_box:
        yield Finding(("controls",), "this world has a list of actions, and plans choose from it", "leave it out", True)
    elif space.in_box:
        count = (options.controls or 2) ** len(space.controls)
        if count > ACTIONS:
            message = f"a lattice of {grouped(count)} actions; {grouped(ACTIONS)} are allowed"
            yield Finding(("controls",), message, "say fewer points, or kind: sampling")
            return
        space = with_lattice(options, space)
    method = scope.extract
    if options.pessimism and method is not None and method.traits.members(method.options) < 2:
        message = "a single model has no members that could be worse than others"
        yield Finding(("pessimism",), message, "say extract.ensemble: 5, or pessimism: 0")
    if options.pessimism and options.acts_by == "interpolation":
        message = "weighs what members promise of a step ahead, and acts_by: interpolation takes none"
        yield Finding(("pessimism",), message, "say acts_by: lookahead")
    yield from check_grid(options.grid, options.bounds, space, outcomes_held(options, scope, space))


def with_lattice(options: Options, space: ContinuousSpace) -> ContinuousSpace:
    """The space that plans are made in: of actions from a box, those on a lattice are the list."""
    if not space.in_box:
        return space
    values = lattice(space.control_ranges, options.controls or 2)
    names = named_actions(space.controls, values)
    rows = tuple(tuple(map(float, row)) for row in values)
    return dataclasses.replace(space, actions=names, control_values=rows, control_ranges=())


def outcomes_of(scope: Scope, nodes: int, size: int) -> int:
    """How many next states of a state and action planning looks at, in the true world or in the model."""
    world, method = scope.mdp, scope.extract
    truth = 1 if world is None else world.traits.outcomes(world.options, nodes)
    return max(truth, 1 if method is None else nodes ** method.traits.random_numbers(method.options, size))


def tables_of(options: Options, members: int) -> int:
    """How many tables of successors planning holds: one, and where members count, theirs."""
    return 1 + members if options.pessimism and members > 1 else 1


def outcomes_held(options: Options, scope: Scope, space: ContinuousSpace) -> int:
    """How many next states of each state and action a plan holds, those of the members of an ensemble among them."""
    outcomes, method = outcomes_of(scope, options.quadrature, space.size), scope.extract
    members = 1 if method is None else method.traits.members(method.options)
    return outcomes * tables_of(options, members)


def planned_bytes(options: Options, scope: Scope) -> int:
    """Memory that a plan takes at its peak, as far as a spec tells."""
    space = with_lattice(options, scope.space)
    count, outcomes = points_of(options.grid, space), outcomes_held(options, scope, space)
    return planning_bytes(count, space.size, len(space.actions), outcomes)


def check_grid(
    sizes: int | dict[str, int], bounds: dict[str, tuple[float, ...]], space: ContinuousSpace, outcomes: int
) -> Iterator[Finding]:
    """A grid of states over ranges that are known, which fits into memory."""
    wrong = [*check_bounds(bounds, space), *check_sizes(sizes, space)]
    yield from wrong or check_memory(sizes, space, outcomes, ("grid",))


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


def check_sizes(sizes: int | dict[str, int], space: ContinuousSpace) -> Iterator[Finding]:
    """A number of points for each variable."""
    if isinstance(sizes, int):
        return
    for name in sizes:
        if name not in space.names:
            hint = suggest(name, space.names) or f"say {', '.join(space.names)}"
            yield Finding(("grid", name), f"'{name}' is not a state variable", hint, key=True)
    for name in space.names:
        if name not in sizes:
            yield Finding(("grid",), f"how many points along {name}?")


def check_memory(
    sizes: int | dict[str, int], space: ContinuousSpace, outcomes: int, path: tuple[str, ...]
) -> Iterator[Finding]:
    """Whether planning fits into this machine's memory."""
    count, there = points_of(sizes, space), usable_memory()
    each = planning_bytes(1, space.size, len(space.actions), outcomes)
    needed = count * each
    if needed > there:
        message = f"{count:.3g} points and {len(space.actions)} actions need {gib(needed)} GiB, and there are "
        fits = math.floor((there / each) ** (1 / space.size))
        yield Finding(path, message + f"{gib(there)}", f"{fits} points along each variable would fit")


def points_of(sizes: int | dict[str, int], space: ContinuousSpace) -> int:
    """How many points a grid has."""
    return math.prod(sizes if isinstance(sizes, int) else sizes[name] for name in space.names)


def half_as_fine(sizes: int | dict[str, int], space: ContinuousSpace) -> dict[str, int]:
    """A grid with every other point along each variable."""
    whole = sizes if isinstance(sizes, dict) else dict.fromkeys(space.names, sizes)
    return {name: max(2, (size + 1) // 2) for name, size in whole.items()}


def planning_bytes(count: int, axes: int, actions: int, outcomes: int = 1) -> int:
    """Memory that planning takes at its peak: the table of where each action leads, thrice while it is made and
    handed over, a policy's share of it, and values.

    `count` grid points; each outcome is a corner, a fraction for each axis and a weight, of four bytes each.
    """
    outcome = 4 * (2 + axes)
    table = actions * (outcomes * outcome + 8)
    return count * (3 * table + outcomes * (outcome + 8) + 4 * actions + 64)


@dataclass(frozen=True, eq=False)
class GridSolution:
    """A plan for one goal: what the model promises of it, and what it attains where it is followed."""

    value: np.ndarray  # [N] on the grid
    shape: tuple[int, ...]  # of the grid
    believed: float  # mean of the model's values over the starts
    attained: float  # mean discounted return in the true world; NaN where there is none
    returns: np.ndarray  # [S] from each start
    path: np.ndarray  # [T + 1, d] the way from the first start in the true world
    peaks: np.ndarray  # [S, D] the greatest size of each variable, derived ones too, on the way from each start
    residual: float  # greatest change of a value in the last full sweep


@solvers.register(
    "grid_value_iteration",
    Options,
    SolverTraits(worlds="continuous", from_box=True, of_models=("pessimism",)),
    check=check,
)
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
) -> GridSolution:
    """The optimal policy of a continuous model, on a grid of states with multilinear interpolation."""
    from wmlab.core.continuous.grid import grid_of
    from wmlab.planning.continuous.plan import Acting, believed, follow, plan_on_grid

    if space.in_box:
        import jax.numpy as jnp

        from wmlab.core.continuous.ensemble import listed

        space = with_lattice(options, space)
        controls = jnp.array(space.control_values, jnp.float32)
        model = listed(model, controls)
        world = None if world is None else dataclasses.replace(world, dynamics=listed(world.dynamics, controls))
    actions = len(space.actions)
    plan = plan_on_grid(
        grid_of(space, options.grid, options.bounds),
        model,
        task,
        actions,
        discount,
        tolerance=options.tolerance,
        max_sweeps=options.max_sweeps,
        points_per_noise=options.quadrature,
        pessimism=options.pessimism,
    )
    value, promised = np.asarray(plan.values), float(believed(plan, starts).mean())
    if world is None:
        nothing = np.zeros(0, np.float32)
        return GridSolution(value, plan.grid.shape, promised, math.nan, nothing, nothing, nothing, plan.residual)
    how = (options.quadrature, Acting(options.acts_by, options.ties), options.pessimism)
    done = follow(plan, model, world.dynamics, task, actions, discount, starts, world.horizon, key, *how)
    path = done.states[: int(done.steps[0]) + 1, 0]
    mean = float(done.returns.mean(dtype=np.float64))
    peaks = np.abs(space.full(done.states)).max(axis=0)
    return GridSolution(value, plan.grid.shape, promised, mean, done.returns, path, peaks, plan.residual)
