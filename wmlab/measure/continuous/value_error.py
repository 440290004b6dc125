"""How far an agent's values in a continuous world are from exact ones, on a grid of states.

Shapes: G goals, N grid points, A actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.goals import trained_task
from wmlab.core.continuous.grid import Grid, points
from wmlab.core.goals import GoalSet
from wmlab.planning.continuous.solver import NODES, action_values, mixed_values, optimal_values, policy_values, tabulate
from wmlab.registry.metrics import Measured

_action_values = jax.jit(action_values, static_argnums=0)


def grid_states(grid: Grid) -> np.ndarray:
    """The states [N, d] of a grid, in the order of its values."""
    return np.asarray(jax.jit(points, static_argnums=0)(grid, jnp.arange(grid.count)))


def exact_values(
    grid: Grid,
    world: Dynamics,
    goals: GoalSet,
    goal: int,
    policy: Array | None,
    discount: float,
    actions: int,
    tolerance: float = 1e-6,
    max_sweeps: int = 10_000,
    nodes: int = NODES,
) -> Array:
    """Q [A, N] of a policy: int [N] takes one action each, [A, N] draws them, None is the best there is.

    nodes: for each random number of a stochastic world
    """
    table = tabulate(grid, world, trained_task(goals, goal), discount, actions, nodes)
    if policy is None:
        solved = optimal_values(grid, table, jnp.zeros(grid.count), tolerance, max_sweeps)
    elif policy.ndim == 1:
        solved = policy_values(grid, table, policy, tolerance, max_sweeps)
    else:
        solved = mixed_values(grid, table, policy, tolerance, max_sweeps)
    return _action_values(grid, table, solved.value)


def errors_on_grid(
    grid: Grid,
    world: Dynamics,
    goals: GoalSet,
    q: Callable[[int], np.ndarray],
    discount: float,
    policy: Literal["greedy", "uniform"] = "greedy",
    labels: Sequence[str] | None = None,
    nodes: int = NODES,
) -> Measured:
    """q.nmse, q.max_error and q.l1_max; `q(goal)` gives the agent's values [N, A] at `grid_states`.

    q.nmse: mean squared error against Q^pi of the agent's own policy, over the variance of that Q^pi.
    q.max_error: the greatest |Q - Q*|. q.l1_max: the greatest over s, a of the l1 distance to Q^pi, over all goals.
    """
    squares, sums, counts, off, names = [], [], 0, [], labels or [str(goal) for goal in range(goals.count)]
    apart: Any = 0.0
    for goal in range(goals.count):
        mine = jnp.asarray(q(goal)).T  # [A, N]
        count = mine.shape[0]
        chosen = mine.argmax(axis=0) if policy == "greedy" else jnp.full(mine.shape, 1 / count)
        own = np.asarray(exact_values(grid, world, goals, goal, chosen, discount, count, nodes=nodes), np.float64)
        best = np.asarray(exact_values(grid, world, goals, goal, None, discount, count, nodes=nodes), np.float64)
        gap = np.asarray(mine, np.float64) - own
        squares.append(((gap**2).mean(), own.var()))
        sums.append((own.sum(), (own**2).sum()))
        counts += own.size
        off.append(float(np.abs(np.asarray(mine, np.float64) - best).max()))
        apart = apart + np.abs(gap)
    total, second = (sum(part) for part in zip(*sums, strict=True))
    variance = second / counts - (total / counts) ** 2
    by = {name: _ratio(*pair) for name, pair in zip(names, squares, strict=True)}
    nmse = _ratio(float(np.mean([error for error, _ in squares])), float(variance))
    return {
        "q.nmse": {"value": nmse, "by": {"goal": by}},
        "q.max_error": {"value": max(off), "by": {"goal": dict(zip(names, off, strict=True))}},
        "q.l1_max": {"value": float(apart.max())},
    }


def _ratio(error: float, variance: float) -> float | None:
    """An error over a variance; none where nothing varies and yet there is an error."""
    return float(error / variance) if variance > 0 else (0.0 if error == 0 else None)
