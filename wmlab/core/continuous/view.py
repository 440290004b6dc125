"""All that an extraction may know of an agent in a continuous world: values, rewards, ranges, and a sampler of states.

Shapes: N states, d variables, G goals, A actions, J goals looked at per state (1, or all G), k components of an action
from a box. Actions are int [N], one of a list each; where they are from a box, their components [N, k].
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, Literal, Self

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.encodings import side_by_side
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.goals import GoalSet
from wmlab.core.programs import pytree, static
from wmlab.registry.traits import Encoding

Edge = Literal["wrap", "clip", "open"]  # periodic, held at its range, or unbounded (its range is a scale only)
Policy = Literal["greedy", "uniform"]
States = Literal["uniform", "reset"]  # anywhere in their ranges, or where episodes start


@pytree
class Frame:
    """The variables of a state: their ranges, and what lies beyond them."""

    ranges: Array  # float32 [d, 2]: low, high; finite, the usual span of a variable that has no bounds
    edges: tuple[Edge, ...] = static()  # [d]
    names: tuple[str, ...] = static(default=())  # [d], where anything goes by them

    @classmethod
    def of(cls, space: ContinuousSpace) -> Frame:
        """The frame of a declared space; a variable without a range is measured by its usual one."""
        scales = [variable.scale for variable in space.variables]
        edges = tuple(variable.edge for variable in space.variables)
        return cls(jnp.array(scales, jnp.float32), edges, space.names)

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
        return side_by_side([scaled[..., index] for index in range(self.size)], [edge == "wrap" for edge in self.edges])

    def width(self, encoding: Encoding) -> int:
        """Numbers in an encoded state."""
        return self.size + (self.edges.count("wrap") if encoding == "sincos" else 0)

    def uniform(self, key: Array, count: int) -> Array:
        """States [count, d], uniform over the ranges."""
        return self.low + self.span * jax.random.uniform(key, (count, self.size))


@pytree
class ActionBox:
    """Actions that are not finitely many: components, each anywhere in its range."""

    ends: Array  # float32 [k, 2]: low, high
    listed: Array  # float32 [A, k]: some of them, where values are asked for under each of a list

    @classmethod
    def of(cls, space: ContinuousSpace) -> ActionBox | None:
        """The box of a space; None where its actions are a list."""
        if not space.in_box:
            return None
        return cls(jnp.array(space.control_ranges, jnp.float32), jnp.array(space.control_values, jnp.float32))

    @property
    def size(self) -> int:
        """k"""
        return int(self.ends.shape[-2])

    @property
    def low(self) -> Array:
        return self.ends[:, 0]

    @property
    def high(self) -> Array:
        return self.ends[:, 1]

    def anywhere(self, key: Array, count: int) -> Array:
        """Actions [count, k], uniform over the box."""
        return jax.random.uniform(key, (count, self.size), minval=self.low, maxval=self.high)

    def around(self, key: Array, action: Array, spread: float) -> Array:
        """Actions [..., k] at normal distances from others, `spread` of each range; held in the box."""
        noise = spread * (self.high - self.low) * jax.random.normal(key, action.shape)
        return jnp.clip(action + noise, self.low, self.high)

    def scaled(self, action: Array) -> Array:
        """Actions [..., k] as fractions of the box, each component in [-1, 1]."""
        return 2 * (action - self.low) / (self.high - self.low) - 1

    def unscaled(self, fraction: Array) -> Array:
        """The action [..., k] of fractions in [-1, 1]."""
        return self.low + (fraction + 1) / 2 * (self.high - self.low)


@pytree
class ContinuousView(ABC):
    """A frozen agent and its goals. Nothing of what the actions do.

    Final classes are pytrees, so that two agents that differ in their weights alone share one compiled program.
    """

    discount: Array  # float32 []
    frame: Frame
    actions: int = static()  # A
    goals: int = static()  # G
    policy: Policy = static()
    controls: ActionBox | None = dataclasses.field(default=None, kw_only=True)  # where actions are from a box

    @property
    def beside(self) -> int:
        """How many such views are asked at once, as by the members of an ensemble: they share a batch's memory."""
        return 1

    @property
    @abstractmethod
    def reads_goal(self) -> bool:
        """Whether the values of one goal cost less than those of all, as in a network that reads the goal."""

    @abstractmethod
    def values(self, state: Array) -> Array:
        """Q [N, G, A] of states [N, d]; of a box, under the actions that are listed."""

    @abstractmethod
    def values_at(self, state: Array, goal: Array) -> Array:
        """Q [N, J, A] of states [N, d] and goals int [N, J]: one a state, or all of them in order."""

    @abstractmethod
    def known_worth(self, state: Array) -> Array | None:
        """V [N, G] of states [N, d] where it is known by itself; None where it is what the policy makes of Q."""

    @abstractmethod
    def arrive(self, state: Array) -> tuple[Array, Array]:
        """Reward and continue flag of arriving in states [N, d], each [N, G]."""

    @abstractmethod
    def sample(self, key: Array, count: int) -> Array:
        """States [count, d] to extract at."""

    def unseen(self, key: Array, count: int) -> Array:
        """States [count, d] to hold an extraction against."""
        return self.sample(key, count)

    def arrive_at(self, state: Array, goal: Array) -> tuple[Array, Array]:
        """Reward and continue flag of arriving in states [N, d], for the goals [N, J]: each [N, J]."""
        reward, continues = self.arrive(state)
        return chosen(reward, goal), chosen(continues, goal)

    def value_at(self, state: Array, action: Array, goal: Array) -> Array:
        """Q [N, J] of states [N, d], an action in each of them, and goals [N, J]."""
        acted = jax.nn.one_hot(action, self.actions)
        return jnp.einsum("nja,na->nj", self.values_at(state, goal), acted)

    def any_action(self, key: Array, count: int) -> Array:
        """So many actions, each as likely as any other."""
        if self.controls is not None:
            return self.controls.anywhere(key, count)
        return jax.random.randint(key, (count,), 0, self.actions)

    def choose(self, key: Array, state: Array, goal: Array) -> Array:
        """What the agent does in states [N, d] for a goal [N, 1] each; of equally good actions the first."""
        if self.policy == "uniform":
            return self.any_action(key, state.shape[0])
        return self.values_at(state, goal)[:, 0].argmax(axis=-1).astype(jnp.int32)

    def worth(self, values: Array) -> Array:
        """V [...] of values [..., A], under the agent's own policy."""
        return values.max(axis=-1) if self.policy == "greedy" else values.mean(axis=-1)

    def worth_at(self, state: Array, goal: Array) -> Array:
        """V [N, J] of states [N, d] and goals [N, J], under the agent's own policy."""
        worth = self.known_worth(state)
        return self.worth(self.values_at(state, goal)) if worth is None else chosen(worth, goal)

    def backup(self, state: Array, goal: Array) -> Array:
        """M(s', g) = r + γ D V of states [N, d] and goals [N, J]: [N, J]."""
        reward, continues = self.arrive_at(state, goal)
        return reward + self.discount * continues * self.worth_at(state, goal)

    def all_goals(self, count: int) -> Array:
        """The goals to give for all of them at each of `count` states, int32 [N, G]."""
        return jnp.broadcast_to(jnp.arange(self.goals), (count, self.goals))


