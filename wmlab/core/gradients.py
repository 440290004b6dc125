"""How weights follow a gradient: the one recipe behind the optimisers of agents and of models."""

from __future__ import annotations

from typing import Literal

import optax

Decay = Literal["cosine", "linear", "constant"]


def rate_schedule(rate: float, decay: Decay, steps: int) -> optax.Schedule:
    """The learning rate of each of so many steps: it falls to 0, or stays."""
    if decay == "linear":
        return optax.linear_schedule(rate, 0.0, steps)
    return optax.cosine_decay_schedule(rate, steps) if decay == "cosine" else optax.constant_schedule(rate)


def gradient_method(
    kind: Literal["adam", "radam"],
    rate: float,
    decay: Decay,
    clip: float | None,
    steps: int,
    epsilon: float = 1e-8,
) -> optax.GradientTransformation:
    """Adam or RAdam at a rate that falls to 0 over `steps`, after a clip of the global norm if there is one."""
    method = {"adam": optax.adam, "radam": optax.radam}[kind](rate_schedule(rate, decay, steps), eps=epsilon)
    return method if clip is None else optax.chain(optax.clip_by_global_norm(clip), method)
