"""What actions do in a continuous world, or in a model of one.

Chance is explicit: stochastic dynamics read standard normal numbers, and make of them what they need.

Shapes: N states, d variables, m numbers of noise, K nodes, A actions, k components of an action from a box.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.programs import pytree


@dataclass(frozen=True)
class Chance:
    """What dynamics make of one standard normal number: that tells where to look at it, and with which weight."""

    kind: Literal["normal", "uniform", "branches"] = "normal"
    probabilities: tuple[float, ...] = ()  # of branches, which share the normal's range from low to high

    def nodes(self, points: int) -> tuple[np.ndarray, np.ndarray]:
        """Normal numbers [K] and their weights [K]: Gaussian quadrature, and for branches each of them once."""
        if self.kind == "branches":
            ends = np.cumsum(self.probabilities)
            kept = np.asarray(self.probabilities) > 0
            middles = (ends - np.asarray(self.probabilities) / 2)[kept]
            return np.array([quantile(middle) for middle in middles]), np.asarray(self.probabilities)[kept]
        if self.kind == "uniform":
            places, weights = np.polynomial.legendre.leggauss(points)
            return np.array([quantile((1 + place) / 2) for place in places]), weights / weights.sum()
        places, weights = np.polynomial.hermite_e.hermegauss(points)
        return places, weights / weights.sum()


def quantile(chance: float) -> float:
    """The standard normal number below which this much of the chance lies."""
    if not 0 < chance < 1:
        return -math.inf if chance <= 0 else math.inf
    return NormalDist().inv_cdf(chance)


@pytree
class Dynamics(ABC):
    """Next states from states, actions and noise. Final classes are pytrees: `@pytree class MyModel(Dynamics)`."""

    @property
    @abstractmethod
    def chances(self) -> tuple[Chance, ...]:
        """What is made of each number of noise [m]; none where the next state is certain."""

    @abstractmethod
    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        """Next states [N, d] of states [N, d], actions and standard normal noise [N, m].

        Actions are int32 [N], one of a list each; where they are from a box, their components float32 [N, k].
        """

    @property
    def noise(self) -> int:
        """m"""
        return len(self.chances)

    def draw(self, key: Array, states: Array, actions: Array) -> Array:
        """Next states [N, d] of states [N, d] and actions, drawn."""
        return self.step(states, actions, jax.random.normal(key, (states.shape[0], self.noise)))

    def quadrature(self, points: int) -> tuple[np.ndarray, np.ndarray]:
        """Nodes [K, m] of noise and their weights [K], `points` for each number that is not one of a few branches."""
        if not self.chances:
            return np.zeros((1, 0), np.float32), np.ones(1, np.float32)
        nodes, weights = zip(*(chance.nodes(points) for chance in self.chances), strict=True)
        rows = np.array(list(itertools.product(*nodes)))
        products = np.array(list(itertools.product(*weights))).prod(axis=-1)
        return rows.astype(np.float32), products.astype(np.float32)


@pytree
class Listed(Dynamics):
    """Dynamics under a list of actions from a box: number i has the components `controls[i]`."""

    dynamics: Dynamics
    controls: Array  # float32 [A, k]

    @property
    def chances(self) -> tuple[Chance, ...]:
        return self.dynamics.chances

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        return self.dynamics.step(states, self.controls[actions], noise)


def every_outcome(dynamics: Dynamics, states: Array, actions: Array, nodes: Array) -> Array:
    """Next states [K, N, d] at each node of noise [K, m]."""

    def at(node: Array) -> Array:
        return dynamics.step(states, actions, jnp.broadcast_to(node, (states.shape[0], node.shape[0])))

    return jax.vmap(at)(nodes) if nodes.shape[0] > 1 else at(nodes[0])[None]


@dataclass(frozen=True, eq=False)
class ContinuousWorld:
    """A world of named variables. Episodes start anywhere in the box `space.starts`."""

    space: ContinuousSpace
    dynamics: Dynamics
    horizon: int | None = None  # steps until an episode is cut; None: never
