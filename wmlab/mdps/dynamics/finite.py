"""Worlds of whole numbers: every state, action and outcome of chance is worked out once, into a table.

Shapes: S states, A actions, B branches of chance, d state variables, e derived ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.core.memory import gib, usable_memory
from wmlab.errors import StageError
from wmlab.expressions.findings import NO_VALUE
from wmlab.limits import STATES, grouped
from wmlab.mdps.dynamics.options import NoiseTerm, Options
from wmlab.mdps.dynamics.space import actions_of, coordinates_of, ends_of, finite_space, start_of
from wmlab.mdps.dynamics.step import WrittenStep
from wmlab.registry import Finding

TRIED = 2_000_000  # a world with no more outcomes than this is worked out when a spec is validated, too
PER_OUTCOME, PER_PAIR, PER_STATE = 72, 64, 200  # bytes, while the table is made: measured, rounded up
NEARLY_WHOLE = 1e-9  # relative: what rounding explains

Env = dict[str, Any]


class Astray(ValueError):
    """A step that ends in no state: which variable, what it would be, and where."""

    def __init__(self, variable: str, value: float, message: str):
        self.variable, self.value, self.message = variable, value, message
        super().__init__(message)


def kernel(options: Options, space: FiniteSpace) -> Kernel:
    """Where each action leads from each state, and how likely."""
    branches = _branches(options)
    step = _Step(options, space)
    shape = (space.size, len(space.actions), len(branches))
    successors = np.empty(shape, np.int32)
    for number, (draws, _) in enumerate(branches):
        successors[..., number] = step(draws)
    chances = np.array([chance for _, chance in branches])
    return Kernel.merged(successors, np.broadcast_to(chances, shape))


def outcomes_of(noise: NoiseTerm) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The values that a noise may take and their probabilities; those that never come up are left out."""
    if noise.kind == "uniform":
        assert noise.low is not None and noise.high is not None
        values = tuple(float(value) for value in range(round(noise.low), round(noise.high) + 1))
        return values, (1.0 / len(values),) * len(values)
    pairs = [pair for pair in zip(noise.values or (), noise.probabilities or (), strict=True) if pair[1] > 0]
    total = math.fsum(chance for _, chance in pairs)
    return tuple(value for value, _ in pairs), tuple(chance / total for _, chance in pairs)


def count_branches(options: Options) -> int:
    """B, without working any of them out."""
    return math.prod(
        round(noise.high) - round(noise.low) + 1
        if noise.kind == "uniform" and noise.low is not None and noise.high is not None
        else len(outcomes_of(noise)[0])
        for noise in options.noise.values()
    )


def _branches(options: Options) -> list[tuple[dict[str, float], float]]:
    """Every combination of what the noises may be, and its probability: [B]."""
    each = [list(zip(*outcomes_of(noise), strict=True)) for noise in options.noise.values()]
    return [
        (dict(zip(options.noise, (value for value, _ in pairs), strict=True)), math.prod(chance for _, chance in pairs))
        for pairs in itertools.product(*each)
    ]


class _Step:
    """The successor of every state and action at once, for given draws."""

    def __init__(self, options: Options, space: FiniteSpace):
        assert space.coordinates is not None
        self.options, self.space = options, space
        columns = space.coordinates.values[:, : space.coordinates.own]
        self.env: Env = {name: columns[:, [column]] for column, name in enumerate(options.state)}  # [S, 1]
        actions = np.array(actions_of(options)[1])  # [A, k]
        self.env |= {name: actions[None, :, column] for column, name in enumerate(options.components)}  # [1, A]
        self.written = WrittenStep.of(options)

    def __call__(self, draws: dict[str, float]) -> np.ndarray:
        """The successors' positions, int [S, A]."""
        env, shape = self.env | draws, (self.space.size, len(self.space.actions))
        with np.errstate(all="ignore"):  # where(…) may try what it does not take; what is left is looked at below
            self.written.run(np, env, partial(self.settled, draws))
        position = np.zeros(shape)
        for name, (low, high) in zip(self.options.state, ends_of(self.options), strict=True):
            position = position * (high - low + 1) + (env[expressions.next_name(name)] - low)
        return position.astype(np.int32)

    def settled(self, draws: dict[str, float], name: str, values: Any) -> np.ndarray:
        """Whole numbers inside a variable's range, as its edge says; Astray where there are none."""
        value = np.broadcast_to(np.asarray(values, float), (self.space.size, len(self.space.actions)))
        variable = self.options.state[name]
        low, high = variable.integers or (0, 0)
        whole = np.round(value)
        self.refuse(~(np.abs(value - whole) <= NEARLY_WHOLE * np.maximum(1, np.abs(whole))), name, value, draws)
        if variable.edge == "clip":
            return np.clip(whole, low, high)
        if variable.edge == "wrap":
            return (whole - low) % (high - low + 1) + low
        self.refuse((whole < low) | (whole > high), name, value, draws)
        return whole

    def refuse(self, bad: np.ndarray, name: str, value: np.ndarray, draws: dict[str, float]) -> None:
        """Name the first state and action for which something is wrong with a variable's next value."""
        if not bad.any():
            return
        state, action = (int(part) for part in np.argwhere(bad)[0])
        number, (low, high) = float(value[state, action]), self.options.state[name].integers or (0, 0)
        if not math.isfinite(number):
            what = "has no value"
        elif number != round(number):
            what = f"would be {number:.12g}, which is not a whole number,"
        else:
            what = f"would be {number:.12g}, outside [{low}, {high}],"
        place = f"after {self.space.actions[action]} in {self.space.names[state]}"
        chance = ", ".join(f"{noise} = {drawn:g}" for noise, drawn in draws.items())
        raise Astray(name, number, f"{name} {what} {place}" + (f" with {chance}" if chance else ""))


