"""An agent with the exact values of a policy, optimal or given; in a continuous world, on a grid of its states.

In a finite world its rows are goal x discount x policy, in this order, the policy moving fastest.
"""

from __future__ import annotations

from wmlab.agents.exact.check import check
from wmlab.agents.exact.options import Options, draws
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import agents

__all__ = ["Options", "exact"]


@agents.register("exact", Options, check=check, draws=draws)
def exact(options: Options, world: FiniteWorld, goals: Goals, seed: int) -> FiniteView:
    """The exact values of a policy, in the spec's world or in another one; in a continuous world on a grid."""
    from wmlab.agents.exact.finite import make_view

    return make_view(options, world, goals, seed)
