"""The states and actions of a world written in a spec, and nothing of what the actions do.

Shapes: d state variables, e derived ones, A actions, k components of an action.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.continuous.controls import Ends, named_actions, spread_over
from wmlab.core.continuous.space import ContinuousSpace, Variable, product_of_actions
from wmlab.core.finite.coordinates import Coordinates
from wmlab.core.finite.names import WrittenNames
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.randomness import generator
from wmlab.expressions.findings import text_of
from wmlab.mdps.dynamics.options import Options, StateVariable

VALUE = re.compile(r"=(-?\d{1,9})")  # of a variable, in a state's name
TRIED = 1024  # states at which derived variables are looked at, to tell where they mostly lie


def actions_of(options: Options) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    """Names [A] and values [A, k] of the actions; of a box, of some that are spread over it."""
    if options.in_box:
        values = spread_over(ranges_of(options))
        return named_actions(options.components, values), tuple(tuple(map(float, row)) for row in values)
    if options.is_product:
        return product_of_actions(options.actions)
    rows = [tuple(float(values.get(name, 0)) for name in options.components) for values in options.actions.values()]
    return tuple(options.actions), tuple(rows)


def ranges_of(options: Options) -> Ends:
    """Lowest and highest value of each component of an action from a box; nothing where actions are listed."""
    if not options.in_box:
        return ()
    return tuple((float(said["range"][0]), float(said["range"][1])) for said in options.actions.values())


def start_of(options: Options, name: str) -> tuple[float, float]:
    """Lowest and highest value of a variable at the start of an episode."""
    variable = options.state[name]
    start = options.reset if options.reset == "uniform" else options.reset[name]
    if start == "uniform":
        low, high = variable.integers or variable.range or (0.0, 0.0)
        return float(low), float(high)
    low, high = start["uniform"] if isinstance(start, Mapping) else (start, start)
    return float(low), float(high)


def continuous_space(options: Options) -> ContinuousSpace:
    """The named variables of a continuous world."""
    names, values = actions_of(options)
    variables = tuple(variable_of(name, variable) for name, variable in options.state.items())
    starts = tuple(start_of(options, name) for name in options.state)
    bare = ContinuousSpace(variables, names, options.components, values, starts, control_ranges=ranges_of(options))
    if not options.derived:
        return bare
    derive = derived_of(options)
    derived = tuple(
        Variable(name, usual=usual) for name, usual in zip(options.derived, _usual(derive, bare), strict=True)
    )
    return dataclasses.replace(bare, derived=derived, derive=derive)


def finite_space(options: Options) -> FiniteSpace:
    """The states, named by their variables' values; the last variable varies fastest."""
    names, _ = actions_of(options)
    lows, lengths = zip(*((low, high - low + 1) for low, high in ends_of(options)), strict=True)

    def write(state: int) -> str:
        values = []
        for low, length in zip(reversed(lows), reversed(lengths), strict=True):
            state, place = divmod(state, length)
            values.append(low + place)
        return ", ".join(map("{}={}".format, options.state, reversed(values)))

    def guess(name: str) -> int | None:
        state = 0
        for number, low, length in zip(VALUE.findall(name), lows, lengths, strict=False):
            state = state * length + int(number) - low
        return state

    labels = WrittenNames(math.prod(lengths), write, guess).listed()
    return FiniteSpace(labels, names, coordinates=coordinates_of(options))


def coordinates_of(options: Options) -> Coordinates:
    """The variables of each state, and what is derived from them."""
    axes = [np.arange(low, high + 1, dtype=float) for low, high in ends_of(options)]
    values = np.stack([grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")], axis=-1)  # [S, d]
    if options.derived:
        with np.errstate(all="ignore"):
            values = np.concatenate([values, derived_of(options)(np, values)], axis=-1)
    lengths = [high - low + 1 for low, high in ends_of(options)]
    circles = [variable.edge == "wrap" for variable in options.state.values()]
    periods = [float(length) if circle else math.inf for length, circle in zip(lengths, circles, strict=True)]
    periods += [math.inf] * len(options.derived)
    return Coordinates((*options.state, *options.derived), values, tuple(periods), len(options.state))


def ends_of(options: Options) -> list[tuple[int, int]]:
    """Lowest and highest value of each variable."""
    ends = [variable.integers or (0, 0) for variable in options.state.values()]
    return [(int(low), int(high)) for low, high in ends]


def variable_of(name: str, variable: StateVariable) -> Variable:
    if variable.range is None:
        low, high = variable.usual or (-1.0, 1.0)
        return Variable(name, usual=(float(low), float(high)))
    low, high = variable.range
    return Variable(name, float(low), float(high), variable.edge or "clip")


@dataclass(frozen=True)
class Derived:
    """Derived variables [..., e] of states [..., d]; equal expressions hash alike, so programs are compiled once."""

    names: tuple[str, ...]  # [d]
    expressions: tuple[tuple[str, str], ...]  # [e] name and text, each of the state and of earlier ones

    def __call__(self, xp: Any, states: Any) -> Any:
        env = {name: states[..., column] for column, name in enumerate(self.names)}
        for name, program in _programs(self):
            env[name] = xp.broadcast_to(xp.asarray(program(xp, env), states.dtype), states.shape[:-1])
        return xp.stack([env[name] for name, _ in self.expressions], axis=-1)


def derived_of(options: Options) -> Derived:
    return Derived(tuple(options.state), tuple((name, text_of(each)) for name, each in options.derived.items()))


@functools.cache
def _programs(derived: Derived) -> tuple[tuple[str, Any], ...]:
    known, programs = list(derived.names), []
    for name, text in derived.expressions:
        programs.append((name, expressions.compile(text, tuple(known))))
        known.append(name)
    return tuple(programs)


def _usual(derive: Derived, space: ContinuousSpace) -> list[tuple[float, float]]:
    """Where each derived variable mostly lies [e], tried out over the ranges."""
    box = np.array([variable.scale for variable in space.variables])
    states = generator(0, "states to derive from").uniform(box[:, 0], box[:, 1], (TRIED, space.size))
    with np.errstate(all="ignore"):
        values = derive(np, states)
    usual = []
    for column in range(values.shape[-1]):
        finite = values[np.isfinite(values[:, column]), column]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (-1.0, 1.0)
        usual.append((low, high) if low < high else (low - 1.0, low + 1.0))
    return usual
