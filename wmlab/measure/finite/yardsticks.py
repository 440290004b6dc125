"""What findings hold a finite world's metrics against: nothing that moves, and an agent that acts at random.

Shapes: R rows (goal x discount x policy), S states, A actions.
"""

from __future__ import annotations

import numpy as np

from wmlab.measure.finite.context import FiniteContext
from wmlab.measure.finite.errors import returns_of
from wmlab.planning.finite.values import policy_values

Yardsticks = dict[str, float | None]


def yardsticks(context: FiniteContext) -> Yardsticks:
    """The numbers that go with what was asked for and can be known."""
    if context.world is None:
        return {}
    numbers: Yardsticks = {}
    if context.model is not None and context.asked.model_error is not None:
        numbers["standing_still"] = standing_still(context)
    if context.asked.return_ is not None:
        numbers["acting_at_random"] = acting_at_random(context)
    return numbers


def standing_still(context: FiniteContext) -> float:
    """wm.tv of a model in which nothing ever moves: how often the world moves on."""
    kernel = context.truth.kernel
    stays = kernel.successors == np.arange(kernel.size)[:, None, None]
    return float(1 - (kernel.probabilities * stays).sum(axis=-1).mean())


def acting_at_random(context: FiniteContext) -> float | None:
    """agent.return of one who takes every action as often; None where that is what the agent does."""
    view, actions = context.view, context.view.q.shape[-1]
    uniform = np.full(view.policy.shape, 1 / actions)
    if np.allclose(view.policy, uniform):
        return None
    values = policy_values(context.truth.kernel, uniform, view.reward, view.continues, view.discount)
    each = returns_of(context, uniform, values)
    return float(np.nanmean(each)) if np.isfinite(each).any() else None
