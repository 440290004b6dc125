"""The training goals of a continuous world, as an agent's learner and an extraction see them.

Near is nearer than a distance, Euclidean over the variables that a point names; or, where a distance is given for
each variable, nearer in every one of them. On circles the short way counts.

Shapes: G goals or points, K named variables, d state variables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab import expressions
from wmlab.core.continuous.conditions import program
from wmlab.core.continuous.encodings import Encoding, encode
from wmlab.core.continuous.points import goal_points, per_variable
from wmlab.core.continuous.space import ContinuousSpace, Variable, encoded_width
from wmlab.core.goals import NO_FEATURES, GoalSet
from wmlab.core.pytree import pytree, static
from wmlab.registry import rewards


@dataclass(frozen=True)
class Rule:
    """How goals pay and end: what is the same for every goal of a set, and part of the program."""

    space: ContinuousSpace
    columns: tuple[int, ...]  # [K]
    pays: Literal["indicator", "gaussian", "expression"]
    ends: Literal["on_arrival", "within", "never"]
    encoding: Encoding
    payments: tuple[str, ...] = ()  # expressions of rewards: one for all goals, or one for each
    when: str | None = None  # a condition that ends an episode too
    common: tuple[str, ...] = ()  # variables that every goal names

    @property
    def variables(self) -> list[Variable]:
        """The named variables [K]."""
        return [self.space.everything[column] for column in self.columns]


@pytree
class ContinuousGoals(GoalSet):
    """Goals on named variables; their features are wanted values [G, K]."""

    asked: Array  # bool [G, K]: whether a goal names a variable
    reach: Array  # [] or [K]: radius of an indicator, sigma of a gaussian
    end: Array  # [] or [K]: how near ends an episode
    rule: Rule = static()

    def arrive(self, state: Array) -> tuple[Array, Array]:
        return self._outcome(state, self.features, self.asked)

    def reward_of(self, state: Array, features: Array) -> tuple[Array, Array]:
        reward, continues = self._outcome(state, features[None], jnp.ones((1, features.shape[-1]), bool))
        return reward[0], continues[0]

    def achieved(self, state: Array) -> Array:
        if not self.width:
            raise ValueError(NO_FEATURES)
        return self.rule.space.full(state, jnp)[jnp.array(self.rule.columns)]

    def encode(self, features: Array) -> Array:
        return encode(self.rule.variables, features, self.rule.encoding)

    def _outcome(self, state: Array, values: Array, asked: Array) -> tuple[Array, Array]:
        """Rewards [G] and continue flags [G] of arriving in a state [d], of goals with values [G, K]."""
        rule = self.rule
        gap = gaps(rule.space, rule.columns, state, values) if rule.columns else values
        near = is_near(gap, asked, self.reach) if rule.pays == "indicator" else None
        if rule.pays == "expression":
            reward = self._paid(state, values)
        else:
            reward = bell(gap, asked, self.reach) if near is None else near.astype(jnp.float32)
        ended = jnp.zeros(reward.shape, bool)
        if rule.ends == "on_arrival":
            assert near is not None
            ended = near
        elif rule.ends == "within":
            ended = is_near(gap, asked, self.end)
        if rule.when is not None:
            ended = ended | self._formula(rule.when, "boolean", state, values)
        return reward, 1.0 - ended.astype(jnp.float32)

    def _paid(self, state: Array, values: Array) -> Array:
        """What the expressions pay [G]."""
        if len(self.rule.payments) == 1:
            return self._formula(self.rule.payments[0], "number", state, values)
        return jnp.concatenate([self._formula(text, "number", state, values[:1]) for text in self.rule.payments])

    def _formula(self, text: str, want: expressions.Type, state: Array, values: Array) -> Array:
        """An expression of a state [d], for goals with values [G, K]: [G]."""
        env = self.rule.space.named(state, jnp)
        names = tuple(env)
        for position, variable in enumerate(self.rule.variables):
            env[expressions.goal_name(variable.name)] = values[:, position]
        result = program(text, names, want, self.rule.common)(jnp, env)
        return jnp.broadcast_to(jnp.asarray(result, bool if want == "boolean" else state.dtype), values.shape[:1])


def continuous_goals(goals: Mapping[str, Any], space: ContinuousSpace, encoding: Encoding = "raw") -> ContinuousGoals:
    """Goals from a spec's `goals`. Where they name different variables, a network needs a head for each."""
    points = goal_points(goals, space)
    reward, terminate = goals["reward"], goals.get("terminate", "on_arrival")
    ending = terminate if isinstance(terminate, Mapping) else {}
    pays: Literal["indicator", "gaussian", "expression"] = reward["kind"]
    payments = rewards["expression"].build(reward).texts if pays == "expression" else ()
    ends: Any = terminate if not ending else "never" if ending.get("within") is None else "within"
    width = reward.get("radius" if pays == "indicator" else "sigma")
    reach = np.asarray(1.0) if width is None else per_variable(width, points, space)
    end = per_variable(ending["within"], points, space) if ends == "within" else np.asarray(0.0)
    rule = Rule(space, points.columns, pays, ends, encoding, payments, ending.get("when"), points.common(space))
    finish, on = (jnp.array(pair, jnp.float32) for pair in _limits(rule, reward.get("limits"), reach, end))
    return ContinuousGoals(
        features=jnp.asarray(points.values, jnp.float32),
        ending=finish,
        lasting=on,
        count=len(points.labels),
        width=encoded_width(rule.variables, encoding) if points.alike else 0,
        asked=jnp.asarray(points.asked),
        reach=jnp.asarray(reach, jnp.float32),
        end=jnp.asarray(end, jnp.float32),
        rule=rule,
    )


