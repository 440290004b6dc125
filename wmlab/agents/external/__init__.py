"""Agents from elsewhere: a table of values, or a network's weights, from a file.

options   what a spec may say            check    what it may not mean
expect    the shapes that arrays need    table    arrays as a finite view
network   a perceptron in JAX, and as an extraction may see it; in_numpy the same without JAX
critic    the same of critics that read actions from a box, with their actor or V; parts says which networks there are
probe     values from its own library   orders   which wiring gives them   checked   when that is asked
box_probe the same of actions from a box
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wmlab.agents.external.check import check
from wmlab.agents.external.options import Options
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.registry import AgentTraits, agents, fixed

__all__ = ["Options", "external"]


@agents.register(
    "external",
    Options,
    AgentTraits(
        values=fixed("external"),
        from_box=True,
        acts=False,
        is_conditional=lambda options: options.policy != "uniform",
        goals_between_states=True,
    ),
    check=check,
)
def external(
    options: Options, space: FiniteSpace, goals: Goals, seed: int, files: Mapping[str, Any] | None = None
) -> FiniteView:
    """Values that were learnt elsewhere: a Q table, or the weights of a network, from a file."""
    from wmlab.agents.external.table import finite_view

    return finite_view(options, space, goals, files or {})
