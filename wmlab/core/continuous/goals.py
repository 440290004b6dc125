"""The training goals of a continuous world, as an agent's learner and an extraction see them.

Shapes: G goals, K named variables, d state variables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab import expressions
from wmlab.core.continuous.conditions import program
from wmlab.core.continuous.encodings import Encoding, encode, encoded_width
from wmlab.core.continuous.nearness import gaps, is_near
from wmlab.core.continuous.points import goal_points, per_variable
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.simulator import GoalSet
from wmlab.registry import rewards
from wmlab.registry.traits import Payment


@dataclass(frozen=True)
class Rule:
    """How goals pay and end; equal rules hash alike, so that programs are compiled once."""

    space: ContinuousSpace
    columns: tuple[int, ...]  # [K]
    payment: Payment  # of the kind of reward
    ends: Literal["on_arrival", "within", "never"]
    encoding: Encoding
    when: str | None = None  # a condition that ends an episode too
    common: tuple[str, ...] = ()  # variables that every goal names

    def outcome(self, params: Any, state: Array, values: Array, asked: Array) -> tuple[Array, Array]:
        """Rewards [G] and continue flags [G] of arriving in a state [d], of goals with values [G, K]."""
        gap = gaps(self.space, self.columns, state, values) if self.columns else values
        reward, arrived = self.payment.reward(self, state, values, gap, asked, params["width"])
        ended = jnp.zeros(reward.shape, bool)
        if self.ends == "on_arrival":
            assert arrived is not None
            ended = arrived
        elif self.ends == "within":
            ended = is_near(gap, asked, params["end"])
        if self.when is not None:
            ended = ended | self.formula(self.when, "boolean", state, values)
        return reward, 1.0 - ended.astype(jnp.float32)

    def formula(self, text: str, want: expressions.Type, state: Array, values: Array) -> Array:
        """An expression of a state [d], for goals with values [G, K]: [G]."""
        env = self.space.named(state, jnp)
        names = tuple(env)
        for position, column in enumerate(self.columns):
            env[expressions.goal_name(self.space.everything[column].name)] = values[:, position]
        found = program(text, names, want, self.common)(jnp, env)
        return jnp.broadcast_to(jnp.asarray(found, bool if want == "boolean" else state.dtype), values.shape[:1])


@dataclass(frozen=True)
class Arrive:
    """Rewards and continue flags [G] of arriving in a state [d]."""

    rule: Rule

    def __call__(self, params: Any, state: Array) -> tuple[Array, Array]:
        return self.rule.outcome(params, state, params["values"], params["asked"])


@dataclass(frozen=True)
class RewardOf:
    """Reward and continue flag of arriving in a state [d], for one goal given by its values [K]."""

    rule: Rule

    def __call__(self, params: Any, state: Array, goal: Array) -> tuple[Array, Array]:
        reward, continues = self.rule.outcome(params, state, goal[None], jnp.ones((1, goal.shape[-1]), bool))
        return reward[0], continues[0]


@dataclass(frozen=True)
class Achieved:
    """The goal that a state reaches: its values of the named variables [K]."""

    rule: Rule

    def __call__(self, params: Any, state: Array) -> Array:
        return self.rule.space.full(state, jnp)[jnp.array(self.rule.columns)]


@dataclass(frozen=True)
class EncodeGoal:
    """A goal's values [K] as a network reads them: the way it reads states."""

    rule: Rule

    def __call__(self, params: Any, goal: Array) -> Array:
        variables = [self.rule.space.everything[column] for column in self.rule.columns]
        return encode(variables, goal, self.rule.encoding)


def continuous_goals(goals: Mapping[str, Any], space: ContinuousSpace, encoding: Encoding = "raw") -> GoalSet:
    """Goals from a spec's `goals`. Where they name different variables, a network needs a head for each."""
    points = goal_points(goals, space)
    kind, terminate = rewards[goals["reward"]["kind"]], goals.get("terminate", "on_arrival")
    ending = terminate if isinstance(terminate, Mapping) else {}
    options = kind.build(goals["reward"])
    assert kind.traits.in_continuum is not None  # else the spec's check has refused it
    ends: Any = terminate if not ending else "never" if ending.get("within") is None else "within"
    said = kind.traits.width(options)
    width = np.asarray(1.0) if said is None else per_variable(said, points, space)
    end = per_variable(ending["within"], points, space) if ends == "within" else np.asarray(0.0)
    payment = kind.traits.in_continuum(options)
    rule = Rule(space, points.columns, payment, ends, encoding, ending.get("when"), points.common(space))
    params = {
        "values": jnp.asarray(points.values, jnp.float32),
        "asked": jnp.asarray(points.asked),
        "width": jnp.asarray(width, jnp.float32),
        "end": jnp.asarray(end, jnp.float32),
    }
    finish, on = (jnp.array(pair, jnp.float32) for pair in _limits(rule, width, end))
    named = [space.everything[column] for column in points.columns]
    return GoalSet(
        params,
        params["values"],
        finish,
        on,
        Arrive(rule),
        RewardOf(rule),
        len(points.labels),
        encoded_width(named, encoding) if points.alike else 0,
        Achieved(rule) if points.alike else None,
        EncodeGoal(rule),
    )


def _limits(rule: Rule, width: np.ndarray, end: np.ndarray) -> tuple[tuple[float, float], tuple[float, float]]:
    """Least and greatest reward of arrivals that end an episode, and of those that do not."""
    anything = rule.payment.bounds
    if rule.ends == "never" and rule.when is None:
        return (math.inf, -math.inf), anything
    if rule.when is not None:
        return anything, anything
    if rule.ends == "on_arrival":
        return (1.0, 1.0), (0.0, 0.0)
    return rule.payment.bounds_within(width, end)
