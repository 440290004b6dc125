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

from wmlab.encodings import Encoding, encode, encoded_width
from wmlab.goals.nearness import bell, gaps, is_near
from wmlab.goals.points import Points, per_variable, points_of
from wmlab.simulators import GoalSet
from wmlab.spaces.continuous import ContinuousSpace


@dataclass(frozen=True)
class Rule:
    """How goals pay and end; equal rules hash alike, so that programs are compiled once."""

    space: ContinuousSpace
    columns: tuple[int, ...]  # [K]
    pays: Literal["indicator", "gaussian"]
    ends: Literal["on_arrival", "within", "never"]
    encoding: Encoding

    def outcome(self, params: Any, gap: Array, asked: Array) -> tuple[Array, Array]:
        """Reward and continue flag of gaps [..., K]."""
        near = is_near(gap, asked, params["width"]) if self.pays == "indicator" else None
        reward = bell(gap, asked, params["width"]) if near is None else near.astype(jnp.float32)
        if self.ends == "never":
            return reward, jnp.ones_like(reward)
        ended = near if self.ends == "on_arrival" else is_near(gap, asked, params["end"])
        assert ended is not None
        return reward, 1.0 - ended.astype(jnp.float32)


@dataclass(frozen=True)
class Arrive:
    """Rewards and continue flags [G] of arriving in a state [d]."""

    rule: Rule

    def __call__(self, params: Any, state: Array) -> tuple[Array, Array]:
        gap = gaps(self.rule.space, self.rule.columns, state, params["values"])
        return self.rule.outcome(params, gap, params["asked"])


@dataclass(frozen=True)
class RewardOf:
    """Reward and continue flag of arriving in a state [d], for one goal given by its values [K]."""

    rule: Rule

    def __call__(self, params: Any, state: Array, goal: Array) -> tuple[Array, Array]:
        gap = gaps(self.rule.space, self.rule.columns, state, goal[None])[0]
        return self.rule.outcome(params, gap, jnp.ones(gap.shape, bool))


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
    points = points_of(goals["at"], space)
    reward, terminate = goals["reward"], goals.get("terminate", "on_arrival")
    pays: Literal["indicator", "gaussian"] = reward["kind"]
    ends: Any = "within" if isinstance(terminate, Mapping) else terminate
    width = per_variable(reward["radius" if pays == "indicator" else "sigma"], points, space)
    end = per_variable(terminate["within"], points, space) if isinstance(terminate, Mapping) else np.asarray(0.0)
    rule = Rule(space, points.columns, pays, ends, encoding)
    params = {
        "values": jnp.asarray(points.values, jnp.float32),
        "asked": jnp.asarray(points.asked),
        "width": jnp.asarray(width, jnp.float32),
        "end": jnp.asarray(end, jnp.float32),
    }
    ending, lasting = (jnp.array(pair, jnp.float32) for pair in _limits(rule, points, width, end))
    named = [space.everything[column] for column in points.columns]
    return GoalSet(
        params,
        params["values"],
        ending,
        lasting,
        Arrive(rule),
        RewardOf(rule),
        len(points.labels),
        encoded_width(named, encoding) if points.alike else 0,
        Achieved(rule) if points.alike else None,
        EncodeGoal(rule),
    )


def _limits(rule: Rule, points: Points, width: np.ndarray, end: np.ndarray) -> tuple[list[float], list[float]]:
    """Least and greatest reward of arrivals that end an episode, and of those that do not."""
    nothing = [math.inf, -math.inf]
    if rule.ends == "never":
        return nothing, [0.0, 1.0]
    if rule.ends == "on_arrival":
        return [1.0, 1.0], [0.0, 0.0]
    plain = width.ndim == end.ndim == 0
    if rule.pays == "indicator":
        if not plain:
            return [0.0, 1.0], [0.0, 1.0]
        return [1.0 if end <= width else 0.0, 1.0], [0.0, 1.0 if end < width else 0.0]
    at_end = math.exp(-0.5 * float(end / width) ** 2) if plain else 1.0
    return [at_end if plain else 0.0, 1.0], [0.0, at_end]
