"""Where goals are, from what a spec says under `goals.at`: states, or points, which need not be states.

Shapes: G goals, n named numbers that describe a state.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wmlab.core.finite.select import SelectionError, axis_values, point_of, select, unknown_parts
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import Finding
from wmlab.registry.kinds import Path

MAP_AXES = ("row", "column")


def places(at: Any, space: FiniteSpace, path: Path = ("at",)) -> list[int] | np.ndarray:
    """Where the goals are: states, or points float [G, n], which may lie between states or stand for several.

    On a map, `{row: [0, 1.5], column: {linspace: [0, 9, 4]}}` is a product, rows first; its points need not be cells.
    Those of a list need not, either: `[1.5, 2]` lies between two cells, `{row: -1, column: 5}` wherever it says.
    In a world of named variables `{stock: [0, 5]}` is a product too, and a list may hold points such as `{stock: 5}`;
    a variable that a point leaves open is NaN.
    """
    if at == "all" or (isinstance(at, Mapping) and "first" in at):
        return select(at, space, path)
    if space.coordinates is not None:
        return _named(at, space, path)
    if space.cells is None:
        return select(at, space, path)
    if not isinstance(at, Mapping):
        points = isinstance(at, (list, tuple)) and any(_is_point(row) for row in at)
        return _on_map(at, space, path) if points else select(at, space, path)
    wrong = list(_map_findings(at, path))
    if wrong:
        raise SelectionError(wrong)
    rows, columns = (axis_values(at[name]) for name in MAP_AXES)
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)


def meets(points: np.ndarray, space: FiniteSpace) -> np.ndarray:
    """Which points [G, n] are at a state, or stand for several: bool [G]."""
    if space.coordinates is not None:
        return np.array([len(space.coordinates.meeting(point)) > 0 for point in points], bool)
    return np.array([_state_at(point, space) >= 0 for point in points.tolist()], bool)


def _map_findings(said: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    """What a point or a product on a map says too much or too little of."""
    for name in said:
        if name not in MAP_AXES:
            yield Finding((*path, name), f"a map has row and column, and no '{name}'", key=True)
    yield from (Finding(path, f"nothing said about '{name}'") for name in MAP_AXES if name not in said)


def _is_point(row: Any) -> bool:
    """Whether one goal of a list on a map is a point, which need not be a cell: {row: 5, column: 1}, or [1.5, 2]."""
    if isinstance(row, Mapping):
        return True
    pair = isinstance(row, (list, tuple)) and len(row) == 2 and all(isinstance(each, (int, float)) for each in row)
    return pair and any(not float(each).is_integer() for each in row)


def _on_map(at: Sequence[Any], space: FiniteSpace, path: Path) -> list[int] | np.ndarray:
    """States where every goal of a list is one, else points [G, 2]."""
    assert space.cells is not None
    points: list[tuple[float, float]] = []
    wrong: list[Finding] = []
    for place, row in (((*path, position), row) for position, row in enumerate(at)):
        try:
            meant = [_pair(row, place)] if _is_point(row) else [_pair(space.cells[one]) for one in space.states(row)]
        except SelectionError as error:
            wrong += error.findings
            continue
        except LookupError as error:
            wrong.append(Finding(place, str(error.args[0])))
            continue
        wrong += [Finding(place, f"({pair[0]:g}, {pair[1]:g}) is listed twice") for pair in meant if pair in points]
        points += meant
    if wrong:
        raise SelectionError(wrong)
    states = [_state_at(point, space) for point in points]
    return states if min(states) >= 0 else np.array(points)


def _pair(row: Any, path: Path = ()) -> tuple[float, float]:
    """A point on a map as row and column."""
    wrong = list(_map_findings(row, path)) if isinstance(row, Mapping) else []
    if wrong:
        raise SelectionError(wrong)
    first, second = (row[name] for name in MAP_AXES) if isinstance(row, Mapping) else row
    return float(first), float(second)


def _state_at(point: Sequence[float], space: FiniteSpace) -> int:
    """The state whose cell a point meets exactly; -1 where there is none."""
    row, column = (int(each) if each.is_integer() else -1 for each in point)
    inside = 0 <= row < space.lookup.shape[0] and 0 <= column < space.lookup.shape[1]
    return int(space.lookup[row, column]) if inside else -1


def _named(at: Any, space: FiniteSpace, path: Path) -> list[int] | np.ndarray:
    """States where every goal is one, else points [G, n]."""
    coordinates = space.coordinates
    assert coordinates is not None
    if isinstance(at, Mapping):
        axes = [axis_values(values) for values in at.values()]
        rows: list[tuple[Path, Any]] = [(path, dict(zip(at, row, strict=True))) for row in itertools.product(*axes)]
    elif isinstance(at, (list, tuple)) and at:
        rows = [((*path, position), row) for position, row in enumerate(at)]
    else:
        raise SelectionError([Finding(path, f"{at!r} says no goals", "say all, a list of states, or {first: n}")])
    points: list[np.ndarray] = []
    wrong: list[Finding] = []
    for place, row in rows:
        unknown = list(unknown_parts(row, space, place))
        if unknown:
            wrong += unknown
            continue
        point = point_of(row, space)
        if any(np.array_equal(point, other, equal_nan=True) for other in points):
            wrong.append(Finding(place, f"{coordinates.label(point)} is listed twice"))
        points.append(point)
    if wrong:
        raise SelectionError(list(dict.fromkeys(wrong)))
    met = [coordinates.meeting(point) for point in points]
    whole = np.isfinite(np.array(points)[:, : coordinates.own]).all()  # no variable of a state is left open
    return [int(states[0]) for states in met] if whole and all(len(states) == 1 for states in met) else np.array(points)
