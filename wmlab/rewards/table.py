"""Rewards written out: for each goal, what each state pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.core.finite.goals import Rewards, at_states
from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import suggest
from wmlab.registry import Finding, RewardTraits, Scope, option, rewards
from wmlab.registry.options import NUMBER
from wmlab.rewards.noise import RewardNoise, check_noise, draw, draws_noise, is_noisy


@dataclass(frozen=True)
class Options:
    of: dict[str, Any] = option(
        doc="goal: {state: reward}, states left out paying 0 and a region's name meaning all its cells, or goal: "
        "[reward, …] in the order of the states. "
        "A goal that bears a state's name is at that state.",
        schema={
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": ["object", "array"], "additionalProperties": NUMBER, "items": NUMBER},
        },
        whole=True,
    )
    noise: RewardNoise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    yield from check_noise(options.noise)
    if not options.of:
        yield Finding(("of",), "no goal at all")
    if not isinstance(scope.space, FiniteSpace):
        return
    space = scope.space
    for goal, row in options.of.items():
        if isinstance(row, dict):
            for state in row:
                if state not in space.names and state not in space.regions:
                    hint = suggest(state, (*space.regions, *space.names))
                    yield Finding(("of", goal, state), f"no state '{state}'", hint, key=True)
        elif len(row) != space.size:
            yield Finding(("of", goal), f"{len(row)} rewards for {space.size} states")


def values_of(options: Options, space: FiniteSpace) -> np.ndarray:
    """The rewards as they are written, [G, S]."""
    values = np.zeros((len(options.of), space.size))
    for position, row in enumerate(options.of.values()):
        if isinstance(row, dict):
            for state, reward in row.items():
                values[position, space.states(state)] = reward
        else:
            values[position] = row
    return values


@rewards.register(
    "table",
    Options,
    RewardTraits(
        at="none",
        own_goals=lambda options: tuple(options.of),
        draws=lambda options: draws_noise(options.noise),
        says="with rewards from a table",
        is_noisy=is_noisy,
        spans=lambda options, space, _: bool(np.linalg.matrix_rank(values_of(options, space)) == space.size),
    ),
    check=check,
)
def table(options: Options, space: FiniteSpace, at: Sequence[int] | None, seed: int) -> Rewards:
    """What each state pays, written out for each goal."""
    values = values_of(options, space)
    places = {name: position for position, name in enumerate(space.names)}
    centres = np.array([places.get(name, -1) for name in options.of])
    return Rewards(values + draw(options.noise, values.shape, seed), centres, at_states(space, centres))
