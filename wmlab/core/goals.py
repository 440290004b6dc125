"""Goals that an agent is paid for: what those of finite and continuous worlds have in common.

Shapes: G goals. Nothing here has a batch axis; callers `vmap`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import jax.numpy as jnp
from jax import Array

from wmlab.core.programs import pytree, static

NO_FEATURES = "these goals do not say which goal a state achieves"

Features = Any  # what describes a goal: an int32 index (one-hot, taken as a row of weights) or a float32 vector


@pytree
class GoalSet(ABC):
    """What each goal pays for arriving in a state, and whether the episode goes on from there."""

    features: Features  # [G, ...]: a description of each goal
    ending: Array  # [2]: least and greatest reward of an arrival that ends the episode; inf, -inf where none does
    lasting: Array  # [2]: the same of arrivals after which it goes on
    count: int = static()  # G
    width: int = static()  # inputs of a network that reads an encoded goal; 0: goals have no features

    @abstractmethod
    def arrive(self, state: Any) -> tuple[Array, Array]:
        """Rewards [G] of arriving in a state, and continue flags [G]."""

    @abstractmethod
    def reward_of(self, state: Any, features: Features) -> tuple[Array, Array]:
        """Reward [] and continue flag [] of arriving in a state, for one goal given by its features."""

    @abstractmethod
    def achieved(self, state: Any) -> Features:
        """The features of the goal that a state reaches; ValueError where goals have none."""

    @abstractmethod
    def encode(self, features: Features) -> Array:
        """A goal's features as networks read them: float32 [width], or an int32 index below `width`."""

    def value_range(self, discount: float) -> Array:
        """[2]: no value lies outside, whatever the world does. Staying pays r / (1 - γ), and an end pays once."""
        lasting = self.lasting / (1 - discount)
        low, high = jnp.minimum(lasting[0], self.ending[0]), jnp.maximum(lasting[1], self.ending[1])
        return jnp.stack([low, high]).astype(jnp.float32)
