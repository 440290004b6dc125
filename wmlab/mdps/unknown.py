"""A world whose states and actions are known, and not what the actions do: for audits of agents from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import STATE_SCHEMA, check_names, check_reset, reset_distribution
from wmlab.errors import StageError
from wmlab.limits import STATES, grouped
from wmlab.mdps.dynamics.check import check_declared
from wmlab.mdps.dynamics.finite import reset_distribution as starts_of_variables
from wmlab.mdps.dynamics.options import BETWEEN, COMPONENT, EXPRESSIONS, StateVariable, sort_of_variables
from wmlab.mdps.dynamics.options import Options as Dynamics
from wmlab.mdps.dynamics.space import continuous_space, ends_of, finite_space
from wmlab.registry import Finding, Scope, WorldTraits, by_type, mdps, option
from wmlab.registry.options import NUMBER

TEXTS = {"items": {"type": "string"}, "minItems": 1}
CELL = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}


@dataclass(frozen=True)
class Cells:
    """The cells of a map, in row-major order."""

    grid: tuple[int, ...] = option(
        doc="Rows and columns.",
        schema={"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2},
    )
    walls: tuple[tuple[int, ...], ...] = option(
        (), doc="Cells that are no states: [row, column] each.", schema={"type": "array", "items": CELL}
    )


@dataclass(frozen=True)
class Options:
    actions: tuple[str, ...] | int | dict[str, Any] = option(
        doc="The names of the actions, or how many (a0, a1, …); with `state` also component: values, as a product,"
        " or component: {range: [low, high]}.",
        schema=by_type(
            array=TEXTS,
            integer={"minimum": 1, "maximum": 1_000},
            object={"minProperties": 1, "additionalProperties": COMPONENT},
        ),
        whole=True,
        example=["up", "right", "down", "left"],
    )
    states: tuple[str, ...] | int | Cells | None = option(
        None,
        doc="Of a finite world: the names of the states, how many (s0, s1, …), or {grid: [rows, columns]}.",
        at_least=1,
        at_most=10_000,
        whole=True,
        example={"grid": [6, 8]},
    )
    state: dict[str, StateVariable] | None = option(
        None, doc="In place of states: variable: its range and what happens at its ends, or its whole numbers."
    )
    derived: dict[str, Any] = option(
        {}, doc="Name: an expression of the state; goals and networks may name it like a variable.", schema=EXPRESSIONS
    )
    reset: Any = option(
        "uniform",
        doc="Where plans start: uniform; a state or a list of them; or for each variable a value or {uniform: [low, "
        "high]}.",
        schema=by_type(
            string={},
            integer={},
            array={"items": STATE_SCHEMA},
            object={"additionalProperties": by_type(number=NUMBER, string=NUMBER, object=BETWEEN)},
        ),
        whole=True,
    )


def variables(options: Options) -> Dynamics:
    """The same variables and actions as those of a world written out, in which nothing moves."""
    actions = options.actions
    if not isinstance(actions, dict):
        names = FiniteSpace.named(1, actions).actions
        actions = {name: {"action": place} for place, name in enumerate(names)}
    state = options.state or {}
    return Dynamics(
        state=state, actions=actions, next={name: name for name in state}, derived=options.derived, reset=options.reset
    )


def space(options: Options) -> FiniteSpace | ContinuousSpace:
    """The states and actions that are declared."""
    if options.state is not None:
        declared = variables(options)
        return finite_space(declared) if declared.finite else continuous_space(declared)
    actions = options.actions
    if isinstance(actions, dict):
        raise LookupError("components of actions need `state`")  # told by `check`
    if isinstance(options.states, Cells):
        return FiniteSpace.grid(free_cells(options.states), FiniteSpace.named(1, actions).actions)
    return FiniteSpace.named(options.states or 1, actions)


def free_cells(cells: Cells) -> np.ndarray:
    """Which cells of the map are states, bool [rows, columns]."""
    free = np.ones(cells.grid, bool)
    for row, column in cells.walls:
        free[row, column] = False
    return free


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    if (options.states is None) == (options.state is None):
        hint = "states for names or {grid: [rows, columns]}, state for variables with ranges"
        yield Finding((), "say one of states and state", hint)
        return
    if options.state is not None:
        if options.reset != "uniform" and not isinstance(options.reset, Mapping):
            yield Finding(("reset",), "say uniform, or a start for each variable", "as in {x: {uniform: [0, 1]}}")
            return
        declared = variables(options)
        yield from (finding for finding in check_declared(declared, scope) if finding.path[0] != "next")
        count = math.prod(high - low + 1 for low, high in ends_of(declared)) if declared.finite else 0
        if count > STATES:
            message = f"{grouped(count)} states; {grouped(STATES)} are allowed"
            yield Finding(("state",), message, "give variables fewer values")
        return
    wrong = list(_check_finite(options))
    yield from wrong
    if not wrong:
        where = space(options)
        assert isinstance(where, FiniteSpace)
        yield from check_reset(options.reset, where)


def _check_finite(options: Options) -> Iterator[Finding]:
    if isinstance(options.actions, dict):
        yield Finding(("actions",), "components of actions need `state`, a world of variables", "list their names")
    else:
        yield from check_names(options.actions, "actions")
    if options.derived:
        yield Finding(("derived",), "derived variables need `state`, a world of variables", key=True)
    if isinstance(options.reset, Mapping):
        yield Finding(("reset",), "a start for each variable needs `state`", "say uniform, a state, or a list of them")
    if not isinstance(options.states, Cells):
        yield from check_names(options.states or (), "states")
        return
    rows, columns = options.states.grid
    if rows * columns > STATES:
        yield Finding(("states", "grid"), f"{grouped(rows * columns)} cells; {grouped(STATES)} are allowed")
        return
    outside = [place for place, (row, column) in enumerate(options.states.walls) if row >= rows or column >= columns]
    for place in outside:
        row, column = options.states.walls[place]
        yield Finding(("states", "walls", place), f"cell ({row}, {column}) is off the map")
    if not outside and not free_cells(options.states).any():
        yield Finding(("states", "walls"), "every cell is a wall")


def reset(options: Options) -> np.ndarray:
    """Where plans start, in a finite world: a distribution [S]."""
    if options.state is not None:
        return starts_of_variables(variables(options))
    where = space(options)
    assert isinstance(where, FiniteSpace)
    return reset_distribution(options.reset, where)


@mdps.register(
    "unknown",
    Options,
    WorldTraits(
        space=space,
        sort=lambda options: "finite" if options.state is None else sort_of_variables(options.state),
        reset=reset,
        knows_truth=False,
        ordered=("state", "actions", "derived"),
    ),
    check=check,
)
def unknown(options: Options, seed: int) -> NoReturn:
    """Only the states and actions of a world: what the actions do is for the agent's values to say."""
    raise StageError("mdp.kind is unknown: nobody says what its actions do")
