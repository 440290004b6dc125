"""Indicator rewards: one number for arriving at the goal, another elsewhere; 1 and 0 unless the spec says otherwise."""

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
    there: float = option(1.0, doc="What arriving at the goal pays.")
    elsewhere: float = option(
        0.0, doc="What arriving anywhere else pays: -1, with `there: 0`, where a library counts steps to the goal."
    )
    noise: RewardNoise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    if isinstance(options.radius, dict) and isinstance(scope.space, FiniteSpace) and scope.space.coordinates is None:
        yield Finding(("radius",), "this world has no named variables", "say one number")
    if options.there == options.elsewhere:
        message = f"arriving at the goal pays {options.there:g}, as everything else does"
        yield Finding(("elsewhere",), message, "say another number")
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
    """One number nearer to the goal than its width, another elsewhere."""

    there: float = 1.0
    elsewhere: float = 0.0
    arrives: ClassVar[bool] = True

    @property
    def bounds(self) -> tuple[float, float]:
        return min(self.there, self.elsewhere), max(self.there, self.elsewhere)

    def reward(self, rule: Any, state: Any, values: Any, gap: Any, asked: Any, width: Any) -> tuple[Any, Any]:
        from wmlab.core.continuous.goals import is_near

        near = is_near(gap, asked, width)
        if (self.there, self.elsewhere) == (1.0, 0.0):
            return near.astype(np.float32), near
        return near * np.float32(self.there) + ~near * np.float32(self.elsewhere), near

    def bounds_within(self, width: Any, end: Any) -> tuple[tuple[float, float], tuple[float, float]]:
        there, elsewhere = (self.there, self.there), (self.elsewhere, self.elsewhere)
        if width is end:
            return there, elsewhere
        if width.ndim or end.ndim:  # one for each variable
            return self.bounds, self.bounds
        return there if end <= width else self.bounds, self.bounds if end < width else elsewhere


def spans(options: Options, space: FiniteSpace, everywhere: bool) -> bool | None:
    """At every state, and nowhere near others, rewards are a multiple of the identity, and a number all over."""
    if not everywhere or options.radius is not None:
        return None
    gap = options.there - options.elsewhere
    return bool(gap + space.size * options.elsewhere != 0)


@rewards.register(
    "indicator",
    Options,
    RewardTraits(
        at="needed",
        points=True,
        width_option="radius",
        draws=lambda options: draws_noise(options.noise),
        in_continuum=lambda options: Disc(options.there, options.elsewhere),
        check_in_continuum=check_in_continuum,
        says="paid on arrival",
        pays_like="indicator",
        pays=lambda options: (options.there, options.elsewhere),
        is_noisy=is_noisy,
        spans=spans,
    ),
    check=check,
)
def indicator(options: Options, space: FiniteSpace, at: Places, seed: int) -> Rewards:
    """One number for arriving at the goal, another elsewhere: 1 and 0 by default."""
    centres = np.asarray(at)
    there = at_states(space, at) if options.radius is None else within(space, centres, options.radius)
    paid = np.where(there, options.there, options.elsewhere)
    values = paid + draw(options.noise, there.shape, seed)
    return Rewards(values, centres, there)
