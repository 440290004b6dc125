"""What can be wrong with a map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wmlab import expressions
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import check_names, check_reset, check_states, lookup_findings
from wmlab.mdps.gridworld.cells import cells_of, space
from wmlab.mdps.gridworld.check_map import check_map, marks_in
from wmlab.mdps.gridworld.options import Options, Slip, Wind
from wmlab.registry import Finding, Scope
from wmlab.registry.kinds import Path

KEPT = "#. <>^"  # characters that mean something in every map
LARGEST = 200_000_000  # entries of a kernel: 2.4 GB


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    wrong = [*check_map(options), *_check_legend(options)]
    yield from wrong
    if not options.actions:
        yield Finding(("actions",), "no action at all")
    yield from check_names(options.actions, "actions")
    for path, slip in _placed("slip", options.slip, options.slips):
        if abs(sum(slip.chances) - 1) > 1e-9:
            yield Finding(path, f"the probabilities sum to {sum(slip.chances):.12g}, not 1")
    if wrong:
        return
    where = space(options)
    for name in options.exits:
        yield from lookup_findings(where.states, name, ("exits", name), key=True)
    yield from _check_parts("slip", "slips", options.slip, options.slips, where)
    yield from _check_parts("wind", "has wind", options.wind, options.winds, where)
    yield from _check_teleports(options, where)
    yield from check_reset(options.reset, where)


def _check_legend(options: Options) -> Iterator[Finding]:
    marks = marks_in(options.map)
    letters = {mark for mark in marks if mark.isalpha()} - options.legend.keys()
    for mark, name in options.legend.items():
        path: Path = ("legend", mark)
        if len(mark) != 1 or mark in KEPT:
            meant = f"'{mark}' means the same in every map" if mark in KEPT else f"'{mark}' is not one character"
            yield Finding(path, meant, "name a letter, a digit or another sign", key=True)
        elif mark not in marks:
            yield Finding(path, f"no cell of the map bears '{mark}'", key=True)
        problem = expressions.name_problem(name)
        if problem is not None:
            yield Finding(path, problem)
        elif name in ("row", "column") or name in letters:
            taken = "a variable of every map" if name not in letters else "a cell of the map"
            yield Finding(path, f"'{name}' is {taken} already", "take another name")


def _placed(key: str, given: Any, parts: Sequence[Any]) -> Iterator[tuple[Path, Any]]:
    """Each part with the path at which it was said: alone, or in a list."""
    for position, part in enumerate(parts):
        yield ((key, position) if isinstance(given, tuple) else (key,)), part


def _check_parts(
    key: str, does: str, given: Any, parts: Sequence[Slip | Wind], where: FiniteSpace
) -> Iterator[Finding]:
    """Cells that are not there, and cells that two of several parts speak of."""
    taken: dict[int, int] = {}
    background: int | None = None
    for number, (path, part) in enumerate(_placed(key, given, parts)):
        if part.at is None and background is not None:
            yield Finding(path, f"{key}[{background}] is said of all other cells already", "say its cells under at")
        if part.at is None:
            background = number
            continue
        yield from _check_taken(part.at, where, (*path, "at"), taken, number, f"{does} already, by {key}[{{}}]")


def _check_taken(
    cells: Any, where: FiniteSpace, path: Path, taken: dict[int, int], number: int, already: str
) -> Iterator[Finding]:
    """Cells that are not there or that an earlier part speaks of; the others are taken by this one."""
    wrong = list(_check_cells(cells, where, path))
    yield from wrong
    for state in [] if wrong else cells_of(cells, where).tolist():
        if state in taken:
            yield Finding(path, f"cell {where.names[state]} {already.format(taken[state])}")
        taken.setdefault(state, number)


def _check_teleports(options: Options, where: FiniteSpace) -> Iterator[Finding]:
    taken: dict[int, int] = {}
    widest = 8 if options.winds else 4
    for number, teleport in enumerate(options.teleports):
        path = ("teleports", number)
        already = "teleports already, by teleports[{}]"
        yield from _check_taken(teleport.from_, where, (*path, "from"), taken, number, already)
        wrong = list(_check_cells(teleport.to, where, (*path, "to")))
        yield from wrong
        widest = max(widest, 0 if wrong else len(cells_of(teleport.to, where)))
    if widest * where.size * len(options.actions) > LARGEST:
        yield Finding(("teleports",), f"{widest} landing cells in a map of {where.size} make too large a kernel")


def _check_cells(cells: Any, where: FiniteSpace, path: Path) -> Iterator[Finding]:
    if not isinstance(cells, dict):
        yield from check_states(cells, where, path)
        return
    assert where.shape is not None
    for key, limit in zip(("rows", "columns"), where.shape, strict=True):
        low, high = cells[key]
        if low > high:
            yield Finding((*path, key), f"from {low} to {high} is empty")
        elif low < 0 or high >= limit:
            yield Finding((*path, key), f"the map has {key} 0 to {limit - 1}")
    (top, bottom), (left, right) = cells["rows"], cells["columns"]
    if 0 <= top <= bottom < where.shape[0] and 0 <= left <= right < where.shape[1] and not len(cells_of(cells, where)):
        yield Finding(path, "no free cell there")
