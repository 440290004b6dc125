"""The states of the goals that an agent of a finite world was trained on, as its spec says them."""

from __future__ import annotations

import numpy as np

from wmlab.core.finite.places import places
from wmlab.core.finite.space import FiniteSpace
from wmlab.sections.experiment import GoalsSection


def goal_states(goals: GoalsSection, space: FiniteSpace) -> list[tuple[int, ...]]:
    """The states of each goal, in order; none of one that lies between states. No goals where they have no place."""
    if goals.at is None:
        return []
    return [states_at(place, space) for place in places(goals.at, space)]


def states_at(place: int | np.ndarray, space: FiniteSpace) -> tuple[int, ...]:
    """The states at a point of the map or of named variables, or the state itself."""
    if not isinstance(place, np.ndarray):
        return (int(place),)
    if space.coordinates is not None:
        return tuple(space.coordinates.meeting(place).tolist())
    assert space.cells is not None
    return tuple(np.flatnonzero((space.cells == place).all(axis=-1)).tolist())
