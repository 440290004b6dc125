"""All that an extraction may know of an agent in a continuous world: values, rewards, ranges, and a sampler of states.

A view is pure functions beside the arrays that they read. Functions are part of a program, arrays are its arguments:
two agents that differ in their weights alone share one compiled program, provided that their functions are the same
objects.

Shapes: N states, d variables, G goals, A actions, J goals looked at per state (1, or all G).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.space import ContinuousSpace

Edge = Literal["wrap", "clip", "open"]  # periodic, held at its range, or unbounded (its range is a scale only)
Encoding = Literal["raw", "normalised", "sincos"]


def static(**defaults: Any) -> Any:
    """A field that is part of the program instead of an argument to it."""
    return dataclasses.field(metadata={"static": True}, **defaults)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Frame:
    """The variables of a state: their ranges, and what lies beyond them."""

    ranges: Array  # float32 [d, 2]: low, high; finite, the usual span of a variable that has no bounds
    edges: tuple[Edge, ...] = static()  # [d]

    @classmethod
    def of(cls, space: ContinuousSpace) -> Frame:
        """The frame of a declared space; a variable without a range is measured by its usual one."""
        scales = [variable.scale for variable in space.variables]
        return cls(jnp.array(scales, jnp.float32), tuple(variable.edge for variable in space.variables))

    @property
    def size(self) -> int:
        return len(self.edges)

    @property
    def low(self) -> Array:
        return self.ranges[:, 0]

    @property
    def span(self) -> Array:
        return self.ranges[:, 1] - self.ranges[:, 0]

    def mask(self, edge: Edge) -> Array:
        """Which variables have that edge, bool [d]."""
        return jnp.array([own == edge for own in self.edges])

    def wrap(self, state: Array) -> Array:
        """Periodic variables brought back into their ranges; gradients pass."""
        if "wrap" not in self.edges:
            return state
        turns = jnp.floor((state - self.low) / self.span)
        return state - jnp.where(self.mask("wrap"), turns, 0.0) * self.span

    def confine(self, state: Array) -> Array:
        """Wrapped, and held at the bounds. Gradients pass as if there were no bounds, so that none gets stuck there."""
        state = self.wrap(state)
        held = jnp.clip(state, self.low, self.ranges[:, 1])
        return state + jax.lax.stop_gradient(jnp.where(self.mask("clip"), held, state) - state)

    def difference(self, to: Array, from_: Array) -> Array:
        """to - from, the short way round for periodic variables."""
        gap = to - from_
        if "wrap" not in self.edges:
            return gap
        return gap - jnp.where(self.mask("wrap"), jnp.round(gap / self.span), 0.0) * self.span

    def encode(self, state: Array, encoding: Encoding) -> Array:
        """States [..., d] as a network reads them, [..., width]."""
        if encoding == "raw":
            return state
        scaled = 2 * (state - self.low) / self.span - 1  # in [-1, 1]
        if encoding == "normalised" or "wrap" not in self.edges:
            return scaled
        parts = []
        for index, edge in enumerate(self.edges):
            one = scaled[..., index]
            parts += [jnp.sin(jnp.pi * one), jnp.cos(jnp.pi * one)] if edge == "wrap" else [one]
        return jnp.stack(parts, axis=-1)

    def width(self, encoding: Encoding) -> int:
        """Numbers in an encoded state."""
        return self.size + (self.edges.count("wrap") if encoding == "sincos" else 0)

    def uniform(self, key: Array, count: int) -> Array:
        """States [count, d], uniform over the ranges."""
        return self.low + self.span * jax.random.uniform(key, (count, self.size))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class ContinuousView:
    """A frozen agent and its goals. Nothing of what the actions do."""

    params: Any  # arrays that the functions read: weights of the agent, places of the goals, …
    discount: Array  # float32 scalar
    frame: Frame
    values_fn: Callable[[Any, Array], Array] = static()  # (params, state [N, d]) -> Q [N, G, A]
    arrive_fn: Callable[[Any, Array], tuple[Array, Array]] = static()  # -> reward [N, G], continues [N, G]
    sample_fn: Callable[[Any, Array, int], Array] = static()  # (params, key, n) -> states [n, d] of the spec's choice
    actions: int = static()  # A
    goals: int = static()  # G
    policy: Literal["greedy", "uniform"] = static(default="greedy")
    # (params, state [N, d], goal int [N]) -> Q [N, A]: for networks that read the goal, where one goal is cheaper
    values_of_fn: Callable[[Any, Array, Array], Array] | None = static(default=None)
    worth_fn: Callable[[Any, Array], Array] | None = static(default=None)  # -> V [N, G], where it is known by itself

    def values(self, state: Array) -> Array:
        """Q [N, G, A]"""
        return self.values_fn(self.params, state)

    def values_at(self, state: Array, goal: Array) -> Array:
        """Q [N, J, A] of the goals [N, J]: one a state, or all of them in order."""
        if goal.shape[1] > 1:
            return self.values(state)
        if self.values_of_fn is not None:
            return self.values_of_fn(self.params, state, goal[:, 0])[:, None]
        return chosen(self.values(state), goal)

    def arrive(self, state: Array) -> tuple[Array, Array]:
        """Reward and continue flag of arriving in states [N, d], each [N, G]."""
        return self.arrive_fn(self.params, state)

    def arrive_at(self, state: Array, goal: Array) -> tuple[Array, Array]:
        """The same for the goals [N, J]."""
        reward, continues = self.arrive(state)
        return (reward, continues) if goal.shape[1] > 1 else (chosen(reward, goal), chosen(continues, goal))

    def worth(self, values: Array) -> Array:
        """V [...] of values [..., A], under the agent's own policy."""
        return values.max(axis=-1) if self.policy == "greedy" else values.mean(axis=-1)

    def worth_at(self, state: Array, goal: Array) -> Array:
        """V [N, J] of the goals [N, J], under the agent's own policy."""
        if self.worth_fn is None:
            return self.worth(self.values_at(state, goal))
        found = self.worth_fn(self.params, state)
        return found if goal.shape[1] > 1 else chosen(found, goal)

    def backup(self, state: Array, goal: Array) -> Array:
        """M(s', g) = r + γ D V of the goals [N, J]."""
        reward, continues = self.arrive_at(state, goal)
        return reward + self.discount * continues * self.worth_at(state, goal)

    def all_goals(self, count: int) -> Array:
        """The goals to give for all of them at each of `count` states, int32 [N, G]."""
        return jnp.broadcast_to(jnp.arange(self.goals), (count, self.goals))

    def sample(self, key: Array, count: int) -> Array:
        """States [count, d] to extract at."""
        return self.sample_fn(self.params, key, count)


def chosen(table: Array, goal: Array) -> Array:
    """From a table [N, G, ...] each row's own goal [N, 1]: [N, 1, ...]."""
    picked = jax.nn.one_hot(goal[:, 0], table.shape[1], dtype=table.dtype)  # a product: gathers are slow on CPUs
    return jnp.einsum("ng,ng...->n...", picked, table)[:, None]


def arrive_of_goals(params: Any, state: Array) -> tuple[Array, Array]:
    """Rewards and continue flags [N, G] of states [N, d], by the `goals` among a view's arrays."""
    found: tuple[Array, Array] = jax.vmap(params["goals"].arrive)(state)
    return found


def sample_box(params: Any, key: Array, count: int) -> Array:
    """States [count, d] anywhere in the `box` [d, 2] among a view's arrays."""
    box = params["box"]
    return jax.random.uniform(key, (count, box.shape[0]), minval=box[:, 0], maxval=box[:, 1])
