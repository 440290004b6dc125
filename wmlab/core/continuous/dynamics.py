"""What actions do in a continuous world, or in a model of one: a pure function beside the arrays that it reads.

The function is part of a program, the arrays are its arguments: two models of the same make share one compiled
program. Chance is explicit: a stochastic function reads standard normal numbers, and makes of them what it needs.

Shapes: N states, d variables, m numbers of noise, K nodes.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

Model = Callable[[Array, Array], Array]  # states [N, d], actions int32 [N] -> next states [N, d]


@dataclass(frozen=True)
class Chance:
    """What a function makes of one standard normal number: that tells where to look at it, and with which weight."""

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


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Dynamics:
    """Next states from states, actions and noise."""

    params: Any  # arrays that the function reads
    step_fn: Callable[[Any, Array, Array, Array], Array] = dataclasses.field(metadata={"static": True})
    noise: int = dataclasses.field(default=0, metadata={"static": True})  # m; 0 is deterministic
    chances: tuple[Chance, ...] = dataclasses.field(default=(), metadata={"static": True})  # [m]; none: all normal

    @classmethod
    def of(cls, model: Model) -> Dynamics:
        """A deterministic model that is given as a plain function."""
        return cls((), Plain(model))

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        """Next states [N, d] of states [N, d], actions int32 [N] and standard normal noise [N, m]."""
        return self.step_fn(self.params, states, actions, noise)

    def draw(self, key: Array, states: Array, actions: Array) -> Array:
        """Next states [N, d], drawn."""
        return self.step(states, actions, jax.random.normal(key, (states.shape[0], self.noise)))

    def quadrature(self, points: int) -> tuple[np.ndarray, np.ndarray]:
        """Nodes [K, m] of noise and their weights [K], `points` for each number that is not one of a few branches."""
        chances = self.chances or (Chance(),) * self.noise
        return quadrature(chances, points)


@dataclass(frozen=True)
class Plain:
    """A function without parameters of its own, in the form that `Dynamics` calls."""

    model: Model

    def __call__(self, params: Any, states: Array, actions: Array, noise: Array) -> Array:
        return self.model(states, actions)


def quadrature(chances: Sequence[Chance], points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes [K, m] and weights [K] of m independent numbers."""
    if not chances:
        return np.zeros((1, 0), np.float32), np.ones(1, np.float32)
    nodes, weights = zip(*(chance.nodes(points) for chance in chances), strict=True)
    rows = np.array(list(itertools.product(*nodes)))
    products = np.array(list(itertools.product(*weights))).prod(axis=-1)
    return rows.astype(np.float32), products.astype(np.float32)


def every_outcome(dynamics: Dynamics, states: Array, actions: Array, nodes: Array) -> Array:
    """Next states [K, N, d] at each node of noise [K, m]."""

    def at(node: Array) -> Array:
        return dynamics.step(states, actions, jnp.broadcast_to(node, (states.shape[0], node.shape[0])))

    return jax.vmap(at)(nodes) if nodes.shape[0] > 1 else at(nodes[0])[None]
