"""Gaussian rewards: they fall off smoothly with the distance from the goal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.goals import Places, Rewards, at_states, squared_distances, state_labels
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.randomness import generator
from wmlab.registry import Finding, Scope, option, rewards
from wmlab.rewards.noise import Noise, check_noise, draw, draws_noise


@dataclass(frozen=True)
class Options:
    sigma: float | dict[str, float] = option(
        doc="Width: exp(-distance² / 2 sigma²) is paid; in a world of named variables, one for each of them."
    )
    jitter: float = option(
        0.0, doc="How far each goal is moved off its place along each axis at most, by the run's seed.", at_least=0
    )
    noise: Noise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    named = options.sigma if isinstance(options.sigma, dict) else {}
    for name, width in named.items():
        if width <= 0:
            yield Finding(("sigma", name), f"{width:g} is no width; it must be above 0")
    if not isinstance(options.sigma, dict) and options.sigma <= 0:
        yield Finding(("sigma",), f"{options.sigma:g} is no width; it must be above 0")
    if isinstance(options.sigma, dict) and isinstance(scope.space, FiniteSpace) and scope.space.coordinates is None:
        yield Finding(("sigma",), "this world has no named variables", "say one number")
    yield from check_noise(options.noise)


@rewards.register(
    "gaussian",
    Options,
    check=check,
    at="needed",
    points=True,
    labels=state_labels,
    draws=lambda options: options.jitter > 0 or draws_noise(options.noise),
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
    return Rewards(values, centres, at_states(space, at), state_labels(options, space, at))
