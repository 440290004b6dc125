"""Extracted models as dynamics: to be stepped, planned in and compared like a world.

Shapes: N states, d variables.
"""

from __future__ import annotations

from jax import Array

from wmlab.core.continuous.dynamics import Dynamics
from wmlab.extraction.continuous.models import NeuralModel
from wmlab.extraction.continuous.residual import WorldModel


def dynamics_of(model: WorldModel) -> Dynamics:
    """A model that can be stepped; two models of the same make share one compiled program."""
    return Dynamics(model, _step, model.frame.size if model.stochastic else 0)


def _step(model: WorldModel, states: Array, actions: Array, noise: Array) -> Array:
    """Next states [N, d] of states [N, d], actions [N] and standard normal noise [N, d] or [N, 0]."""
    if not isinstance(model, NeuralModel) or not model.stochastic:
        return model.predict(states, actions)
    mean, sd = model.moments(states, actions)
    assert sd is not None
    return model.settle(mean + sd * noise)
