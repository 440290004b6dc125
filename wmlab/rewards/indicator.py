"""Indicator rewards: 1 for arriving at the goal, 0 elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wmlab.core.continuous.points import Points, check_widths
from wmlab.core.finite.goals import Places, Rewards, at_states, within
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import Finding, RewardTraits, Scope, option, rewards
from wmlab.rewards.noise import RewardNoise, check_noise, draw, draws_noise, is_noisy


@dataclass(frozen=True)
class Options:
    radius: float | dict[str, float] | None = option(
        None,
        doc="States nearer than this pay, and one at exactly this distance does not; in a world of named variables, one"
        " for each of them or one for all. Null: the goal's own state only, in a finite world.",
        above=0,
    )
    noise: RewardNoise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    if isinstance(options.radius, dict) and isinstance(scope.space, FiniteSpace) and scope.space.coordinates is None:
        yield Finding(("radius",), "this world has no named variables", "say one number")
    yield from check_noise(options.noise)


def check_in_continuum(options: Options, points: Points, scope: Scope) -> Iterator[Finding]:
    """No state of a continuum is met exactly."""
    if options.radius is None:
        message = "in a continuous world an indicator needs a radius: no state is met exactly"
        yield Finding(("radius",), message)
    else:
        yield from check_widths(options.radius, points.names(scope.space), ("radius",), "radius")


@dataclass(frozen=True)
class Disc:
    """1 nearer to the goal than its width, 0 elsewhere."""

    arrives: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def reward(self, rule: Any, state: Any, values: Any, gap: Any, asked: Any, width: Any) -> tuple[Any, Any]:
        from wmlab.core.continuous.goals import is_near

        near = is_near(gap, asked, width)
        return near.astype(np.float32), near

    def bounds_within(self, width: Any, end: Any) -> tuple[tuple[float, float], tuple[float, float]]:
        if width.ndim or end.ndim:  # one for each variable
            return self.bounds, self.bounds
        return (1.0 if end <= width else 0.0, 1.0), (0.0, 1.0 if end < width else 0.0)


@rewards.register(
    "indicator",
    Options,
    RewardTraits(
        at="needed",
        points=True,
        width_option="radius",
        draws=lambda options: draws_noise(options.noise),
        in_continuum=lambda options: Disc(),
        check_in_continuum=check_in_continuum,
        says="paid on arrival",
        pays_like="indicator",
        is_noisy=is_noisy,
        # At every state, and nowhere near others: the identity.
        spans=lambda options, space, everywhere: True if everywhere and options.radius is None else None,
    ),
    check=check,
)
def indicator(options: Options, space: FiniteSpace, at: Places, seed: int) -> Rewards:
    """1 for arriving at the goal, 0 elsewhere."""
    centres = np.asarray(at)
    there = at_states(space, at) if options.radius is None else within(space, centres, options.radius)
    values = there + draw(options.noise, there.shape, seed)
    return Rewards(values, centres, there)
