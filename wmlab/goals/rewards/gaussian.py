"""Gaussian rewards: they fall off smoothly with the distance from the goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wmlab.goals.finite import Rewards, at_states, squared_distances, state_labels
from wmlab.goals.noise import Noise, check_noise, draw, draws_noise
from wmlab.registry import Finding, Scope, option, rewards
from wmlab.spaces import FiniteSpace


@dataclass(frozen=True)
class Options:
    sigma: float | dict[str, float] = option(
        doc="Width: exp(-distance² / 2 sigma²) is paid; in a world of named variables, one for each of them."
    )
    noise: Noise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    named = options.sigma if isinstance(options.sigma, dict) else {}
    for name, width in named.items():
        if width <= 0:
            yield Finding(("sigma", name), f"{width:g} is no width; it must be above 0")
    if not isinstance(options.sigma, dict) and options.sigma <= 0:
        yield Finding(("sigma",), f"{options.sigma:g} is no width; it must be above 0")
    if isinstance(options.sigma, dict) and isinstance(scope.space, FiniteSpace):
        yield Finding(("sigma",), "this world has no named variables", "say one number")
    yield from check_noise(options.noise)


@rewards.register(
    "gaussian",
    Options,
    check=check,
    at="needed",
    labels=state_labels,
    draws=lambda options: draws_noise(options.noise),
)
def gaussian(options: Options, space: FiniteSpace, at: Sequence[int], seed: int) -> Rewards:
    """exp(-distance² / 2 sigma²) from the goal, between cells, or between one-hot states where there is no map."""
    centres = np.asarray(at)
    assert not isinstance(options.sigma, dict)
    values = np.exp(-squared_distances(space, centres) / (2.0 * options.sigma**2))
    values = values + draw(options.noise, values.shape, seed)
    return Rewards(values, centres, at_states(space, at), state_labels(options, space, at))