@pytree
class AgentView(ContinuousView):
    """A view of an agent with a set of goals, whose states are drawn from a box."""

    aims: GoalSet
    box: Array  # float32 [d, 2]: states are drawn from it

    @classmethod
    def of(
        cls, space: ContinuousSpace, aims: GoalSet, discount: float, policy: Policy, states: States, /, **values: Any
    ) -> Self:
        """A view with these values, that looks at states anywhere in their ranges, or where episodes start."""
        frame = Frame.of(space)
        return cls(
            discount=jnp.float32(discount),
            frame=frame,
            actions=len(space.actions),
            goals=aims.count,
            policy=policy,
            controls=ActionBox.of(space),
            aims=aims,
            box=jnp.asarray(space.starts, jnp.float32) if states == "reset" else frame.ranges,
            **values,
        )

    def arrive(self, state: Array) -> tuple[Array, Array]:
        return jax.vmap(self.aims.arrive)(state)

    def sample(self, key: Array, count: int) -> Array:
        box = self.box
        return jax.random.uniform(key, (count, box.shape[0]), minval=box[:, 0], maxval=box[:, 1])


@pytree
class NetworkView(AgentView):
    """A view of a network that reads the goal beside the state, or has a head for each goal."""

    weights: dict[str, Array]

    @abstractmethod
    def heads(self, state: Array) -> Array:
        """Q [N, G, A] of states [N, d], where the network has a head for each goal."""

    @abstractmethod
    def values_of(self, state: Array, goal: Array) -> Array:
        """Q [N, A] of states [N, d] and a goal int [N] each, where the network reads it."""

    def values(self, state: Array) -> Array:
        if not self.reads_goal:
            return self.heads(state)
        rows, goal = jnp.repeat(state, self.goals, axis=0), jnp.tile(jnp.arange(self.goals), state.shape[0])
        return self.values_of(rows, goal).reshape(state.shape[0], self.goals, -1)

    def values_at(self, state: Array, goal: Array) -> Array:
        if self.reads_goal and goal.shape[1] == 1:
            return self.values_of(state, goal[:, 0])[:, None]
        return chosen(self.values(state), goal)

    def known_worth(self, state: Array) -> None:
        return None


def chosen(table: Array, goal: Array) -> Array:
    """Of a table [N, G, ...] the goals [N, J]: each row's own, [N, 1, ...], or the whole table where J is G."""
    if goal.shape[1] > 1:
        return table
    picked = jax.nn.one_hot(goal[:, 0], table.shape[1], dtype=table.dtype)  # a product: gathers are slow on CPUs
    return jnp.einsum("ng,ng...->n...", picked, table)[:, None]
