"""Worlds that an agent can act in: what finite and continuous ones have in common.

Nothing here has a batch axis; callers `vmap`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from jax import Array

from wmlab.core.programs import pytree, static

State = Any  # a pytree of arrays: an int32 scalar in a finite world, float32 [d] in a continuous one

NEVER = 2**31 - 1  # the horizon of a world that cuts no episode short


@pytree
class Simulator(ABC):
    """A world to act in. Final classes are pytrees: `@pytree class MyWorld(Simulator)`."""

    width: int = static()  # inputs of a network that reads an encoded state
    actions: int = static()  # A
    horizon: int = static()  # steps after which an episode is cut short
    states: int = static()  # S of a finite world, whose states are 0 … S - 1; 0 for a continuous one
    places: int = static()  # bins in which visits are counted; 0 counts none

    @abstractmethod
    def reset(self, key: Array) -> State:
        """A state where an evaluation starts."""

    @abstractmethod
    def start(self, key: Array) -> State:
        """A state where a training episode starts."""

    @abstractmethod
    def step(self, key: Array, state: State, action: Array) -> State:
        """The state that follows a state and an action, int32 []; it may be drawn."""

    @abstractmethod
    def encode(self, state: State) -> Array:
        """A state as networks read it: float32 [width], or an int32 index below `width`: the one-hot of that index."""

    @abstractmethod
    def place(self, state: State) -> Array:
        """The bin in which a visit of a state is counted, int32 below `places`."""
