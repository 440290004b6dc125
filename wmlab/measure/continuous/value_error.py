"""How far an agent's values in a continuous world are from exact ones.

Values of the agent's own policy are held against rollouts in the true world where nothing is left to chance: a grid
would be measured with them. Where chance has a hand in it they are held against a grid, and that grid against rollouts.
The best values that there are come from a grid in any world.

Shapes: G goals, N grid points, P probes (states with an action each), A actions, d variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.core.continuous.goals import trained_task
from wmlab.core.continuous.grid import Grid, pad, points
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.goals import GoalSet
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.policy_values import rollout_values
from wmlab.planning.continuous.plan import lookahead
from wmlab.planning.continuous.solver import (
    NODES,
    GridValues,
    SuccessorTable,
    action_values,
    mixed_values,
    optimal_values,
    policy_values,
    tabulate,
)
from wmlab.registry.metrics import Measured

TOLERANCE = 1e-6
MAX_SWEEPS = 10_000
CHECKED = 8192  # rollouts by which a grid is checked where chance has a hand in it, at most

_action_values = jax.jit(action_values, static_argnums=0)
_lookahead = jax.jit(lookahead, static_argnames=("grid", "actions", "nodes"))


@dataclass(frozen=True, eq=False)
class Probes:
    """Where values are compared."""

    states: np.ndarray  # float32 [P, d]
    actions: np.ndarray  # int32 [P]

    @classmethod
    def of(cls, states: np.ndarray, actions: int) -> Probes:
        """States [P, d], each with the next action in turn."""
        return cls(states, np.arange(len(states), dtype=np.int32) % actions)

    def chosen(self, values: np.ndarray) -> np.ndarray:
        """Of values [P, A] those of each state's own action: float64 [P]."""
        return np.take_along_axis(values, self.actions[:, None], axis=1)[:, 0].astype(np.float64)


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
    nodes: int = NODES,
) -> Array:
    """Q [A, N] of a policy: int [N] takes one action each, [A, N] draws them, None is the best there is.

    nodes: for each random number of a stochastic world
    """
    table = tabulate(grid, world, trained_task(goals, goal), discount, actions, nodes)
    return _action_values(grid, table, solved(grid, table, policy).value)


def solved(grid: Grid, table: SuccessorTable, policy: Array | None) -> GridValues:
    """Values [N] of a policy, or of the best there is, from a table of what actions do."""
    if policy is None:
        return optimal_values(grid, table, jnp.zeros(grid.count), TOLERANCE, MAX_SWEEPS)
    if policy.ndim == 1:
        return policy_values(grid, table, policy, TOLERANCE, MAX_SWEEPS)
    return mixed_values(grid, table, policy, TOLERANCE, MAX_SWEEPS)


@dataclass(frozen=True, eq=False)
class GridReading:
    """What a grid says of an agent's values."""

    own: np.ndarray  # [G, P] values of the agent's own policy at the probes
    off: np.ndarray  # [G] greatest |Q - Q*| over the points of the grid


def read_grid(
    grid: Grid,
    world: Dynamics,
    goals: GoalSet,
    q: Callable[[int], np.ndarray],
    discount: float,
    policy: str,
    probes: Probes,
    nodes: int = NODES,
) -> GridReading:
    """Solve for the agent's own policy and for the best one; `q(goal)` gives the agent's values [N, A] on the grid.

    Between points of the grid, a value is one step in the true world, then interpolation.
    """
    own, off = [], []
    for goal in range(goals.count):
        task, mine = trained_task(goals, goal), jnp.asarray(q(goal)).T  # [A, N]
        count = mine.shape[0]
        table = tabulate(grid, world, task, discount, count, nodes)
        chosen = mine.argmax(axis=0) if policy == "greedy" else jnp.full(mine.shape, 1 / count)
        value = pad(grid, solved(grid, table, chosen).value)
        ahead = _lookahead(grid, value, world, task, discount, jnp.asarray(probes.states), count, nodes)  # [A, P]
        own.append(probes.chosen(np.asarray(ahead).T))
        best = _action_values(grid, table, solved(grid, table, None).value)
        off.append(float(jnp.abs(mine - best).max()))
    return GridReading(np.stack(own), np.array(off))


def rolled(view: ContinuousView, world: Dynamics, probes: Probes, purpose: str) -> np.ndarray:
    """Returns [G, P] of rollouts of the agent's own policy, from every probe and for every goal."""
    states, actions = np.tile(probes.states, (view.goals, 1)), np.tile(probes.actions, view.goals)
    goal = np.repeat(np.arange(view.goals), len(probes.actions))
    values = rollout_values(view, world, states, actions, goal, jax_key(0, purpose))
    return values.reshape(view.goals, -1)


def errors(
    view: ContinuousView, world: Dynamics, probes: Probes, mine: np.ndarray, on_grid: GridReading, labels: Sequence[str]
) -> Measured:
    """q.nmse, q.max_error, q.l1_max and q.grid_nmse of values [G, P] at the probes.

    q.nmse: mean squared error against Q^π of the agent's own policy, over the variance of that Q^π.
    q.max_error: the greatest |Q - Q*|, on the grid. q.l1_max: the greatest over the probes of the l1 distance to Q^π,
    over all goals. q.grid_nmse: what q.nmse would be of an agent whose values were those of the grid.
    """
    if world.noise == 0 and view.policy == "greedy":
        own = once = again = rolled(view, world, probes, "the agent's own way")
    else:
        own, few = on_grid.own, max(2, CHECKED // (2 * view.goals))
        some = Probes(probes.states[:few], probes.actions[:few])
        once, again = (rolled(view, world, some, f"the agent's own way, {time}") for time in ("once", "again"))
    checked, gap = on_grid.own[:, : once.shape[1]], mine - own
    return {
        "q.nmse": _over(gap**2, own, own, labels),
        "q.max_error": {"value": float(on_grid.off.max()), "by": {"goal": _named(labels, on_grid.off)}},
        "q.l1_max": {"value": float(np.abs(gap).sum(axis=0).max())},
        # Of two draws of a return, products of errors and covariances have the means of squares and variances of Q^π.
        "q.grid_nmse": _over((checked - once) * (checked - again), once, again, labels),
    }


def _over(squares: np.ndarray, once: np.ndarray, again: np.ndarray, labels: Sequence[str]) -> dict[str, object]:
    """Mean squares [G, …] over the covariance of two draws of values [G, P]: of all goals together, and of each."""
    each = [_ratio(*goal) for goal in zip(squares, once, again, strict=True)]
    return {"value": _ratio(squares, once, again), "by": {"goal": _named(labels, each)}}


def _named(labels: Sequence[str], each: Sequence[float | None] | np.ndarray) -> dict[str, float | None]:
    return {name: None if one is None else float(one) for name, one in zip(labels, each, strict=True)}


def _ratio(squares: np.ndarray, once: np.ndarray, again: np.ndarray) -> float | None:
    """A mean over a covariance; none where nothing varies and yet there is an error."""
    error, variance = float(squares.mean()), float((once * (again - again.mean())).mean())
    return error / variance if variance > 0 else (0.0 if error == 0 else None)
