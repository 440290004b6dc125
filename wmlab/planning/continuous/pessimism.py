"""Plans that count on no more than the members of an ensemble agree on.

Q(s, a) is (1 - p) times what follows in the ensemble's own prediction, and p times what follows in that of the member
in which it is worst. At p = 0 this is the plan in the point prediction; at p = 1 it is a robust plan, whose values are
attained at least wherever each step is one that some member foresees. What members disagree on counts by what it would
cost, in the units of values: a penalty on rewards would have to be scaled to each goal, and would keep away from
places where members part in what does not matter. The mixture is monotone in the values and contracts by the discount
for every p in [0, 1], so that there is one solution, and sweeps find it.

Shapes: K members, A actions, N grid points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.goals import Task
from wmlab.core.continuous.grid import Grid
from wmlab.planning.continuous.solver import (
    ROUNDS,
    GridValues,
    SuccessorTable,
    action_values,
    iterated,
    policy_part,
    tabulate,
)

PATIENCE = 100  # improvements: the member that is worst changes with the values, which can go round in circles


class DoubtfulTable(NamedTuple):
    """Where an ensemble and its members lead from each grid point."""

    mean: SuccessorTable
    members: SuccessorTable  # every array with an axis of members [K, …] in front
    pessimism: Array  # []


def tabulate_members(
    grid: Grid, ensemble: Ensemble, task: Task, discount: Array | float, actions: int, nodes: int, pessimism: Array
) -> DoubtfulTable:
    """The tables of an ensemble for one task, on the N points of a grid."""

    def of(dynamics: object) -> SuccessorTable:
        return tabulate(grid, dynamics, task, discount, actions, nodes)

    return DoubtfulTable(of(ensemble), jax.vmap(of)(ensemble.members), pessimism)


def weighed(mean: Array, apart: Array, pessimism: Array) -> Array:
    """What is counted on of values in the mean [...] and in each member [K, ...]."""
    return (1 - pessimism) * mean + pessimism * apart.min(axis=0)


@partial(jax.jit, static_argnames="grid")
def cautious_values(grid: Grid, table: DoubtfulTable, value: Array, tolerance: Array, max_sweeps: Array) -> GridValues:
    """Values [N] of the plan that is best by what can be counted on, from a first guess [N]."""

    def improved(value: Array) -> tuple[Array, Callable[[], SuccessorTable]]:
        apart = jax.vmap(lambda member: action_values(grid, member, value))(table.members)  # [K, A, N]
        q = weighed(action_values(grid, table.mean, value), apart, table.pessimism)
        action = q.argmax(axis=0).astype(jnp.int32)
        return q.max(axis=0), lambda: part_of(table, action, apart)

    return iterated(grid, improved, ROUNDS * table.mean.reward.shape[0], value, tolerance, max_sweeps, PATIENCE)


def part_of(table: DoubtfulTable, action: Array, apart: Array) -> SuccessorTable:
    """What a policy int32 [N] counts on where values in each member are [K, A, N]: mean and worst as outcomes."""
    chosen = jax.vmap(lambda member: policy_part(member, action))(table.members)
    own = jnp.take_along_axis(apart, action[None, None], axis=1)[:, 0]  # [K, N]
    worst = policy_part(chosen, own.argmin(axis=0))
    mean, share = policy_part(table.mean, action), table.pessimism
    return SuccessorTable(
        jnp.concatenate([mean.first, worst.first]),
        jnp.concatenate([mean.fractions, worst.fractions]),
        jnp.concatenate([(1 - share) * mean.keep, share * worst.keep]),
        (1 - share) * mean.reward + share * worst.reward,
        (1 - share) * mean.own + share * worst.own,
    )
