"""Worlds, models and agents for tests: declared gymnax environments by name, and others from plain functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wmlab.core.continuous.dynamics import Chance, ContinuousWorld, Dynamics
from wmlab.core.continuous.view import ContinuousView, Policy, chosen
from wmlab.core.programs import pytree, static
from wmlab.mdps import gymnax


def world(env: str, **options: Any) -> ContinuousWorld:
    return gymnax.gymnax(gymnax.Options(env, **options), 0)


@pytree
class FunctionDynamics(Dynamics):
    """Dynamics from a function of (params, states, actions, noise), with m normal numbers."""

    params: Any
    function: Callable[..., Any] = static()
    numbers: int = static(default=0)

    @property
    def chances(self):
        return (Chance(),) * self.numbers

    def step(self, states, actions, noise):
        return self.function(self.params, states, actions, noise)


def certain(model: Callable[..., Any]) -> FunctionDynamics:
    """Deterministic dynamics from a function of states and actions."""
    return FunctionDynamics((), lambda params, states, actions, noise: model(states, actions))


@pytree
class FunctionView(ContinuousView):
    """An agent from functions of (params, states), and of (params, key, count) for its states."""

    params: Any
    values_fn: Callable[..., Any] = static()
    arrive_fn: Callable[..., Any] = static()
    sample_fn: Callable[..., Any] = static()

    @property
    def reads_goal(self):
        return False

    def values(self, state):
        return self.values_fn(self.params, state)

    def values_at(self, state, goal):
        return chosen(self.values(state), goal)

    def known_worth(self, state):
        return None

    def arrive(self, state):
        return self.arrive_fn(self.params, state)

    def sample(self, key, count):
        return self.sample_fn(self.params, key, count)


def function_view(
    params: Any, discount, frame, values, arrive, sample, actions: int, goals: int, policy: Policy = "greedy"
) -> FunctionView:
    return FunctionView(discount, frame, actions, goals, policy, params, values, arrive, sample)
