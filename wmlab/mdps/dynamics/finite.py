"""Worlds of whole numbers: every state, action and outcome of chance is worked out once, into a table.

Shapes: S states, A actions, B branches of chance, d state variables, e derived ones.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.errors import StageError
from wmlab.expressions.findings import text_of
from wmlab.mdps.dynamics.check import waits
from wmlab.mdps.dynamics.options import Noise, Options
from wmlab.mdps.dynamics.order import ordered
from wmlab.mdps.dynamics.space import actions_of, ends_of, finite_space, start_of

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


def outcomes_of(noise: Noise) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The values that a noise may take and their probabilities; those that never come up are left out."""
    if noise.kind == "uniform":
        assert noise.low is not None and noise.high is not None
        values = tuple(float(value) for value in range(round(noise.low), round(noise.high) + 1))
        return values, (1.0 / len(values),) * len(values)
    pairs = [pair for pair in zip(noise.values or (), noise.probabilities or (), strict=True) if pair[1] > 0]
    total = math.fsum(chance for _, chance in pairs)
    return tuple(value for value, _ in pairs), tuple(chance / total for _, chance in pairs)


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
        known: dict[str, expressions.Type] = dict.fromkeys([*self.env, *options.noise], "number")
        self.helpers = {}
        for name, said in options.let.items():
            parsed = expressions.parse(text_of(said))
            sort = expressions.type_of(parsed, known)
            self.helpers[name] = expressions.compile(parsed, known, want=sort)
            known[name] = sort
        self.order = ordered(waits(options))
        self.programs = {
            name: expressions.compile(text_of(options.next[name]), known, allow_next=tuple(options.state))
            for name in self.order
        }

    def __call__(self, draws: dict[str, float]) -> np.ndarray:
        """The successors' positions, int [S, A]."""
        env, shape = self.env | draws, (self.space.size, len(self.space.actions))
        with np.errstate(all="ignore"):  # where(…) may try what it does not take; what is left is looked at below
            for name, helper in self.helpers.items():
                env[name] = helper(np, env)
            for name in self.order:
                value = np.broadcast_to(np.asarray(self.programs[name](np, env), float), shape)
                env[expressions.next_name(name)] = self.settled(name, value, draws)
        position = np.zeros(shape)
        for name, (low, high) in zip(self.options.state, ends_of(self.options), strict=True):
            position = position * (high - low + 1) + (env[expressions.next_name(name)] - low)
        return position.astype(np.int32)

    def settled(self, name: str, value: np.ndarray, draws: dict[str, float]) -> np.ndarray:
        """Whole numbers inside a variable's range, as its edge says; Astray where there are none."""
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
        found, (low, high) = float(value[state, action]), self.options.state[name].integers or (0, 0)
        if not math.isfinite(found):
            what = "has no value"
        elif found != round(found):
            what = f"would be {found:.12g}, which is not a whole number,"
        else:
            what = f"would be {found:.12g}, outside [{low}, {high}],"
        place = f"after {self.space.actions[action]} in {self.space.names[state]}"
        chance = ", ".join(f"{noise} = {drawn:g}" for noise, drawn in draws.items())
        raise Astray(name, found, f"{name} {what} {place}" + (f" with {chance}" if chance else ""))


def reset_distribution(options: Options) -> np.ndarray:
    """Where episodes start [S]: each variable on its own, uniform over whole numbers or one of them."""
    found = np.ones(1)
    for name, (low, high) in zip(options.state, ends_of(options), strict=True):
        first, last = start_of(options, name)
        values = np.arange(low, high + 1)
        inside = (values >= first) & (values <= last)
        found = np.outer(found, inside / inside.sum()).ravel()
    return found


def finite_world(options: Options) -> FiniteWorld:
    """The world as a table; a step that ends in no state is an error that names it."""
    space = finite_space(options)
    try:
        found = kernel(options, space)
    except Astray as astray:
        raise StageError(f"mdp.next.{astray.variable}: {astray}") from None
    return FiniteWorld(space, found, reset_distribution(options), options.horizon)
