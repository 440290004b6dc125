"""Noise on rewards: drawn once for each goal and state, then part of the goal.

The paper's perturbed reward, an indicator less a draw from U[0, 1], is `noise: {kind: uniform, low: -1, high: 0}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wmlab.core.randomness import generator
from wmlab.registry import Finding, option


@dataclass(frozen=True)
class RewardNoise:
    """What is added to the reward of each goal and state, drawn once."""

    kind: Literal["uniform", "normal"] = option(doc="The distribution that it is drawn from.")
    low: float | None = option(None, doc="Lowest value of a uniform draw.")
    high: float | None = option(None, doc="Highest value of a uniform draw.")
    sd: float | None = option(None, doc="Standard deviation of a normal draw, of mean 0.", at_least=0)
    seed: int | None = option(None, doc="Seed of the draws; null: each run draws its own.", at_least=0)


def check_noise(noise: RewardNoise | None) -> Iterator[Finding]:
    if noise is None:
        return
    wanted, unused = (("low", "high"), ("sd",)) if noise.kind == "uniform" else (("sd",), ("low", "high"))
    for name in wanted:
        if getattr(noise, name) is None:
            yield Finding(("noise", name), f"a {noise.kind} draw needs {' and '.join(wanted)}")
    for name in unused:
        if getattr(noise, name) is not None:
            yield Finding(("noise", name), f"a {noise.kind} draw has no {name}", f"it has {' and '.join(wanted)}")
    if noise.kind == "uniform" and noise.low is not None and noise.high is not None and noise.low >= noise.high:
        yield Finding(("noise", "high"), f"from {noise.low:g} to {noise.high:g} is empty")


def draw(noise: RewardNoise | None, shape: tuple[int, int], seed: int) -> np.ndarray:
    """What to add to a reward [G, S]. Row by row, so that the first goals' noise stays as more goals are added."""
    if noise is None:
        return np.zeros(shape)
    stream = generator(seed if noise.seed is None else noise.seed, "goal noise")
    if noise.kind == "uniform":
        assert noise.low is not None and noise.high is not None
        return stream.uniform(noise.low, noise.high, shape)
    assert noise.sd is not None
    return stream.normal(0.0, noise.sd, shape)


def draws_noise(noise: RewardNoise | None) -> bool:
    """Whether the noise comes from the run's seed."""
    return noise is not None and noise.seed is None


def is_noisy(options: Any) -> bool:
    """Whether a reward's options add noise."""
    return options.noise is not None
