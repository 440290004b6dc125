"""A continuous world: its space, what its actions do, and how long episodes last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wmlab.core.continuous.space import ContinuousSpace

if TYPE_CHECKING:
    from wmlab.core.continuous.dynamics import Dynamics


@dataclass(frozen=True, eq=False)
class ContinuousWorld:
    """A world of named variables. Episodes start anywhere in the box `space.starts`."""

    space: ContinuousSpace
    dynamics: Dynamics
    horizon: int | None = None  # steps until an episode is cut; None: never
