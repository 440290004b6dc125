"""A ring of states, and a reward that falls off along it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.goals import Rewards, at_states
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import Finding, RewardTraits, Scope, WorldTraits, mdps, option, rewards
from wmlab_ring.geometry import successors


@dataclass(frozen=True)
class Ring:
    size: int = option(doc="How many states.", at_least=3, at_most=1_000)
    stride: int = option(1, doc="How far a step leads.", at_least=1)


def check(options: Ring, scope: Scope) -> Iterator[Finding]:
    if options.stride >= options.size:
        yield Finding(("stride",), f"{options.stride} steps go round a ring of {options.size}", "say less than size")


def space(options: Ring) -> FiniteSpace:
    return FiniteSpace.named(options.size, ("left", "right"))


@mdps.register(
    "ring", Ring, WorldTraits(space=space, sort="finite", max_successors=lambda options, space: 1), check=check
)
def ring(options: Ring, seed: int) -> FiniteWorld:
    """States in a circle, with a step to the left and one to the right."""
    where = space(options)
    kernel = Kernel.deterministic(successors(options.size, options.stride))
    return FiniteWorld(where, kernel, np.full(where.size, 1 / where.size))


@dataclass(frozen=True)
class Slope:
    height: float = option(1.0, doc="What the goal itself pays.", above=0)


@rewards.register("slope", Slope, RewardTraits(at="needed", says="paid along a slope"))
def slope(options: Slope, space: FiniteSpace, at: np.ndarray, seed: int) -> Rewards:
    """What falls off with the distance along the states."""
    centres = np.asarray(at)
    distance = np.abs(centres[:, None] - np.arange(space.size))
    values = options.height * (1.0 - np.minimum(distance, space.size - distance) / space.size)
    return Rewards(values, centres, at_states(space, centres))
