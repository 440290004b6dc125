"""An agent with the exact values of a policy, optimal or given; in a continuous world, on a grid of its states.

In a finite world its rows are goal x discount x policy, in this order, the policy moving fastest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.agents.exact.check import check
from wmlab.agents.exact.options import Approximate, Draws, Options, Policies, Policy
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import AgentTraits, agents
from wmlab.registry.traits import Values

__all__ = ["Approximate", "Draws", "Options", "Policy", "exact"]


def draws(options: Options) -> bool:
    """Whether the run's seed matters to the agent itself."""
    policy, several, moved = options.policy, options.policies, options.approximate
    drawn = [given for given in (options.discounts, options.temperatures, several) if given is not None]
    return (
        (isinstance(policy, Policy) and policy.kind == "random" and policy.seed is None)
        or any(not isinstance(given, tuple) and given.seed is None for given in drawn)
        or (moved is not None and moved.drawn and moved.seed is None)
    )


def values(options: Options) -> Values:
    """How good they are: exact unless moved, and of another world unless they are of the spec's own."""
    if options.world is not None:
        return "of another world"
    return "approximate" if options.approximate is not None else "exact"


def is_conditional(options: Options) -> bool:
    """Whether the policy is another one for another goal."""
    if options.policies is not None:
        return options.policies.conditional
    policy = options.policy
    if isinstance(policy, Policy) and policy.kind == "table":
        return any(isinstance(acts, Mapping) for acts in (policy.act or {}).values())
    return (policy.kind if isinstance(policy, Policy) else policy) != "uniform"


def count(given: tuple[float, ...] | Draws | Policies | None) -> int:
    """How many discounts, temperatures or policies are listed or drawn; one where nothing is said."""
    return 1 if given is None else len(given) if isinstance(given, tuple) else given.random


def epsilon(options: Options) -> float | None:
    """How far Q is moved, where the spec says it in units of value."""
    moved = options.approximate
    return moved.epsilon if moved is not None and moved.unit == "value" else None


@agents.register(
    "exact",
    Options,
    AgentTraits(
        values=values,
        draws=draws,
        is_conditional=is_conditional,
        discounts=lambda options: count(options.discounts),
        policies=lambda options: count(options.policies or options.temperatures),
        epsilon=epsilon,
        goals_between_states=True,
    ),
    check=check,
)
def exact(options: Options, world: Any, goals: Any, seed: int, **_: Any) -> Any:
    """The exact values of a policy, in the spec's world or in another one; in a continuous world on a grid."""
    from wmlab.agents.exact.values import make_values, make_view

    if isinstance(world, FiniteWorld):
        return make_view(options, world, goals, seed)
    return make_values(options, world, goals)
