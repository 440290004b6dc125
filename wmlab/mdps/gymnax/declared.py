"""What has to be said of a gymnax environment so that its state has names.

A declaration imports neither JAX nor gymnax: its functions get what they need handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wmlab.core.continuous.space import Derive, Variable


@dataclass(frozen=True)
class Control:
    """One component of an action."""

    name: str
    values: tuple[float, ...]  # what it takes unless the spec says otherwise
    low: float
    high: float
    only: bool = False  # no other values than these are possible


@dataclass(frozen=True)
class Declared:
    """A gymnax environment with a named state."""

    module: str  # where gymnax has it
    name: str  # its class there
    variables: tuple[Variable, ...]  # [d]
    starts: tuple[tuple[float, float], ...]  # [d] gymnax resets uniformly in this box
    controls: tuple[Control, ...]  # [k]
    horizon: int
    pack: Callable[[Any, Any, Any], Any]  # (gymnax module, xp, state [d]) -> gymnax's state
    unpack: Callable[[Any, Any], Any]  # (xp, gymnax's state) -> [d]
    act: Callable[[Any, Any], Any]  # (xp, controls [k]) -> gymnax's action
    derived: tuple[Variable, ...] = ()
    derive: Derive | None = None
