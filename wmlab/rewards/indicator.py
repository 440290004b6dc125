"""Indicator rewards: 1 for arriving at the goal, 0 elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.goals import Places, Rewards, at_states, state_labels, within
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import Finding, Scope, option, rewards
from wmlab.rewards.noise import Noise, check_noise, draw, draws_noise


@dataclass(frozen=True)
class Options:
    radius: float | dict[str, float] | None = option(
        None,
        doc="How near counts as there; in a world of named variables, one for each of them or one for all. Null: the"
        " goal's own state only, in a finite world.",
        at_least=0,
    )
    noise: Noise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    if isinstance(options.radius, dict) and isinstance(scope.space, FiniteSpace) and scope.space.coordinates is None:
        yield Finding(("radius",), "this world has no named variables", "say one number")
    if isinstance(options.radius, float) and options.radius < 0:
        yield Finding(("radius",), f"{options.radius:g} is no radius; it is at least 0")
    yield from check_noise(options.noise)


@rewards.register(
    "indicator",
    Options,
    check=check,
    at="needed",
    points=True,
    labels=state_labels,
    draws=lambda options: draws_noise(options.noise),
)
def indicator(options: Options, space: FiniteSpace, at: Places, seed: int) -> Rewards:
    """1 for arriving at the goal, 0 elsewhere."""
    centres = np.asarray(at)
    there = at_states(space, at) if options.radius is None else within(space, centres, options.radius)
    values = there + draw(options.noise, there.shape, seed)
    return Rewards(values, centres, there, state_labels(options, space, at))
