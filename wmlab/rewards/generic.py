"""Generic rewards: every goal pays something else for every state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wmlab.core.finite.goals import Rewards, at_states
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.randomness import generator
from wmlab.registry import Finding, RewardTraits, Scope, always, option, rewards
from wmlab.rewards.noise import RewardNoise, check_noise, draw, draws_noise, is_noisy


@dataclass(frozen=True)
class Options:
    distribution: Literal["normal", "uniform"] = option("normal", doc="Standard normal, or uniform on [0, 1].")
    count: int | None = option(None, doc="How many goals, where goals.at names no states.", at_least=1)
    noise: RewardNoise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")
    seed: int | None = option(None, doc="Seed of the rewards; null: each run draws its own.", at_least=0)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    at = None if scope.goals is None else scope.goals.at
    if at is None and options.count is None:
        yield Finding(("count",), "how many goals?", "say count, or the goals' states under goals.at")
    if at is not None and options.count is not None:
        yield Finding(("count",), "goals.at says already which goals there are")
    yield from check_noise(options.noise)


@rewards.register(
    "generic",
    Options,
    RewardTraits(
        at="optional",
        own_goals=lambda options: tuple(f"g{position}" for position in range(options.count or 0)),
        draws=lambda options: options.seed is None or draws_noise(options.noise),
        says="with rewards drawn at random",
        is_generic=always,
        is_noisy=is_noisy,
    ),
    check=check,
)
def generic(options: Options, space: FiniteSpace, at: Sequence[int] | None, seed: int) -> Rewards:
    """An independent draw for every goal and state."""
    centres = np.full(options.count or 0, -1) if at is None else np.asarray(at)
    shape = (len(centres), space.size)
    stream = generator(seed if options.seed is None else options.seed, "generic rewards")
    values = stream.standard_normal(shape) if options.distribution == "normal" else stream.random(shape)
    values = values + draw(options.noise, shape, seed)
    return Rewards(values, centres, at_states(space, centres))
