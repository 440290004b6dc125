"""Where goals lie on a plane of a continuous world, and what is to be avoided: as the spec says it, on a lattice.

Shapes: G points, K named variables, N states, d state variables, m points of the lattice along a variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.core.continuous.points import Points, goal_points, per_variable, points_of
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.report.data import Region
from wmlab.sections.experiment import Ending, GoalsSection, UnseenGoal

LATTICE = 121  # points along each of the two variables
BEHIND = 81  # combinations of the other variables that are looked at, at most


@dataclass(frozen=True, eq=False)
class PlaneStates:
    """A plane over two variables: the states behind each of its points, all of them or one where others stand still."""

    space: ContinuousSpace
    columns: tuple[int, int]  # of the state
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    fixed: Mapping[str, float] | None = None  # where the other variables stand; None: anywhere

    def behind(self) -> Iterator[np.ndarray]:
        """States [m * m, d] over the plane, for one combination of the other variables after another."""
        axes = [np.linspace(*ends, LATTICE) for ends in (self.x_range, self.y_range)]
        over = [part.ravel() for part in np.meshgrid(*axes, indexing="ij")]
        others = [column for column in range(self.space.size) if column not in self.columns]
        for values in itertools.product(*map(self.along, others)):
            states = np.empty((LATTICE * LATTICE, self.space.size))
            states[:, list(self.columns)] = np.stack(over, axis=-1)
            states[:, others] = values
            yield states

    def along(self, column: int) -> np.ndarray:
        """Values of a variable that the plane does not show."""
        variable = self.space.variables[column]
        if self.fixed is not None:
            return np.array([self.fixed[variable.name]])
        count = int(BEHIND ** (1 / (self.space.size - 2)) + 1e-9)
        return np.linspace(*variable.scale, count) if count > 1 else np.array([sum(variable.scale) / 2])

    def free(self, columns: Sequence[int]) -> np.ndarray:
        """Which named variables can be anything, whatever the place on the plane: bool [K]."""
        moves = self.fixed is None
        return np.array([moves and column < self.space.size and column not in self.columns for column in columns], bool)


def targets(goal: UnseenGoal, plane: PlaneStates) -> Iterator[Region]:
    """What an unseen goal is to reach, and what it is to avoid."""
    points = points_of(goal.targets, plane.space, ("reach",))
    yield from drawn("target", near(points, per_variable(goal.within, points, plane.space), plane, goal.wraps))
    if goal.avoid is not None:
        unsafe = (plane.space.holds(goal.avoid, states) for states in plane.behind())
        yield from drawn("unsafe", anywhere(unsafe))


def untold(goal: UnseenGoal, regions: Sequence[Region]) -> str:
    """What cannot be shown of an unseen goal on a plane, as other variables decide it; in words."""
    sorts = {region.sort for region in regions}
    parts = ["reached"] if "target" not in sorts else []
    parts += ["avoided"] if goal.avoid is not None and "unsafe" not in sorts else []
    return f"What is to be {' and '.join(parts)} is told by other variables." if parts else ""


def trained(goals: GoalsSection, plane: PlaneStates, only: int | None = None) -> Iterator[Region]:
    """Where goals that an agent was trained on lie, or one of them; those that have no place or width are nowhere."""
    points = goal_points(goals, plane.space)
    width = goals.reward.traits.width(goals.reward.options)
    if isinstance(goals.terminate, Ending) and goals.terminate.within is not None:
        width = goals.terminate.within
    if width is None or not points.columns:
        return
    if only is not None:
        points = Points(points.columns, points.values[[only]], points.asked[[only]], (points.labels[only],))
    yield from drawn("goal", near(points, per_variable(width, points, plane.space), plane))


def near(points: Points, distance: np.ndarray, plane: PlaneStates, wraps: bool = True) -> np.ndarray:
    """Which places of a plane are nearer to a point than a distance [] or [K], for some other variables: [m * m]."""
    asked = points.asked & ~plane.free(points.columns)

    def reached(states: np.ndarray) -> np.ndarray:
        named = plane.space.full(states)[:, None, list(points.columns)]  # [N, 1, K]
        difference = (
            plane.space.difference(named, points.values, np, points.columns) if wraps else named - points.values
        )
        gap = np.where(asked, difference, 0.0)
        inside = (gap**2).sum(axis=-1) < distance**2 if distance.ndim == 0 else (np.abs(gap) < distance).all(axis=-1)
        return np.asarray(inside.any(axis=-1))

    told = [column for column, ours in zip(points.columns, asked.any(axis=0), strict=True) if ours]
    alike = all(column < plane.space.size for column in told)  # shown, or fixed: whatever the others are
    return anywhere(map(reached, itertools.islice(plane.behind(), 1 if alike else None)))


def anywhere(holds: Iterator[np.ndarray]) -> np.ndarray:
    """Where something holds for one of the combinations of other variables, or more."""
    found = np.zeros(LATTICE * LATTICE, bool)
    for each in holds:
        found |= each
    return found


def drawn(sort: str, inside: np.ndarray) -> Iterator[Region]:
    """A region, unless it is nowhere, or everywhere, as where other variables decide."""
    if inside.any() and not inside.all():
        yield Region(sort, inside.reshape(LATTICE, LATTICE))
