"""What findings hold a continuous world's metrics against: nothing that moves, and an agent that acts at random."""

from __future__ import annotations

from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.context import ContinuousContext
from wmlab.measure.continuous.logged import standing_still_in_log
from wmlab.measure.continuous.model_error import standing_still
from wmlab.measure.continuous.rollouts import random_returns
from wmlab.measure.continuous.states import STARTS, states_of
from wmlab.measure.continuous.values import PURPOSE

Yardsticks = dict[str, float | None]


def yardsticks(context: ContinuousContext) -> Yardsticks:
    """The numbers that go with what was asked for and can be known."""
    numbers: Yardsticks = {}
    if context.model is not None and context.against_data:
        numbers["standing_still"] = standing_still_in_log(context.logged)
    elif context.model is not None and context.asked.model_error is not None and context.world is not None:
        numbers["standing_still"] = standing_still(context.sampled)
    if context.world is None:
        return numbers
    if context.asked.return_ is not None and context.agent.policy != "uniform":
        numbers["acting_at_random"] = acting_at_random(context)
    return numbers


def acting_at_random(context: ContinuousContext) -> float:
    """agent.return of one who takes every action as often."""
    assert context.asked.return_ is not None
    world = context.truth
    starts = states_of(context.asked.return_.starts, world.space, STARTS, PURPOSE)
    key = jax_key(0, "acting at random")
    return float(random_returns(context.view, world.dynamics, starts, world.horizon, key).mean())
