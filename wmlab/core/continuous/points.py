"""Points on named variables: what a spec's `at`, `reach` and `reach_any` say in a continuous world.

Shapes: G points, K named variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.finite.coordinates import by_name
from wmlab.core.finite.select import SelectionError, axis_values
from wmlab.errors import suggest
from wmlab.registry import Finding
from wmlab.registry.kinds import Path
from wmlab.sections.experiment import GoalsSection


@dataclass(frozen=True, eq=False)
class Points:
    """Wanted values of named variables; each point may name its own."""

    columns: tuple[int, ...]  # [K] which columns of the full state are named
    values: np.ndarray  # [G, K], 0 where a point does not name the variable
    asked: np.ndarray  # bool [G, K]
    labels: tuple[str, ...]  # [G]

    @property
    def alike(self) -> bool:
        """Whether every point names the same variables, and at least one."""
        return bool(self.asked.all()) and len(self.columns) > 0

    def names(self, space: ContinuousSpace) -> list[str]:
        """The variables that some point names."""
        return [space.everything[column].name for column in self.columns]

    def common(self, space: ContinuousSpace) -> tuple[str, ...]:
        """The variables that every point names."""
        named = np.all(self.asked, axis=0).tolist()
        return tuple(space.everything[column].name for column, kept in zip(self.columns, named, strict=True) if kept)


def goal_points(goals: GoalsSection, space: ContinuousSpace) -> Points:
    """The training goals of a spec's `goals`; those of rewards that need no place are at no point."""
    if goals.at is not None:
        return points_of(goals.at, space)
    labels = goals.reward.traits.own_goals(goals.reward.options)
    nowhere = np.zeros((len(labels), 0))
    return Points((), nowhere, nowhere.astype(bool), labels)


def points_of(at: Any, space: ContinuousSpace, path: Path = ("at",)) -> Points:
    """The points of a list of mappings, or of a product; SelectionError with all that is wrong."""
    rows = list(_rows(at, space, path))
    wrong = [finding for place, row in rows for finding in _row_findings(row, space, place)]
    if wrong:
        raise SelectionError(list(dict.fromkeys(wrong)))
    columns = sorted({space.column(name) for _, row in rows for name in row})
    names = [space.everything[column].name for column in columns]
    asked = np.array([[name in row for name in names] for _, row in rows], bool)
    values = np.array([[row.get(name, 0.0) for name in names] for _, row in rows], np.float64)
    labels = tuple(", ".join(f"{name}={value:g}" for name, value in row.items()) for _, row in rows)
    return Points(tuple(columns), values, asked, labels)


def _rows(at: Any, space: ContinuousSpace, path: Path) -> Iterator[tuple[Path, Any]]:
    """Each point as it was said, with its place."""
    if isinstance(at, Mapping) and "first" not in at:
        axes = {name: axis_values(values) for name, values in at.items()}
        for chosen in itertools.product(*axes.values()):
            yield path, dict(zip(axes, chosen, strict=True))
    elif isinstance(at, (list, tuple)) and at:
        yield from (((*path, position), row) for position, row in enumerate(at))
    else:
        first = space.variables[0]
        low, high = first.scale
        points, product = f"[{_example(space)}]", f"{{{first.name}: [{low:g}, {high:g}]}}"
        hint = f"say a list of points, as {points}, or a product, as {product}"
        raise SelectionError([Finding(path, "a continuous world has no list of states to take goals from", hint)])


def _instead(row: Any, space: ContinuousSpace) -> str:
    """How to say what was said without the names of variables."""
    numbers = row if isinstance(row, (list, tuple)) else [row]
    plain = all(isinstance(value, (int, float)) for value in numbers) and len(numbers) == space.size
    return f"say {by_name(numbers, space.names)}" if plain else f"say values of variables, as {_example(space)}"


def _example(space: ContinuousSpace) -> str:
    """A point in the middle of a world."""
    return by_name([sum(variable.scale) / 2 for variable in space.variables[:2]], space.names[:2])


def _row_findings(row: Any, space: ContinuousSpace, path: Path) -> Iterator[Finding]:
    if not isinstance(row, Mapping) or not row:
        what = "this" if isinstance(row, Mapping) else f"{row}"
        yield Finding(path, f"{what} names no variable", _instead(row, space))
        return
    for name, value in row.items():
        try:
            variable = space.everything[space.column(name)]
        except LookupError as error:
            yield Finding((*path, name), str(error.args[0]), key=True)
            continue
        if outside(variable, value):
            shown = f"[{variable.low:g}, {variable.high:g}]"
            yield Finding((*path, name), f"{value:g} is outside the range of {name}, {shown}")


def outside(variable: Variable, value: float) -> bool:
    """Whether a value is beyond a variable's range, beyond what rounding explains."""
    slack = 1e-6 * (1.0 + abs(value))
    return not variable.low - slack <= value <= variable.high + slack


def per_variable(width: float | Mapping[str, float], points: Points, space: ContinuousSpace) -> np.ndarray:
    """One number [], or a number for each named variable [K]; those that the mapping leaves out are infinite."""
    if not isinstance(width, Mapping):
        return np.asarray(float(width))
    return np.array([float(width.get(name, np.inf)) for name in points.names(space)])


def check_widths(width: Any, names: Sequence[str], path: Path, noun: str) -> Iterator[Finding]:
    """What is wrong with a radius, a width or a distance that may be given for each variable."""
    pairs = width.items() if isinstance(width, Mapping) else [(None, width)]
    strangers = [name for name, _ in pairs if name is not None and name not in names]
    for name, value in pairs:
        place = path if name is None else (*path, name)
        if name in strangers:
            yield Finding(place, f"no goal names {name}; they name {', '.join(names)}", key=True)
        if value <= 0:
            yield Finding(place, f"{value:g} is no {noun}; it must be above 0")
    if isinstance(width, Mapping):
        for name in names:
            if name not in width and not any(suggest(stranger, [name]) for stranger in strangers):
                yield Finding(path, f"a {noun} for {name} is missing")
