"""How much of a next state an agent's values tell in a continuous world.

Shapes: N states, d variables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.identify.local import LocalRanks
from wmlab.registry.metrics import Measured


@dataclass(frozen=True, eq=False)
class LocalContext:
    """The local ranks of an agent's M, and the variables that they are of."""

    space: ContinuousSpace
    local: LocalRanks


def local_ranks(context: LocalContext) -> Measured:
    """The usual rank, how much of each variable is told, and the usual singular values."""
    local, size = context.local, context.space.size
    shares = {f"rank {rank}": float((local.rank == rank).mean()) for rank in range(size + 1)}
    told = {name: float(share) for name, share in zip(context.space.names, local.told.mean(axis=0), strict=True)}
    usual = [float(value) for value in np.median(local.singular, axis=0)]
    return {
        "ident.local_rank": {"value": float(usual_rank(local)), "by": {"states": shares}},
        "ident.local_share": {"value": float(local.told.mean()), "by": {"dimension": told}},
        "ident.local_sigma_min": {
            "value": usual[-1],
            "by": {"index": {str(place): value for place, value in enumerate(usual, start=1)}},
        },
    }


def usual_rank(local: LocalRanks) -> int:
    """The median of the ranks, one of them."""
    return int(np.sort(local.rank)[(len(local.rank) - 1) // 2])