def reset_distribution(options: Options) -> np.ndarray:
    """Where episodes start [S]: each variable on its own, uniform over whole numbers or one of them."""
    chances = np.ones(1)
    for name, (low, high) in zip(options.state, ends_of(options), strict=True):
        first, last = start_of(options, name)
        values = np.arange(low, high + 1)
        inside = (values >= first) & (values <= last)
        chances = np.outer(chances, inside / inside.sum()).ravel()
    return chances


def finite_world(options: Options) -> FiniteWorld:
    """The world as a table; a step that ends in no state is an error that names it."""
    space = finite_space(options)
    try:
        return FiniteWorld(space, kernel(options, space), reset_distribution(options), options.horizon)
    except Astray as astray:
        raise StageError(f"mdp.next.{astray.variable}: {astray}") from None


def table_bytes(options: Options) -> int:
    """What a world holds while its table is made."""
    states = math.prod(high - low + 1 for low, high in ends_of(options))
    held = PER_PAIR + 8 * (len(options.state) + len(options.let))  # for each state and action, at each outcome anew
    return states * (PER_STATE + len(actions_of(options)[0]) * (held + count_branches(options) * PER_OUTCOME))


# --- what can be wrong, beyond what is wrong with any world written in a spec -----------------------------------------


def check_finite(options: Options) -> Iterator[Finding]:
    """Mistakes of a world of whole numbers whose expressions are sound: endless chance, no room, steps astray."""
    wrong = [*_check_chance(options), *_check_derived(options)]
    yield from wrong
    if wrong:
        return
    states = math.prod(high - low + 1 for low, high in ends_of(options))
    if states > STATES:
        yield Finding(
            ("state",), f"{grouped(states)} states; {grouped(STATES)} are allowed", "give variables fewer values"
        )
        return
    actions, branches = len(actions_of(options)[0]), count_branches(options)
    needed, there = table_bytes(options), usable_memory()
    if needed > there:
        shape = " x ".join(f"{count:,}".replace(",", " ") for count in (states, actions, branches))
        message = f"{shape} states, actions and outcomes of chance need {gib(needed)} GiB, and there are {gib(there)}"
        yield Finding(("state",), message, "give variables fewer values, or noise fewer outcomes")
    elif states * actions * branches <= TRIED:
        try:
            kernel(options, finite_space(options))
        except Astray as astray:
            yield Finding(("next", astray.variable), astray.message, _remedy(options, astray))


def _check_chance(options: Options) -> Iterator[Finding]:
    for name, noise in options.noise.items():
        if noise.kind == "normal":
            message = "normal noise has a continuum of values, and a world of whole numbers needs finitely many"
            yield Finding(("noise", name, "kind"), message, "use categorical, or uniform over whole numbers")
        for key in ("low", "high") if noise.kind == "uniform" else ():
            value = getattr(noise, key)
            if value != round(value):
                message = f"{value:g} is not a whole number; in a world of whole numbers uniform noise is one"
                yield Finding(("noise", name, key), message)


def _check_derived(options: Options) -> Iterator[Finding]:
    """A derived number has a value everywhere; looked at only where it is cheap."""
    if math.prod(high - low + 1 for low, high in ends_of(options)) > TRIED:
        return
    coordinates = coordinates_of(options)
    for column, name in list(enumerate(coordinates.names))[coordinates.own :]:
        missing = np.flatnonzero(~np.isfinite(coordinates.values[:, column]))
        if len(missing):
            place = coordinates.label(coordinates.values[missing[0], : coordinates.own])
            yield Finding(("derived", name), f"has no value at {place}", NO_VALUE)


def _remedy(options: Options, astray: Astray) -> str | None:
    if not math.isfinite(astray.value):
        return NO_VALUE
    if options.state[astray.variable].edge is None:
        return f"say mdp.state.{astray.variable}.edge: clip or wrap, or keep it inside"
    return "floor(…) makes a whole number"
