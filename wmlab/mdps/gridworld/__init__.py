"""A gridworld drawn as text: walls, one-way cells, named regions, slippery floors, wind and teleports.

Shapes: S free cells in row-major order, A actions, K successors.
"""

from __future__ import annotations

from wmlab.core.finite.world import FiniteWorld, reset_distribution
from wmlab.mdps.gridworld.cells import signs, space
from wmlab.mdps.gridworld.check import check
from wmlab.mdps.gridworld.kernel import kernel, max_successors
from wmlab.mdps.gridworld.options import Options
from wmlab.registry import WorldTraits, mdps


@mdps.register(
    "gridworld",
    Options,
    WorldTraits(space=space, sort="finite", max_successors=max_successors, signs=signs),
    check=check,
)
def gridworld(options: Options, seed: int) -> FiniteWorld:
    """A grid of cells and walls, with one-way cells, slippery floors, wind and teleports where wanted."""
    where = space(options)
    return FiniteWorld(where, kernel(options, where), reset_distribution(options.reset, where), options.horizon)
