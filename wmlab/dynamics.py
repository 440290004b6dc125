"""What actions do in a continuous world, or in a model of one: a pure function beside the arrays that it reads.

The function is part of a program, the arrays are its arguments: two models of the same make share one compiled
program. Chance is explicit: a stochastic function reads standard normal numbers.

Shapes: N states, d variables, m numbers of noise, K nodes.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

Model = Callable[[Array, Array], Array]  # states [N, d], actions int32 [N] -> next states [N, d]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Dynamics:
    """Next states from states, actions and noise."""

    params: Any  # arrays that the function reads
    step_fn: Callable[[Any, Array, Array, Array], Array] = dataclasses.field(metadata={"static": True})
    noise: int = dataclasses.field(default=0, metadata={"static": True})  # m; 0 is deterministic

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


@dataclass(frozen=True)
class Plain:
    """A function without parameters of its own, in the form that `Dynamics` calls."""

    model: Model

    def __call__(self, params: Any, states: Array, actions: Array, noise: Array) -> Array:
        return self.model(states, actions)


def quadrature(noise: int, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss–Hermite nodes [K, m] and weights [K] of m independent standard normals, `points` for each."""
    if noise == 0:
        return np.zeros((1, 0), np.float32), np.ones(1, np.float32)
    nodes, weights = np.polynomial.hermite_e.hermegauss(points)
    weights = weights / weights.sum()
    rows = np.array(list(itertools.product(nodes, repeat=noise)))
    chances = np.array(list(itertools.product(weights, repeat=noise))).prod(axis=-1)
    return rows.astype(np.float32), chances.astype(np.float32)


def every_outcome(dynamics: Dynamics, states: Array, actions: Array, nodes: Array) -> Array:
    """Next states [K, N, d] at each node of noise [K, m]."""

    def at(node: Array) -> Array:
        return dynamics.step(states, actions, jnp.broadcast_to(node, (states.shape[0], node.shape[0])))

    return jax.vmap(at)(nodes) if nodes.shape[0] > 1 else at(nodes[0])[None]
