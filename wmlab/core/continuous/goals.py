"""The goals of a continuous world: those of a training, as learner and extraction see them, and unseen ones.

Near is nearer than a distance, Euclidean over the variables that a point names; or, where a distance is given for
each variable, nearer in every one of them. On circles the short way counts.

Shapes: G goals or points, K named variables, N states, d state variables.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab import expressions
from wmlab.core.continuous.encodings import encode
from wmlab.core.continuous.points import goal_points, per_variable, points_of
from wmlab.core.continuous.space import ContinuousSpace, Variable, encoded_width
from wmlab.core.goals import NO_FEATURES, GoalSet
from wmlab.core.programs import pytree, static
from wmlab.registry.traits import Encoding, Payment
from wmlab.sections.experiment import Ending, GoalsSection, UnseenGoal


@dataclass(frozen=True)
class Rule:
    """How goals pay and end: what is the same for every goal of a set, and part of the program."""

    space: ContinuousSpace
    columns: tuple[int, ...]  # [K]
    payment: Payment  # of the kind of reward
    ends: Literal["on_arrival", "within", "never"]
    encoding: Encoding
    when: str | None = None  # a condition that ends an episode too
    common: tuple[str, ...] = ()  # variables that every goal names

    @property
    def variables(self) -> list[Variable]:
        """The named variables [K]."""
        return [self.space.everything[column] for column in self.columns]

    def formula(self, text: str, want: expressions.Type, state: Array, values: Array) -> Array:
        """An expression of a state [d], for goals with values [G, K]: [G]."""
        env = self.space.named(state, jnp)
        names = tuple(env)
        for position, variable in enumerate(self.variables):
            env[expressions.goal_name(variable.name)] = values[:, position]
        result = expressions.program(text, names, want, self.common)(jnp, env)
        return jnp.broadcast_to(jnp.asarray(result, bool if want == "boolean" else state.dtype), values.shape[:1])


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
        reward, arrived = rule.payment.reward(rule, state, values, gap, asked, self.reach)
        ended = jnp.zeros(reward.shape, bool)
        if rule.ends == "on_arrival":
            assert arrived is not None
            ended = arrived
        elif rule.ends == "within":
            ended = is_near(gap, asked, self.end)
        if rule.when is not None:
            ended = ended | rule.formula(rule.when, "boolean", state, values)
        return reward, 1.0 - ended.astype(jnp.float32)


def continuous_goals(goals: GoalsSection, space: ContinuousSpace, encoding: Encoding = "raw") -> ContinuousGoals:
    """Goals from a spec's `goals`. Where they name different variables, a network needs a head for each."""
    points = goal_points(goals, space)
    options, traits, terminate = goals.reward.options, goals.reward.traits, goals.terminate
    assert traits.in_continuum is not None  # else the spec's check has refused it
    ending = terminate if isinstance(terminate, Ending) else Ending()
    ends: Any = terminate if isinstance(terminate, str) else "never" if ending.within is None else "within"
    width = traits.width(options)
    reach = np.asarray(1.0) if width is None else per_variable(width, points, space)
    end = np.asarray(0.0) if ending.within is None else per_variable(ending.within, points, space)
    payment = traits.in_continuum(options)
    rule = Rule(space, points.columns, payment, ends, encoding, ending.when, points.common(space))
    finish, on = (jnp.array(pair, jnp.float32) for pair in _limits(rule, reach, end))
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


def _limits(rule: Rule, width: np.ndarray, end: np.ndarray) -> tuple[tuple[float, float], tuple[float, float]]:
    """Least and greatest reward of arrivals that end an episode, and of those that do not."""
    anything = rule.payment.bounds
    if rule.ends == "never" and rule.when is None:
        return (math.inf, -math.inf), anything
    if rule.when is not None:
        return anything, anything
    if rule.ends == "on_arrival":
        return rule.payment.bounds_within(width, width)
    return rule.payment.bounds_within(width, end)


# --- how near states are to points ---------------------------------------------------------------------------------


