"""Worlds written in a spec: named variables, actions, chance, and an expression for each variable's next value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from wmlab.mdps.dynamics.check import check as check_expressions
from wmlab.mdps.dynamics.check_continuous import check_continuous
from wmlab.mdps.dynamics.finite import check_finite, count_branches, finite_world, table_bytes
from wmlab.mdps.dynamics.options import Options, sort_of_variables
from wmlab.mdps.dynamics.space import continuous_space, finite_space
from wmlab.mdps.dynamics.spread import spread
from wmlab.registry import Finding, Scope, WorldTraits, mdps

if TYPE_CHECKING:
    from wmlab.core.continuous.dynamics import ContinuousWorld
    from wmlab.core.finite.world import FiniteWorld


def space(options: Options) -> Any:
    """The states and actions: a FiniteSpace where every variable is of whole numbers, else a ContinuousSpace."""
    return finite_space(options) if options.finite else continuous_space(options)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Every mistake; a world is then tried out, one of whole numbers where it is not too large for that."""
    wrong = list(check_expressions(options, scope))
    yield from wrong
    if not wrong:
        yield from check_finite(options) if options.finite else check_continuous(options)


def outcomes(options: Options, nodes: int) -> int:
    """How many next states of a state and action stand for chance, with so many nodes for each continuous number."""
    terms = options.noise.values()
    return math.prod(len(term.values or ()) if term.kind == "categorical" else nodes for term in terms)


@mdps.register(
    "dynamics",
    Options,
    WorldTraits(
        space=space,
        sort=lambda options: sort_of_variables(options.state),
        ordered=("state", "actions", "noise", "let", "derived"),
        max_successors=lambda options, where: count_branches(options),
        is_deterministic=lambda options, where: not options.noise,
        table_bytes=lambda options: table_bytes(options) if options.finite else 0,
        outcomes=outcomes,
        spread=lambda options, where: {} if options.finite else spread(options, where),
    ),
    check=check,
)
def dynamics(options: Options, seed: int) -> ContinuousWorld | FiniteWorld:
    """A world written in the spec as expressions: continuous, or finite where every variable is of whole numbers."""
    if options.finite:
        return finite_world(options)
    from wmlab.mdps.dynamics.continuous import continuous_world

    return continuous_world(options)
