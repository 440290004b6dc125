"""Gaussian rewards: they fall off smoothly with the distance from the goal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wmlab.core.continuous.points import Points, check_widths
from wmlab.core.finite.goals import Places, Rewards, at_states, squared_distances
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.randomness import generator
from wmlab.registry import Finding, RewardTraits, Scope, option, rewards
from wmlab.rewards.noise import RewardNoise, check_noise, draw, draws_noise, is_noisy


@dataclass(frozen=True)
class Options:
    sigma: float | dict[str, float] = option(
        doc="Width: exp(-distance² / 2 sigma²) is paid; in a world of named variables, one for each of them."
    )
    jitter: float = option(
        0.0, doc="How far each goal is moved off its place along each axis at most, by the run's seed.", at_least=0
    )
    noise: RewardNoise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    widths = options.sigma.items() if isinstance(options.sigma, dict) else [(None, options.sigma)]
    for name, width in widths:
        if width <= 0:
            path = ("sigma",) if name is None else ("sigma", name)
            yield Finding(path, f"{width:g} is no width; it must be above 0")
    if isinstance(options.sigma, dict) and isinstance(scope.space, FiniteSpace) and scope.space.coordinates is None:
        yield Finding(("sigma",), "this world has no named variables", "say one number")
    yield from check_noise(options.noise)


def check_in_continuum(options: Options, points: Points, scope: Scope) -> Iterator[Finding]:
    """A width for each variable that the goals name, or one for all."""
    return check_widths(options.sigma, points.names(scope.space), ("sigma",), "sigma")


@dataclass(frozen=True)
class Bell:
    """A reward that falls off smoothly around the goal."""

    arrives: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def reward(self, rule: Any, state: Any, values: Any, gap: Any, asked: Any, width: Any) -> tuple[Any, Any]:
        from wmlab.core.continuous.goals import bell

        return bell(gap, asked, width), None

    def bounds_within(self, width: Any, end: Any) -> tuple[tuple[float, float], tuple[float, float]]:
        if width.ndim or end.ndim:  # one for each variable
            return self.bounds, self.bounds
        at_end = math.exp(-0.5 * float(end / width) ** 2)
        return (at_end, 1.0), (0.0, at_end)


@rewards.register(
    "gaussian",
    Options,
    RewardTraits(
        at="needed",
        points=True,
        width_option="sigma",
        draws=lambda options: options.jitter > 0 or draws_noise(options.noise),
        in_continuum=lambda options: Bell(),
        check_in_continuum=check_in_continuum,
        says="paid by nearness",
        pays_like="gaussian",
        is_noisy=is_noisy,
        is_scattered=lambda options: options.jitter > 0,
        # Gaussians at distinct points are independent.
        spans=lambda options, space, everywhere: True if everywhere else None,
    ),
    check=check,
)
def gaussian(options: Options, space: FiniteSpace, at: Places, seed: int) -> Rewards:
    """exp(-distance² / 2 sigma²) from the goal, between cells or variables, or between one-hot states."""
    centres = np.asarray(at)
    if options.jitter:
        points = centres if centres.ndim == 2 else space.embedding()[centres]
        centres = points + generator(seed, "jitter of goals").uniform(-options.jitter, options.jitter, points.shape)
    if isinstance(options.sigma, dict):
        values = np.exp(-squared_distances(space, centres, options.sigma) / 2.0)
    else:
        values = np.exp(-squared_distances(space, centres) / (2.0 * options.sigma**2))
    values = values + draw(options.noise, values.shape, seed)
    return Rewards(values, centres, at_states(space, at))
