"""A finite world: its space, its kernel, where episodes start and how long they last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import Finding, by_type
from wmlab.registry.kinds import Path


@dataclass(frozen=True, eq=False)
class FiniteWorld:
    """A world with finitely many states."""

    space: FiniteSpace
    kernel: Kernel
    reset: np.ndarray  # [S] distribution of an episode's first state
    horizon: int | None = None  # steps until an episode is cut; None: never


STATE_SCHEMA = by_type(string={}, integer={}, array={"items": {"type": "integer"}})
STATES_SCHEMA = by_type(string={}, integer={}, array={"items": STATE_SCHEMA})
RESET_SCHEMA: dict[str, Any] = {**STATES_SCHEMA, "examples": ["uniform", [1, 1], [[1, 1], [1, 2]]]}


def as_states(value: Any, path: Path) -> list[tuple[Path, Any]]:
    """One state (a name, a position, a cell) or a list of them, each with the path at which it was said."""
    if not isinstance(value, (list, tuple)) or (len(value) > 0 and all(_is_number(part) for part in value)):
        return [(path, value)]
    return [((*path, position), state) for position, state in enumerate(value)]


def check_states(value: Any, space: FiniteSpace, path: Path) -> Iterator[Finding]:
    """What is wrong with one state or a list of them."""
    states = as_states(value, path)
    if not states:
        yield Finding(path, "no state at all")
    for place, state in states:
        yield from lookup_findings(space.states, state, place)


def lookup_findings(look_up: Callable[[Any], Any], what: Any, path: Path, key: bool = False) -> Iterator[Finding]:
    """That a state or an action is not there, in the words of the space that was asked for it."""
    try:
        look_up(what)
    except LookupError as error:
        yield Finding(path, str(error.args[0]), key=key)


def check_reset(reset: Any, space: FiniteSpace) -> Iterator[Finding]:
    if reset != "uniform":
        yield from check_states(reset, space, ("reset",))


def reset_distribution(reset: Any, space: FiniteSpace) -> np.ndarray:
    """Uniform over all states, or over the states that are listed."""
    if reset == "uniform":
        return np.full(space.size, 1.0 / space.size)
    states = sorted({state for _, each in as_states(reset, ()) for state in space.states(each)})
    distribution = np.zeros(space.size)
    distribution[states] = 1.0 / len(states)
    return distribution


def check_names(names: Sequence[str] | int, option: str) -> Iterator[Finding]:
    """What is wrong with a list of names."""
    if isinstance(names, int):
        return
    for position, name in enumerate(names):
        if name in names[:position]:
            yield Finding((option, position), f"'{name}' is listed twice")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
