"""Mistakes in the options of an exact agent in a continuous world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.planning.continuous.memory import check_memory
from wmlab.planning.grid_value_iteration import check_bounds, check_sizes
from wmlab.registry import Finding, Scope

FINITE_ONLY = ("discounts", "policies", "temperature", "temperatures", "approximate", "world")
QUADRATURE = 5  # nodes for each random number of a stochastic world


def check_on_grid(options: Any, space: ContinuousSpace, scope: Scope) -> Iterator[Finding]:
    """One discount, the optimal or the uniform policy, and a grid that fits into memory."""
    for name in FINITE_ONLY:
        if getattr(options, name) is not None:
            yield Finding((name,), "needs a finite world", "leave it out", key=True)
    if not isinstance(options.policy, str):
        yield Finding(("policy",), "a policy of one's own needs a finite world", "say optimal or uniform")
    if options.discount is None:
        yield Finding(("discount",), "the values of which discount?", "say discount: 0.99")
    if options.grid is None:
        yield Finding(("grid",), "in a continuous world, exact values stand on a grid of states", "say grid: 200")
        return
    wrong = [*check_bounds(options.bounds, space), *check_sizes(options.grid, space, ("grid",))]
    yield from wrong
    if not wrong:
        noise = len(scope.experiment.get("mdp", {}).get("noise") or {})
        yield from check_memory(options.grid, space, QUADRATURE**noise, ("grid",))
