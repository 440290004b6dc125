"""What can be wrong with a continuous world whose expressions are sound: values that are not there in some state.

Shapes: n states that are tried, A actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.continuous.space import ContinuousSpace, place, probes, settled
from wmlab.expressions.findings import NO_VALUE
from wmlab.mdps.dynamics.options import NoiseTerm, Options
from wmlab.mdps.dynamics.space import continuous_space
from wmlab.mdps.dynamics.step import WrittenStep
from wmlab.registry import Finding

MOST = 200_000  # states times actions
FEWEST = 64  # states, however many actions there are


def check_continuous(options: Options) -> Iterator[Finding]:
    """Derived variables and steps that have no value somewhere in the ranges."""
    space = continuous_space(options)
    states = probes(space)[: max(FEWEST, MOST // len(space.actions))]
    with np.errstate(all="ignore"):  # where(…) may try what it does not take; what is left is looked at
        wrong = [*_check_derived(options, space, states), *_check_steps(options, space, states)]
    yield from wrong


def _check_derived(options: Options, space: ContinuousSpace, states: np.ndarray) -> Iterator[Finding]:
    values = space.named(states)
    for name in options.derived:
        missing = np.flatnonzero(~np.isfinite(values[name]))
        if len(missing):
            yield Finding(("derived", name), f"has no value at {place(space, states[missing[0]])}", NO_VALUE)


def _check_steps(options: Options, space: ContinuousSpace, states: np.ndarray) -> Iterator[Finding]:
    """The first variable without a value; those that wait for it would have none either."""
    written = WrittenStep.of(options)
    for draws in _draws(options.noise):
        values = next_values(written, space, states, draws)
        for name, _ in written.next:
            missing = np.argwhere(~np.isfinite(values[expressions.next_name(name)]))
            if len(missing):
                action, state = missing[0]
                where = f"after {space.actions[action]} at {place(space, states[state])}"
                chance = ", ".join(f"{noise} = {drawn:g}" for noise, drawn in draws.items())
                message = f"{name} has no value {where}" + (f" with {chance}" if chance else "")
                yield Finding(("next", name), message, NO_VALUE)
                return


def next_values(
    written: WrittenStep, space: ContinuousSpace, states: np.ndarray, draws: Mapping[str, float | np.ndarray]
) -> dict[str, Any]:
    """Next(v) of each variable [A, n], behind its edge; noise is one number each, or one for each state [n]."""
    controls = np.array(space.control_values, np.float32).reshape(len(space.actions), -1, 1)  # [A, k, 1]
    env: dict[str, Any] = {name: states[:, i] for i, name in enumerate(space.names)} | dict(draws)
    env |= {name: controls[:, i] for i, name in enumerate(space.controls)}

    def settle(name: str, value: Any) -> np.ndarray:
        inside = settled(space.variables[space.names.index(name)], np.asarray(value, np.float32))
        return np.broadcast_to(inside, (len(space.actions), len(states)))

    written.run(np, env, settle)
    return env


def _draws(noise: dict[str, NoiseTerm]) -> list[dict[str, float]]:
    """Values of each noise term: all of its branches, or the middle and what lies far out."""
    values = {name: _remarkable(each) for name, each in noise.items()}
    rounds = max(map(len, values.values()), default=1)
    return [{name: row[position % len(row)] for name, row in values.items()} for position in range(rounds)]


def _remarkable(noise: NoiseTerm) -> tuple[float, ...]:
    if noise.kind == "categorical":
        return noise.values or (0.0,)
    if noise.kind == "uniform":
        low, high = noise.low or 0.0, noise.high or 0.0
        return ((low + high) / 2, low, high)
    mean, sd = noise.mean or 0.0, noise.sd or 0.0
    return (mean, mean - 3 * sd, mean + 3 * sd)
