"""Several models of one world, and what they say together.

Shapes: K members, N states, d variables, m numbers of noise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.dynamics import Chance, Dynamics, Listed
from wmlab.core.continuous.view import Frame
from wmlab.core.programs import pytree, static


@pytree
class Ensemble(Dynamics):
    """Models of one form that differ in their arrays. What they predict is the mean of their moves.

    Moves of periodic variables are taken the short way round before they are averaged: a mean of angles themselves
    would lie across the circle from two that are on either side of its seam. Where members are stochastic they share
    the noise, so that its spread is the mean of theirs, and how far they are apart is no part of it.
    """

    members: Dynamics  # every array of it has an axis of members [K, …] in front
    frame: Frame
    actions: int = static()  # A

    @property
    def chances(self) -> tuple[Chance, ...]:
        return self.members.chances

    @property
    def stochastic(self) -> bool:
        return bool(self.chances)

    @property
    def size(self) -> int:
        """K"""
        return int(jax.tree.leaves(self.members)[0].shape[0])

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        moves = self.frame.difference(self.steps_apart(states, actions, noise), states)
        return self.frame.wrap(states + moves.mean(axis=0))

    def steps_apart(self, states: Array, actions: Array, noise: Array) -> Array:
        """What each member makes of states [N, d], actions int32 [N] and noise [N, m]: [K, N, d]."""
        return jax.vmap(lambda member: member.step(states, actions, noise))(self.members)

    def predict(self, states: Array, actions: Array) -> Array:
        """The mean next states [N, d] of states [N, d] and actions int [N]."""
        return self.step(states, actions, jnp.zeros((states.shape[0], self.noise)))

    def sample(self, key: Array, states: Array, actions: Array) -> Array:
        """Next states [N, d], drawn where members are stochastic."""
        return self.draw(key, states, actions)


def joined(models: Sequence[Dynamics], frame: Frame, actions: int) -> Ensemble:
    """An ensemble of models of one form; those that are ensembles themselves bring their members."""

    def members(model: Dynamics) -> Dynamics:
        return model.members if isinstance(model, Ensemble) else jax.tree.map(lambda leaf: leaf[None], model)

    together = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *map(members, models))
    return Ensemble(together, frame, actions)


def listed(dynamics: Dynamics, controls: Array) -> Dynamics:
    """Dynamics of actions from a box, under a list of them [A, k]; an ensemble stays one."""
    if isinstance(dynamics, Ensemble):
        shared = jnp.broadcast_to(controls, (dynamics.size, *controls.shape))
        return dataclasses.replace(dynamics, members=Listed(dynamics.members, shared), actions=len(controls))
    return Listed(dynamics, controls)
