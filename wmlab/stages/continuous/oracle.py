"""oracle: the best that can be done for an unseen goal, planned in the true world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.planning.grid_value_iteration import Options, half_as_fine, points_of, with_lattice
from wmlab.registry import SolverChoice, build
from wmlab.runtime.result import Result
from wmlab.stages.continuous.plan import estimate as estimate  # a plan's, in the true world
from wmlab.stages.continuous.plan import kept, solve
from wmlab.stages.continuous.records import world_of
from wmlab.stages.params import PlanParams

CHEAP = 20_000_000  # entries of the table of a second, coarser grid: seconds of work


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = build(PlanParams, params)
    world = world_of(asked.mdp, asked.seed)
    best = solve(asked, world.dynamics, world, world.space)
    data: dict[str, Any] = {"r_star": best.attained, "shape": list(best.shape), "coarser": coarser(asked, world)}
    if asked.goal.watch:
        data["free_peaks"] = free_peaks(asked, world)
    return Result(kept(best), data)


def free_peaks(asked: PlanParams, world: ContinuousWorld) -> dict[str, dict[str, float | None]]:
    """The greatest size of each watched variable on the best way if nothing had to be avoided.

    Mean, least and greatest are over the starts from which that way gets there; none where it never does.
    """
    free = solve(replace(asked, goal=replace(asked.goal, avoid=None)), world.dynamics, world, world.space)
    arrived = free.peaks[free.returns > 0].astype(float)  # [S, D]
    kinds: dict[str, Any] = {"mean": np.mean, "least": np.min, "greatest": np.max}
    return {
        name: {
            key: float(of(arrived[:, world.space.column(name)])) if len(arrived) else None for key, of in kinds.items()
        }
        for name in asked.goal.watch
    }


def coarser(asked: PlanParams, world: ContinuousWorld) -> dict[str, Any] | None:
    """R* on a grid half as fine, which says how far R* depends on its grid; None where that would take long."""
    options = asked.solver.options
    if not isinstance(options, Options):
        return None
    space = with_lattice(options, world.space)
    sizes = half_as_fine(options.grid, space)
    outcomes = asked.mdp.traits.outcomes(asked.mdp.options, options.quadrature)
    if points_of(sizes, space) * len(space.actions) * outcomes > CHEAP:
        return None
    solver = SolverChoice({**asked.solver.data, "grid": sizes})
    best = solve(replace(asked, solver=solver), world.dynamics, world, world.space)
    return {"r_star": best.attained, "shape": list(best.shape)}
