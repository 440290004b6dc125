"""Which states are goals, from what a spec says under `at`, `reach` and `avoid`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import Finding
from wmlab.registry.kinds import Path


class SelectionError(LookupError):
    """Every state that could not be found, each with its place."""

    def __init__(self, findings: list[Finding]):
        self.findings = findings
        super().__init__("; ".join(f"{show(finding.path)}: {finding.message}" for finding in findings))


def show(path: Path) -> str:
    """A path as a user would say it: at[2]."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def select(at: Any, space: FiniteSpace, path: Path = ("at",)) -> list[int]:
    """The goal states, in order: `all`, a list of states or cells, or `{first: n, of: states, shuffle: seed}`.

    The first n of one permutation nest as n grows. Raises SelectionError with all that is wrong.
    """
    if at == "all":
        return list(range(space.size))
    if isinstance(at, Mapping):
        return _first(at, space, path)
    if isinstance(at, (list, tuple)):
        return _listed(at, space, path)
    raise SelectionError([Finding(path, f"{at!r} says no goals", "say all, a list of states, or {first: n}")])


def unknown_parts(row: Any, space: FiniteSpace, path: Path) -> Iterator[Finding]:
    """What cannot be found of one goal: each variable and value at its own place."""
    assert space.coordinates is not None
    parts = [((*path, name), {name: value}) for name, value in row.items()] if isinstance(row, Mapping) else []
    for place, part in parts or [(path, row)]:
        try:
            point_of(part, space)
        except LookupError as error:
            unknown = isinstance(part, dict) and not part.keys() <= {*space.coordinates.names}
            yield Finding(place, str(error.args[0]), key=unknown)


def point_of(row: Any, space: FiniteSpace) -> np.ndarray:
    """What one goal says, as a point [n]."""
    coordinates = space.coordinates
    assert coordinates is not None
    if isinstance(row, Mapping):
        return coordinates.point(row)
    point = coordinates.values[space.index(row)].copy()
    point[coordinates.own :] = np.nan
    return point


def axis_values(values: Any) -> list[float]:
    """One number, a list of them, or {linspace: [from, to, how many]}."""
    if isinstance(values, Mapping):
        low, high, count = values["linspace"]
        return [float(value) for value in np.linspace(low, high, int(count))]
    return [float(value) for value in values] if isinstance(values, (list, tuple)) else [float(values)]


def states_of(chosen: Any, space: FiniteSpace, path: Path) -> list[int]:
    """One state, cell or point, or a list of them, as `reach` and `avoid` take.

    In a world of named variables `{stock: 5}` is every state of that stock, and a text that names no state is a
    condition: "stock < 3".
    """
    several = isinstance(chosen, (list, tuple))
    one = not several or (len(chosen) > 0 and all(isinstance(part, (int, float)) for part in chosen))
    if chosen is None:
        return []
    if space.coordinates is not None:
        rows = [(path, chosen)] if one else [((*path, position), each) for position, each in enumerate(chosen)]
        return _described(rows, space, path)
    if not one:
        return _listed(chosen, space, path)
    try:
        return space.states(chosen)
    except LookupError as error:
        raise SelectionError([Finding(path, str(error.args[0]))]) from None


def _described(rows: list[tuple[Path, Any]], space: FiniteSpace, path: Path) -> list[int]:
    """The states of points and conditions on variables, each once, in order."""
    assert space.coordinates is not None
    wrong = [] if rows else [Finding(path, "an empty list")]
    states_met: set[int] = set()
    for place, row in rows:
        condition = isinstance(row, str) and row not in space.names
        unknown = [] if condition else list(unknown_parts(row, space, place))
        wrong += unknown
        if unknown:
            continue
        try:
            states = _region(row, space) if condition else space.coordinates.meeting(point_of(row, space))
        except expressions.ExpressionError as error:
            wrong.append(Finding(place, error.message, error.hint, offset=error.offset))
            continue
        if not len(states):
            wrong.append(Finding(place, "no state is like that"))
        states_met.update(states.tolist())
    if wrong:
        raise SelectionError(wrong)
    return sorted(states_met)


def _region(condition: str, space: FiniteSpace) -> np.ndarray:
    """The states for which a condition on their variables holds."""
    env = space.described()
    with np.errstate(all="ignore"):
        holds = expressions.program(condition, tuple(env))(np, env)
    return np.flatnonzero(np.broadcast_to(holds, space.size))


def _first(at: Mapping[str, Any], space: FiniteSpace, path: Path) -> list[int]:
    if "first" not in at:
        names = ", ".join(str(name) for name in at)
        hint = "say all, a list of states, or {first: n}"
        raise SelectionError([Finding(path, f"this world has no variables ({names}) to take a product of", hint)])
    count, shuffle = at["first"], at.get("shuffle")
    if not 1 <= count <= space.size:
        raise SelectionError([Finding((*path, "first"), f"{count} goals of {space.size} states")])
    order = np.arange(space.size) if shuffle is None else np.random.RandomState(shuffle).permutation(space.size)
    return [int(state) for state in order[:count]]


def _listed(states: list[Any] | tuple[Any, ...], space: FiniteSpace, path: Path) -> list[int]:
    indices: list[int] = []
    wrong: list[Finding] = [] if states else [Finding(path, "an empty list")]
    for position, state in enumerate(states):
        try:
            meant = space.states(state)
        except LookupError as error:
            wrong.append(Finding((*path, position), str(error.args[0])))
            continue
        for index in meant:
            if index in indices:
                wrong.append(Finding((*path, position), f"{space.names[index]} is listed twice"))
            indices.append(index)
    if wrong:
        raise SelectionError(wrong)
    return indices
