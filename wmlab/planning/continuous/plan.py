"""Plans on a grid of states: from coarse grids to fine ones, and what they attain in another world.

Shapes: N grid points, S starts, d state variables, A actions, T steps, K outcomes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics, every_outcome
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.goals import Task
from wmlab.core.continuous.grid import Grid, interpolate, locate, pad, points, read, refine
from wmlab.planning.continuous.pessimism import cautious_values, tabulate_members, weighed
from wmlab.planning.continuous.solver import NODES, GridValues, optimal_values, tabulate

FEW = 2000  # a grid of no more points is solved from nothing
Carry = tuple[Array, Array, Array, Array]
AS_GOOD = 1e-6  # values that are closer than a plan's tolerance are equal
NEGLIGIBLE = 1e-6  # rewards that are discounted below this are not waited for


@dataclass(frozen=True, eq=False)
class GridPlan:
    """Optimal values of a model on a grid. Its policy looks one step ahead in that model."""

    grid: Grid
    values: Array  # [N]
    residual: float  # greatest change of a value in the last full sweep
    sweeps: int  # full sweeps on the finest grid
    evaluations: int  # sweeps over one policy on the finest grid


@dataclass(frozen=True)
class Acting:
    """How a plan acts."""

    by: Literal["lookahead", "interpolation"] = "lookahead"  # a step in the model, or Q between points of the grid
    ties: Literal["any", "first"] = "any"

    def choose(self, q: Array, key: Array) -> Array:
        """Actions int32 [S] of the greatest values [A, S]."""
        return argmax_random_ties(q, key) if self.ties == "any" else q.argmax(axis=0).astype(jnp.int32)


AHEAD = Acting()


def coarser(grid: Grid) -> list[Grid]:
    """This grid and coarser ones over the same ranges, the coarsest first; each has a third of the points an axis."""
    levels = [grid]
    while levels[-1].count > FEW and min(levels[-1].shape) >= 15:
        shape = tuple(-(-size // 3) for size in levels[-1].shape)
        levels.append(Grid(shape, grid.low, grid.high, grid.periodic))
    return levels[::-1]


def plan_on_grid(
    grid: Grid,
    model: Dynamics,
    task: Task,
    actions: int,
    discount: float,
    *,
    tolerance: float = 1e-6,
    max_sweeps: int = 10_000,
    points_per_noise: int = NODES,
    pessimism: float = 0.0,
) -> GridPlan:
    """The best plan in a model, to a tolerance: each coarser solution is the first guess on the next grid.

    grid: where values are held, N points
    model, task, actions: what each of A actions does, what arriving pays
    tolerance, max_sweeps: no value changes by more in a last full sweep, or so many sweeps are done
    points_per_noise: nodes for each random number of a stochastic model
    pessimism: how far the worst member of an ensemble counts; of a single model there is none
    """
    share = share_of(model, pessimism)
    solution: GridValues | None = None
    previous = grid
    for level in coarser(grid):
        guess = jnp.zeros(level.count) if solution is None else refine(previous, level, solution.value)
        if share is not None and isinstance(model, Ensemble):
            tables = tabulate_members(level, model, task, discount, actions, points_per_noise, share)
            solution = cautious_values(level, tables, guess, tolerance, max_sweeps)
        else:
            table = tabulate(level, model, task, discount, actions, points_per_noise)
            solution = optimal_values(level, table, guess, tolerance, max_sweeps)
        previous = level
    assert solution is not None
    return GridPlan(grid, solution.value, float(solution.residual), int(solution.sweeps), int(solution.evaluations))


@dataclass(frozen=True, eq=False)
class Rollout:
    """What happened from each start."""

    returns: np.ndarray  # [S] discounted
    states: np.ndarray  # [T + 1, S, d]; the last one is repeated once an episode is over
    steps: np.ndarray  # int [S] steps until the episode was over, or T


def follow(
    plan: GridPlan,
    model: Dynamics,
    world: Dynamics,
    task: Task,
    actions: int,
    discount: float,
    starts: np.ndarray,
    horizon: int | None,
    key: Array,
    points_per_noise: int = NODES,
    acting: Acting = AHEAD,
    pessimism: float = 0.0,
) -> Rollout:
    """Act in a world by a plan made in a model, from starts [S, d], until the episodes end or are cut.

    plan, model, points_per_noise, pessimism: the policy looks one step ahead in this model, as the plan did
    world, task, discount: where it acts, and what arriving pays there
    horizon: steps after which episodes are cut; None: when nothing of weight can follow
    acting: how actions are chosen between points of the grid
    """
    cut = math.ceil(math.log(NEGLIGIBLE) / math.log(discount)) if discount > 0 else 1
    length = cut if horizon is None else int(horizon)
    parts = _follow(
        plan.grid,
        plan.values,
        model,
        world,
        task,
        discount,
        jnp.asarray(starts),
        key,
        actions,
        length,
        points_per_noise,
        acting,
        share_of(model, pessimism),
    )
    return Rollout(*(np.asarray(part) for part in parts))


def believed(plan: GridPlan, starts: np.ndarray) -> np.ndarray:
    """What the model promises from each start: [S]."""
    return np.asarray(_interpolate(plan.grid, plan.values, jnp.asarray(starts)))


_interpolate = jax.jit(interpolate, static_argnames="grid")


def share_of(model: Dynamics, pessimism: float) -> Array | None:
    """How far the worst member counts, []; None where there are no members, or it does not count."""
    return jnp.float32(pessimism) if pessimism and isinstance(model, Ensemble) else None


def lookahead(
    grid: Grid, padded: Array, model: Dynamics, task: Task, discount: Array, states: Array, actions: int, nodes: int
) -> Array:
    """Q [A, S] of states [S, d]: one step in the model, then interpolated values.

    grid, padded: the values, ready to be read
    model, task, discount []: what each of `actions` does, what arriving pays
    nodes: points for each random number of the model, K outcomes in all
    """
    noise, chances = (jnp.asarray(part) for part in model.quadrature(nodes))

    def of_action(action: Array) -> Array:
        after = every_outcome(model, states, jnp.full(states.shape[0], action), noise)  # [K, S, d]
        reward, continues = jax.vmap(task.arrive)(after)
        later = jax.vmap(lambda places: read(grid, padded, *locate(grid, places)))(after)
        return chances @ (reward + discount * continues * later)

    return jax.lax.map(of_action, jnp.arange(actions, dtype=jnp.int32))


def argmax_random_ties(q: Array, key: Array) -> Array:
    """Actions int32 [S] of the greatest values [A, S]; any of those that are as good, whatever their order.

    With always the first of them, one whose promise does not come true would be taken again for ever.
    """
    best = q >= q.max(axis=0) - AS_GOOD
    return jnp.where(best, jax.random.uniform(key, q.shape), -1.0).argmax(axis=0).astype(jnp.int32)


def action_table(
    grid: Grid, padded: Array, model: Dynamics, task: Task, discount: Array, actions: int, nodes: int
) -> Array:
    """Q [P, A] at the points of a grid, ready to be read: what `lookahead` says there."""
    q = lookahead(grid, padded, model, task, discount, points(grid, jnp.arange(grid.count)), actions, nodes)
    return jax.lax.map(partial(pad, grid), q).T


@partial(jax.jit, static_argnames=("grid", "actions", "length", "nodes", "acting"))
def _follow(
    grid: Grid,
    values: Array,
    model: Dynamics,
    world: Dynamics,
    task: Task,
    discount: Array,
    starts: Array,
    key: Array,
    actions: int,
    length: int,
    nodes: int,
    acting: Acting,
    pessimism: Array | None,
) -> tuple[Array, Array, Array]:
    padded = pad(grid, values)
    table = None
    if acting.by == "interpolation":
        table = action_table(grid, padded, model, task, discount, actions, nodes)

    def apart(states: Array) -> Array:
        """What each member promises, [K, A, S]."""
        assert isinstance(model, Ensemble)
        look = partial(lookahead, grid, padded)
        return jax.vmap(lambda member: look(member, task, discount, states, actions, nodes))(model.members)

    def step(carry: Carry, step_key: Array) -> tuple[Carry, Array]:
        states, worth, gain, steps = carry  # worth: γ^t while the episode goes on, 0 after it
        if table is None:
            q = lookahead(grid, padded, model, task, discount, states, actions, nodes)
        else:
            q = read(grid, table, *locate(grid, states)).T
        if pessimism is not None:
            q = weighed(q, apart(states), pessimism)
        after = world.draw(step_key, states, acting.choose(q, jax.random.fold_in(step_key, 1)))
        reward, continues = task.arrive(after)
        going = worth > 0
        states = jnp.where(going[:, None], after, states)
        return (states, worth * continues * discount, gain + worth * reward, steps + going), states

    count = starts.shape[0]
    first = (starts, jnp.ones(count), jnp.zeros(count), jnp.zeros(count, jnp.int32))
    (_, _, gain, steps), path = jax.lax.scan(step, first, jax.random.split(key, length))
    return gain, jnp.concatenate([starts[None], path]), steps