def _limits(
    rule: Rule, limits: Sequence[float] | None, width: np.ndarray, end: np.ndarray
) -> tuple[list[float], list[float]]:
    """Least and greatest reward of arrivals that end an episode, and of those that do not."""
    nothing, anything = [math.inf, -math.inf], [0.0, 1.0]
    if rule.pays == "expression":
        anything = list(limits) if limits is not None else [-math.inf, math.inf]
    if rule.ends == "never" and rule.when is None:
        return nothing, anything
    if rule.when is not None or rule.pays == "expression":
        return anything, anything
    if rule.ends == "on_arrival":
        return [1.0, 1.0], [0.0, 0.0]
    plain = width.ndim == end.ndim == 0
    if rule.pays == "indicator":
        if not plain:
            return anything, anything
        return [1.0 if end <= width else 0.0, 1.0], [0.0, 1.0 if end < width else 0.0]
    at_end = math.exp(-0.5 * float(end / width) ** 2) if plain else 1.0
    return [at_end if plain else 0.0, 1.0], [0.0, at_end]


# --- how near states are to points ------------------------------------------------------------------------------


def gaps(space: ContinuousSpace, columns: tuple[int, ...], states: Array, values: Array) -> Array:
    """State minus wanted value in each named variable: [..., G, K] of states [..., d] and values [G, K]."""
    named = space.full(states, jnp)[..., jnp.array(columns)]
    return space.difference(named[..., None, :], values, jnp, columns)


def is_near(gap: Array, asked: Array, distance: Array) -> Array:
    """Whether gaps [..., K] are below a distance [] or [K], in the variables asked for [..., K]: bool [...]."""
    if distance.ndim == 0:
        return jnp.sum(jnp.where(asked, gap, 0.0) ** 2, axis=-1) < distance**2
    return jnp.all((jnp.abs(gap) < distance) | ~asked, axis=-1)


def bell(gap: Array, asked: Array, sigma: Array) -> Array:
    """exp(-½ Σ (gap / sigma)²) over the variables asked for: [...]."""
    return jnp.exp(-0.5 * jnp.sum(jnp.where(asked, gap / sigma, 0.0) ** 2, axis=-1))
