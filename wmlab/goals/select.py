"""Which states are goals, from what a spec says under `at`, `reach` and `avoid`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wmlab.registry import Finding
from wmlab.spaces import FiniteSpace

Path = tuple[str | int, ...]


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


def places(at: Any, space: FiniteSpace, path: Path = ("at",)) -> list[int] | np.ndarray:
    """Where the goals are: states, or points [G, 2] of the map's plane where a product says so.

    `{row: [0, 1.5], column: {linspace: [0, 9, 4]}}` is a product, rows first; its points need not be cells.
    """
    axes = ("row", "column")
    if not isinstance(at, Mapping) or "first" in at or space.cells is None:
        return select(at, space, path)
    wrong = [Finding((*path, name), f"a map has row and column, and no '{name}'") for name in at if name not in axes]
    wrong += [Finding(path, f"nothing said about '{name}'") for name in axes if name not in at]
    if wrong:
        raise SelectionError(wrong)
    rows, columns = (_along(at[name]) for name in axes)
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)


def _along(said: Any) -> np.ndarray:
    if isinstance(said, Mapping):
        low, high, count = said["linspace"]
        return np.linspace(low, high, int(count))
    return np.asarray(said, float)


def states_of(said: Any, space: FiniteSpace, path: Path) -> list[int]:
    """One state or cell, or a list of them, as `reach` and `avoid` take."""
    one = not isinstance(said, (list, tuple)) or (len(said) > 0 and all(isinstance(part, int) for part in said))
    if said is None:
        return []
    if not one:
        return _listed(said, space, path)
    try:
        return [space.index(said)]
    except LookupError as error:
        raise SelectionError([Finding(path, str(error.args[0]))]) from None


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
    found: list[int] = []
    wrong: list[Finding] = [] if states else [Finding(path, "an empty list")]
    for position, state in enumerate(states):
        try:
            index = space.index(state)
        except LookupError as error:
            wrong.append(Finding((*path, position), str(error.args[0])))
            continue
        if index in found:
            wrong.append(Finding((*path, position), f"{space.names[index]} is listed twice"))
        found.append(index)
    if wrong:
        raise SelectionError(wrong)
    return found