def gaps(space: ContinuousSpace, columns: tuple[int, ...], states: Array, values: Array, wraps: bool = True) -> Array:
    """State minus wanted value in each named variable: [..., G, K] of states [..., d] and values [G, K].

    wraps: whether the short way counts on circles
    """
    named = space.full(states, jnp)[..., jnp.array(columns)][..., None, :]
    return space.difference(named, values, jnp, columns) if wraps else named - values


def is_near(gap: Array, asked: Array, distance: Array) -> Array:
    """Whether gaps [..., K] are below a distance [] or [K], in the variables asked for [..., K]: bool [...]."""
    if distance.ndim == 0:
        return jnp.sum(jnp.where(asked, gap, 0.0) ** 2, axis=-1) < distance**2
    return jnp.all((jnp.abs(gap) < distance) | ~asked, axis=-1)


def bell(gap: Array, asked: Array, sigma: Array) -> Array:
    """exp(-½ Σ (gap / sigma)²) over the variables asked for: [...]."""
    return jnp.exp(-0.5 * jnp.sum(jnp.where(asked, gap / sigma, 0.0) ** 2, axis=-1))


# --- unseen goals: points to reach, how near, and a region to keep out of --------------------------------------------
# Arriving near a point pays 1 and ends the episode; entering the region ends it and pays nothing, even where both hold.


@pytree
class Task(ABC):
    """What arriving in states pays, and whether the episode goes on."""

    @abstractmethod
    def arrive(self, states: Array) -> tuple[Array, Array]:
        """Rewards [N] and continue flags [N] of states [N, d]."""

    def distance(self, states: Array) -> Array:
        """How far states [N, d] are from what is to be reached, in spans of the variables: [N]; 0 where nobody says."""
        return jnp.zeros(states.shape[0])


@pytree
class ReachAvoid(Task):
    """Reach a point, keep out of a region (an expression, or None)."""

    values: Array  # [G, K]
    asked: Array  # bool [G, K]
    within: Array  # [] or [K]
    space: ContinuousSpace = static()
    columns: tuple[int, ...] = static()  # [K]
    avoid: str | None = static()
    wraps: bool = static(default=True)  # whether the short way counts on circles

    def arrive(self, states: Array) -> tuple[Array, Array]:
        gap = gaps(self.space, self.columns, states, self.values, self.wraps)
        near = is_near(gap, self.asked, self.within)
        reached = near.any(axis=-1)
        if self.avoid is None:
            return reached.astype(jnp.float32), 1.0 - reached
        unsafe = jnp.broadcast_to(self.space.holds(self.avoid, states, jnp), reached.shape)
        return (reached & ~unsafe).astype(jnp.float32), 1.0 - (reached | unsafe)

    def distance(self, states: Array) -> Array:
        scales = jnp.array([self.space.everything[column].scale for column in self.columns])
        gap = gaps(self.space, self.columns, states, self.values, self.wraps) / (scales[:, 1] - scales[:, 0])
        return jnp.sqrt(jnp.where(self.asked, gap**2, 0.0).sum(axis=-1)).min(axis=-1)


@pytree
class TrainedGoal(Task):
    """One goal of a set that an agent was trained on."""

    goals: GoalSet
    index: Array  # int []

    def arrive(self, states: Array) -> tuple[Array, Array]:
        reward, continues = jax.vmap(self.goals.arrive)(states)  # [N, G]
        return reward[:, self.index], continues[:, self.index]


def unseen_task(goal: UnseenGoal, space: ContinuousSpace) -> ReachAvoid:
    """The task of one unseen goal, from what a spec says of it."""
    points = points_of(goal.targets, space, ("reach",))
    return ReachAvoid(
        values=jnp.asarray(points.values, jnp.float32),
        asked=jnp.asarray(points.asked),
        within=jnp.asarray(per_variable(goal.within, points, space), jnp.float32),
        space=space,
        columns=points.columns,
        avoid=goal.avoid,
        wraps=goal.wraps,
    )


def trained_task(goals: GoalSet, index: int) -> TrainedGoal:
    """One goal of a trained agent, as a task to plan for."""
    return TrainedGoal(goals, jnp.asarray(index))
