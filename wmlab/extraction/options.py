"""What every extraction takes: what is known beforehand, and when to extract.

Shapes: S states, A actions, K candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import lookup_findings
from wmlab.core.memory import gib, usable_memory
from wmlab.registry import Finding, Scope, by_type, option
from wmlab.registry.kinds import Path

SUCCESSORS = {"type": "array", "minItems": 1, "items": {"type": ["string", "integer", "array"]}}
OF_SCHEMA = by_type(
    integer={"enum": [4, 8]},
    object={
        "minProperties": 1,
        "additionalProperties": by_type(array=SUCCESSORS, object={"additionalProperties": SUCCESSORS}),
    },
)


@dataclass(frozen=True)
class Support:
    """The states that may follow a state: where a step can lead, not how likely."""

    kind: Literal["neighbours", "table"] = option(
        "neighbours",
        doc="Cells next door on the map, or on that of the variables row and column or the first two, whatever other"
        " variables are; or a table written out.",
    )
    of: Any = option(
        4,
        doc="neighbours: 4 or 8. table: {state: [successors]} or {state: {action: [successors]}}; "
        "what it does not list may lead anywhere.",
        schema=OF_SCHEMA,
        whole=True,
    )
    self: bool = option(True, doc="neighbours: whether a step may also stay where it is.")


@dataclass(frozen=True)
class Prior:
    """What is known of the world before any value is looked at."""

    support: Support | None = option(None, doc="The states that may follow; null: any.")


@dataclass(frozen=True)
class Common:
    """The options of every extraction in a finite world."""

    prior: Prior | None = option(None, doc="What is known of the world beforehand; null: nothing.")
    when: Literal["final", "checkpoints"] = option(
        "final", doc="Extract from the final agent only, or at every checkpoint too."
    )


def check_common(options: Common, scope: Scope) -> Iterator[Finding]:
    """Mistakes in the support: a map that is not there, a state or an action that does not exist."""
    support = options.prior.support if options.prior else None
    if support is None:
        return
    place: Path = ("prior", "support")
    tabular = isinstance(support.of, dict)
    if support.kind == "neighbours" and tabular:
        yield Finding((*place, "of"), "neighbours are 4 or 8; a table of successors needs kind: table")
    elif support.kind == "table" and not tabular:
        yield Finding((*place, "of"), "a table lists successors: {state: [successors]}")
    elif scope.space is not None and support.kind == "neighbours" and scope.space.chart is None:
        yield Finding((*place, "kind"), "this world has no map, hence no neighbours", "use kind: table")
    elif scope.space is not None and support.kind == "neighbours":
        yield from _check_crowd(support, scope.space, (*place, "kind"))
    elif scope.space is not None and tabular:
        for state, action, successors in entries(support.of):
            yield from _check_entry((*place, "of"), state, action, successors, scope.space)


def _check_crowd(support: Support, space: Any, place: Path) -> Iterator[Finding]:
    """Whether the neighbours fit into memory: of variables that the map does not show, any values may follow."""
    prior, there = Prior(support), usable_memory()
    needed = table_bytes(prior, space)
    if needed > there:
        message = (
            f"{count_candidates(prior, space)} states may follow each, whatever {', '.join(space.chart.others)} is"
        )
        yield Finding(place, f"{message} ({gib(needed)} GiB, and there are {gib(there)})", "use kind: table")


def entries(table: dict[str, Any]) -> Iterator[tuple[str, str | None, list[Any]]]:
    """The rows of a table of successors; without an action they hold for all."""
    for state, listed in table.items():
        if isinstance(listed, dict):
            for action, successors in listed.items():
                yield state, action, list(successors)
        else:
            yield state, None, list(listed)


def _check_entry(place: Path, state: str, action: str | None, successors: list[Any], space: Any) -> Iterator[Finding]:
    yield from lookup_findings(space.index, state, (*place, state), key=True)
    inner = (*place, state) if action is None else (*place, state, action)
    if action is not None:
        yield from lookup_findings(space.action, action, inner, key=True)
    for position, successor in enumerate(successors):
        yield from lookup_findings(space.index, successor, (*inner, position))


def candidates_of(prior: Prior | None, space: Any) -> np.ndarray | None:
    """The support that a prior declares, int32 [S, K] or [S, A, K] padded with -1; None: any state may follow."""
    support = prior.support if prior else None
    if support is None:
        return None
    if support.kind == "neighbours":
        neighbours: np.ndarray = space.neighbours(support.of, support.self)
        return neighbours
    anywhere = tuple(range(space.size))
    rows: dict[tuple[int, int], tuple[int, ...]] = {}
    for state, action, successors in entries(support.of):
        actions = range(len(space.actions)) if action is None else [space.action(action)]
        listed = tuple(dict.fromkeys(space.index(successor) for successor in successors))
        rows.update({(space.index(state), number): listed for number in actions})
    pairs = [rows.get(pair, anywhere) for pair in np.ndindex(space.size, len(space.actions))]
    table = np.full((len(pairs), max(map(len, pairs))), -1, np.int32)
    for row, listed in zip(table, pairs, strict=True):
        row[: len(listed)] = listed
    return table.reshape(space.size, len(space.actions), -1)


# --- tables over all states: what a method needs where no support says which states may follow -----------------------


def count_candidates(prior: Prior | None, space: FiniteSpace) -> int:
    """K, the most states that may follow one, without listing them."""
    support = prior.support if prior else None
    if support is None or not _lists_all(support, space):
        return space.size
    if support.kind == "neighbours":
        assert space.chart is not None  # checked
        return int((support.of + support.self) * space.chart.crowd)
    return max(len(listed) for _, _, listed in entries(support.of))


def table_bytes(prior: Prior | None, space: FiniteSpace, tables: int = 1) -> int:
    """What so many arrays [S, A, K] take that have a number for each candidate."""
    return 8 * tables * space.size * len(space.actions) * count_candidates(prior, space)


def check_dense(options: Common, scope: Scope) -> Iterator[Finding]:
    """The check of a method that holds a probability for every candidate of every state and action."""
    wrong = list(check_common(options, scope))
    yield from wrong
    if not wrong:
        method = "this method" if scope.extract is None else scope.extract.name
        hint = "give extract.prior.support, or take another method"
        tables = (0 if scope.extract is None else scope.extract.traits.tables) or 1
        yield from check_table(method, options.prior, scope, ("prior", "support"), hint, tables)


def check_table(
    what: str, prior: Prior | None, scope: Scope, path: tuple[str, ...], hint: str, tables: int = 1
) -> Iterator[Finding]:
    """Whether so many arrays [S, A, K] fit into this machine's memory, before anything runs."""
    space = scope.space
    if not isinstance(space, FiniteSpace):
        return
    support = prior.support if prior else None
    if support is not None and _lists_all(support, space):
        return
    states, actions, there = space.size, len(space.actions), usable_memory()
    needed = table_bytes(prior, space, tables)
    if needed <= there:
        return
    lack = "without a support prior" if support is None else "with a support that leaves out states"
    shape = " x ".join(f"{count:,}".replace(",", " ") for count in (states, actions, states))
    arrays = "an array" if tables == 1 else f"{tables} arrays"
    message = f"{what} {lack} needs {arrays} of {shape} numbers ({gib(needed)} GiB, and there are {gib(there)})"
    yield Finding(path, message, hint if support is None else "list the successors of every state and action")


def _lists_all(support: Support, space: FiniteSpace) -> bool:
    """Whether a support speaks of every state and action; what a table leaves out may lead anywhere."""
    if support.kind == "neighbours":
        return True
    rows = {(space.index(state), action) for state, action, _ in entries(support.of)}
    whole = {state for state, action in rows if action is None}
    listed = sum(action is not None and state not in whole for state, action in rows)
    return len(whole) * len(space.actions) + listed == space.size * len(space.actions)
