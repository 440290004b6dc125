"""Conditions on named variables, as functions of states."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.spaces.continuous import ContinuousSpace


@functools.cache
def program(avoid: str, names: tuple[str, ...]) -> Callable[[Any, Mapping[str, Any]], Any]:
    """A condition on named variables as a function of an array namespace and those variables."""
    return expressions.compile(avoid, names, want="boolean")


def inside(avoid: str, space: ContinuousSpace, states: Any, xp: Any = np) -> Any:
    """Which states [..., d] satisfy a condition on their variables: bool [...]."""
    names = tuple(variable.name for variable in space.everything)
    return program(avoid, names)(xp, space.named(states, xp))
