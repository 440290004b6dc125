"""A world written out: for each state and action, where it leads. The rows are in the spec, or in a file beside it.

Shapes: S states, A actions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import RESET_SCHEMA, FiniteWorld, check_names, check_reset, reset_distribution
from wmlab.errors import StageError, suggest
from wmlab.registry import Finding, Scope, WorldTraits, mdps, option
from wmlab.registry.kinds import Path
from wmlab.registry.options import NUMBER

TOLERANCE = 1e-9

PROBABILITIES = {"type": "object", "additionalProperties": NUMBER}
TRANSITIONS_SCHEMA = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {
            "type": ["string", "object"],
            "allOf": [{"if": {"type": "object"}, "then": PROBABILITIES}],
        },
    },
}


@dataclass(frozen=True)
class Options:
    states: tuple[str, ...] | int = option(doc="The names of the states, or how many (s0, s1, …).", at_most=10_000)
    actions: tuple[str, ...] | int = option(doc="The names of the actions, or how many (a0, a1, …).", at_most=1_000)
    transitions: dict[str, Any] | None = option(
        None,
        doc="state: {action: successor}, or {action: {successor: probability}}.",
        schema=TRANSITIONS_SCHEMA,
        whole=True,
    )
    file: str | None = option(
        None,
        doc="In place of transitions: a path relative to this file. .npz: the array transitions, or the only one, "
        "[states, actions, states]. .csv: the columns state, action, successor, probability, by names or positions.",
        schema={"type": "string", "x-wmlab": "file"},
    )
    reset: Any = option(
        "uniform", doc="Where episodes start: uniform, a state, or a list of states.", schema=RESET_SCHEMA, whole=True
    )
    horizon: int | None = option(None, doc="Steps until an episode is cut; null: never.", at_least=1)


def space(options: Options) -> FiniteSpace:
    """The states by name."""
    return FiniteSpace.named(options.states, options.actions)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    empty = False
    for name in ("states", "actions"):
        given = getattr(options, name)
        if given == 0 or given == ():
            empty = True
            yield Finding((name,), f"no {name[:-1]} at all")
        yield from check_names(given, name)
    if empty:
        return
    where = space(options)
    if options.transitions is not None and options.file is not None:
        yield Finding(("file",), "say one of transitions and file", "transitions: null takes the inherited ones away")
    elif options.transitions is not None:
        yield from _check_transitions(options.transitions, where)
    elif options.file is None:
        yield Finding((), "where do actions lead?", "say transitions, or a file that holds them")
    yield from check_reset(options.reset, where)


def _check_transitions(transitions: Mapping[str, Any], where: FiniteSpace) -> Iterator[Finding]:
    yield from _check_keys(transitions, where.names, "state", ("transitions",))
    for state, row in transitions.items():
        if state in where.names:
            yield from _check_keys(row, where.actions, "action", ("transitions", state))
            for action, outcome in row.items():
                yield from _check_outcome(outcome, where, ("transitions", state, action))


def _check_keys(given: Mapping[str, Any], known: Sequence[str], noun: str, path: Path) -> Iterator[Finding]:
    for name in given:
        if name not in known:
            yield Finding((*path, name), f"no {noun} '{name}'", suggest(name, known), key=True)
    missing = [name for name in known if name not in given]
    if missing:
        yield Finding(path, f"nothing said about {noun} " + ", ".join(f"'{name}'" for name in missing))


def _check_outcome(outcome: Any, where: FiniteSpace, path: Path) -> Iterator[Finding]:
    if isinstance(outcome, str):
        if outcome not in where.names:
            yield Finding(path, f"no state '{outcome}'", suggest(outcome, where.names))
        return
    for successor, chance in outcome.items():
        if successor not in where.names:
            yield Finding((*path, successor), f"no state '{successor}'", suggest(successor, where.names), key=True)
        if chance < 0:
            yield Finding((*path, successor), f"{chance:.12g} is no probability")
    total = math.fsum(outcome.values())
    if abs(total - 1) > TOLERANCE:
        yield Finding(path, f"sums to {total:.12g}, not 1")


def kernel_from_rows(rows: np.ndarray, where: FiniteSpace) -> Kernel:
    """The kernel of a table [S, A, S] from elsewhere; the first row that is no distribution is named."""
    table = np.asarray(rows, np.float64)
    if table.ndim != 3 or table.shape[0] != table.shape[2]:
        raise StageError(f"transitions have shape {list(table.shape)}; expected [states, actions, states]")
    expected = [where.size, len(where.actions), where.size]
    if list(table.shape) != expected:
        raise StageError(f"transitions have shape {list(table.shape)}; expected {expected}")
    totals = table.sum(axis=-1)
    bad = ~(np.isfinite(table).all(axis=-1) & (table >= 0).all(axis=-1) & (np.abs(totals - 1) <= TOLERANCE))
    if bad.any():
        state, action = (int(part) for part in np.argwhere(bad)[0])
        raise StageError(_bad_row(table, state, action, where))
    return Kernel.dense(table)


def _bad_row(table: np.ndarray, state: int, action: int, where: FiniteSpace) -> str:
    row = table[state, action]
    place = f"{where.names[state]}.{where.actions[action]}"
    if not np.isfinite(row).all():
        return f"transitions.{place}: {row[~np.isfinite(row)][0]} is no probability"
    if (row < 0).any():
        return f"transitions.{place}: {row[row < 0][0]:.12g} is no probability"
    return f"transitions.{place}: sums to {row.sum():.12g}, not 1"


def of_rows(options: Options, rows: np.ndarray) -> FiniteWorld:
    """The world of a table [S, A, S]: for a kernel that is in a file, whoever has read it."""
    where = space(options)
    return FiniteWorld(where, kernel_from_rows(rows, where), reset_distribution(options.reset, where), options.horizon)


def max_successors(options: Options, where: FiniteSpace) -> int | None:
    """The most successors in the rows that are written out; those of a file are not looked at."""
    if options.transitions is None:
        return None
    rows = [outcome for row in options.transitions.values() for outcome in row.values()]
    return max(1 if isinstance(outcome, str) else sum(chance != 0 for chance in outcome.values()) for outcome in rows)


@mdps.register(
    "tabular",
    Options,
    WorldTraits(space=space, sort="finite", of_rows=of_rows, max_successors=max_successors),
    check=check,
)
def tabular(options: Options, seed: int) -> FiniteWorld:
    """A finite world written out, state by state and action by action."""
    where = space(options)
    table = np.zeros((where.size, len(where.actions), where.size))
    for state, row in (options.transitions or {}).items():
        for action, outcome in row.items():
            chances = {outcome: 1.0} if isinstance(outcome, str) else outcome
            columns = [where.index(successor) for successor in chances]
            table[where.index(state), where.action(action), columns] = list(chances.values())
    return of_rows(options, table)
