"""The values of an exact agent: rows of goal x discount x policy, or in a continuous world tables on a grid.

Shapes: G goals, D discounts, N policies (on a grid: points), R = G D N rows, S states, A actions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.agents.exact.alike import alike
from wmlab.agents.exact.options import Approximate, Draws, Options, Policy
from wmlab.agents.exact.worst import against_column_matching, against_pseudo_inverse, against_rank
from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.core.continuous.goals import trained_task
from wmlab.core.continuous.grid import Grid, grid_of
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.core.goals import GoalSet
from wmlab.core.randomness import generator
from wmlab.planning.continuous.plan import plan_on_grid
from wmlab.planning.continuous.solver import NODES, action_values, mixed_values, tabulate
from wmlab.planning.finite.values import optimal_values, policy_values, soft_values

TOLERANCE = 1e-6  # on a grid, no value changes by more in a last full sweep
SWEEPS = 10_000
WORST = {
    "pseudo_inverse": against_pseudo_inverse,
    "column_matching": against_column_matching,
    "rank": against_rank,
}


def make_view(options: Options, world: FiniteWorld, goals: Goals, seed: int) -> FiniteView:
    """Exact values for every row, moved where the options say so."""
    discounts = discounts_of(options, seed)
    given = given_policies(options, world.space, goals, seed)  # [N or 1, G or 1, S, A], or None
    warmth = temperatures_of(options, seed)  # [N or 1], or None
    count = given.shape[0] if given is not None else 1 if warmth is None else len(warmth)
    rows = (goals.count, len(discounts), count)
    reward = _repeat(goals.reward[:, None, None], rows)
    continues = _repeat(goals.continues[:, None, None], rows)
    discount = _repeat(discounts[None, :, None], rows)
    if given is not None:
        policy = _repeat(given.swapaxes(0, 1)[:, None], rows)
        q = policy_values(world.kernel, policy, reward, continues, discount)
    elif warmth is not None:
        policy, q = soft_values(world.kernel, reward, continues, discount, _repeat(warmth[None, None], rows))
    elif isinstance(options.policy, Policy) and options.policy.kind == "alike":
        first, second = ([world.space.index(state) for state in side] for side in options.policy.sides)
        policy = alike(world.kernel, reward, continues, discount, (first, second))
        q = policy_values(world.kernel, policy, reward, continues, discount)
    else:
        policy, q = optimal_values(world.kernel, reward, continues, discount)
    if given is None and isinstance(options.policy, Policy) and options.policy.mix_uniform:
        policy = mix_with_uniform(policy, options.policy.mix_uniform)
        q = policy_values(world.kernel, policy, reward, continues, discount)
    view = FiniteView(q, policy, reward, continues, discount, world.space)
    return view if options.approximate is None else moved(view, options.approximate, seed)


def discounts_of(options: Options, seed: int) -> np.ndarray:
    """[D]"""
    if isinstance(options.discounts, Draws):
        return drawn(options.discounts, seed, "discounts")
    return np.array([options.discount] if options.discounts is None else options.discounts, float)


def temperatures_of(options: Options, seed: int) -> np.ndarray | None:
    """[N], spread evenly over orders of magnitude where they are drawn; None without entropy."""
    if options.temperatures is not None:
        low, high = np.log(options.temperatures.low), np.log(options.temperatures.high)
        return np.exp(low + (high - low) * drawn(options.temperatures, seed, "temperatures", unit=True))
    return None if options.temperature is None else np.array([options.temperature])


def drawn(how: Draws, seed: int, purpose: str, unit: bool = False) -> np.ndarray:
    """Numbers between the limits, or between 0 and 1."""
    stream = generator(seed if how.seed is None else how.seed, purpose)
    return stream.uniform(0.0, 1.0, how.random) if unit else stream.uniform(how.low, how.high, how.random)


def given_policies(options: Options, space: FiniteSpace, goals: Goals, seed: int) -> np.ndarray | None:
    """Policies [N, G or 1, S, A] that do not depend on values; None where they do."""
    shape = (space.size, len(space.actions))
    if options.policies is not None:
        own = seed if options.policies.seed is None else options.policies.seed
        goals_apart = goals.count if options.policies.conditional else 1
        return random_policies(own, (options.policies.random, goals_apart, *shape))
    policy = options.policy if isinstance(options.policy, Policy) else Policy(options.policy)
    if policy.kind in ("optimal", "alike"):
        return None
    if policy.kind == "uniform":
        chances = np.full((1, 1, *shape), 1.0 / shape[1])
    elif policy.kind == "random":
        chances = random_policies(seed if policy.seed is None else policy.seed, (1, goals.count, *shape))
        chances = np.eye(shape[1])[chances.argmax(axis=-1)] if policy.certain else chances
    else:
        assert policy.act is not None
        chances = table_policy(policy.act, space, goals)[None]
    return mix_with_uniform(chances, policy.mix_uniform)


def random_policies(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """Action probabilities drawn uniformly from the simplex, for each policy, goal and state."""
    return generator(seed, "random policy").dirichlet(np.ones(shape[-1]), size=shape[:-1])


def table_policy(act: Mapping[str, Any], space: FiniteSpace, goals: Goals) -> np.ndarray:
    """One-hot [G or 1, S, A] from {state: action}, or from {goal: {state: action}}."""
    by_goal = any(isinstance(value, Mapping) for value in act.values())
    tables = [act[label] for label in goals.labels] if by_goal else [act]
    chosen = np.array([[space.action(table[name]) for name in space.names] for table in tables])
    return np.eye(len(space.actions))[chosen]


def mix_with_uniform(policy: np.ndarray, mix_uniform: float) -> np.ndarray:
    """The policy [..., A], with a uniformly random action now and then."""
    return (1.0 - mix_uniform) * policy + mix_uniform / policy.shape[-1]


def moved(view: FiniteView, how: Approximate, seed: int) -> FiniteView:
    """The view with Q moved by epsilon, or by a random part of it, in l1 over the rows, for every state and action."""
    own = seed if how.seed is None else how.seed
    epsilon = how.epsilon * (separation(view.backup) if how.unit == "gap" else 1.0)
    if how.direction == "random":
        step = generator(own, "approximate values").standard_normal(view.q.shape)
        step *= epsilon / np.abs(step).sum(axis=0)
    else:
        step = WORST[how.against](view, epsilon)
    part = generator(own, "how far values move").random(view.q.shape[1:]) if how.how_far == "at_most" else 1.0
    return dataclasses.replace(view, q=view.q + part * step)


def separation(backup: np.ndarray) -> float:
    """The least l1 distance between two columns of M [R, S]."""
    apart = np.abs(backup[:, :, None] - backup[:, None, :]).sum(axis=0)
    np.fill_diagonal(apart, np.inf)
    return float(apart.min())


def _repeat(array: np.ndarray, rows: tuple[int, int, int]) -> np.ndarray:
    """[G or 1, D or 1, N or 1, ...] to [R, ...]."""
    return np.broadcast_to(array, (*rows, *array.shape[3:])).reshape(-1, *array.shape[3:]).copy()


# --- in a continuous world: values on a grid of states, to a tolerance ----------------------------------------------


def make_values(options: Options, world: ContinuousWorld, goals: GoalSet) -> tuple[Grid, np.ndarray]:
    """The grid, and Q [G, A, N] of the optimal or of the uniform policy on it."""
    assert options.grid is not None and options.discount is not None
    grid = grid_of(world.space, options.grid, options.bounds)
    tables = [_of_goal(options, world, grid, goals, goal) for goal in range(goals.count)]
    return grid, np.stack([np.asarray(q, np.float32) for q in tables])


def _of_goal(options: Options, world: ContinuousWorld, grid: Grid, goals: GoalSet, goal: int) -> Array:
    actions, discount = len(world.space.actions), jnp.float32(options.discount)
    task = trained_task(goals, goal)
    nodes = options.quadrature or NODES
    table = tabulate(grid, world.dynamics, task, discount, actions, nodes)
    if options.policy == "optimal":
        value = plan_on_grid(
            grid,
            world.dynamics,
            task,
            actions,
            discount,
            tolerance=TOLERANCE,
            max_sweeps=SWEEPS,
            points_per_noise=nodes,
        ).values
    else:
        alike = jnp.full((actions, grid.count), 1 / actions)
        value = mixed_values(grid, table, alike, TOLERANCE, SWEEPS).value
    return _action_values(grid, table, value)


_action_values = jax.jit(action_values, static_argnums=0)
