"""Conditions and rewards on named variables, as functions of states."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace


@functools.cache
def program(
    text: str, names: tuple[str, ...], want: expressions.Type = "boolean", goal: tuple[str, ...] = ()
) -> Callable[[Any, Mapping[str, Any]], Any]:
    """An expression of named variables as a function of an array namespace and those variables.

    `goal` are the variables v that goal(v) may look up.
    """
    return expressions.compile(text, names, want=want, allow_goal=goal)


def inside(avoid: str, space: ContinuousSpace, states: Any, xp: Any = np) -> Any:
    """Which states [..., d] satisfy a condition on their variables: bool [...]."""
    names = tuple(variable.name for variable in space.everything)
    return program(avoid, names)(xp, space.named(states, xp))


def named_values(space: FiniteSpace) -> dict[str, np.ndarray]:
    """What the states of a finite world are described by, each [S]: its variables, or row and column in a map."""
    if space.coordinates is not None:
        return {name: space.coordinates.values[:, column] for column, name in enumerate(space.coordinates.names)}
    if space.cells is not None:
        return {"row": space.cells[:, 0].astype(float), "column": space.cells[:, 1].astype(float)}
    return {}


def formula(text: str, space: FiniteSpace, centres: np.ndarray, want: expressions.Type) -> np.ndarray:
    """An expression at every state, for goals at states int [G] (-1: nowhere) or points [G, n]: [G, S].

    A point that leaves a variable open has no number there.
    """
    env, names = named_values(space), tuple(named_values(space))
    points = centres if centres.ndim == 2 else np.stack(list(env.values()), axis=-1)[centres]
    for position, name in enumerate(names[: points.shape[1]]):
        env[expressions.goal_name(name)] = points[:, position, None]
    values = program(text, names, want, names)(np, env)
    return np.broadcast_to(np.asarray(values), (len(centres), space.size))
