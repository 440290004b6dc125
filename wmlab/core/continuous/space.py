"""Continuous state spaces: named variables, their ranges, circles and derived variables.

Shapes: d state variables, e derived ones, A actions, k components of an action. Arrays may be numpy's or JAX's:
functions that take `xp` work with either namespace.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wmlab.core.continuous.controls import Ends, Region, regions_of
from wmlab.core.randomness import generator
from wmlab.errors import suggest
from wmlab.expressions import program
from wmlab.registry import Finding

BETWEEN = 1024  # probes drawn anywhere in the ranges
MOST = 1024  # combinations of remarkable values that are probed

Derive = Callable[[Any, Any], Any]  # (xp, states [..., d]) -> [..., e]


@dataclass(frozen=True)
class Variable:
    """One number that describes a state."""

    name: str
    low: float = -math.inf
    high: float = math.inf
    edge: Literal["clip", "wrap", "open"] = "open"  # what the world does at the ends of the range
    usual: tuple[float, float] | None = None  # where it mostly lies, for a variable without a range

    @property
    def periodic(self) -> bool:
        return self.edge == "wrap"

    @property
    def bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def scale(self) -> tuple[float, float]:
        """What becomes [-1, 1] in a normalised encoding."""
        return (self.low, self.high) if self.bounded else self.usual or (-1.0, 1.0)

    @property
    def period(self) -> float:
        return self.high - self.low


@dataclass(frozen=True)
class ContinuousSpace:
    """Named variables and named actions. Nothing about what the actions do. Equal spaces hash alike."""

    variables: tuple[Variable, ...]  # [d]
    actions: tuple[str, ...]  # [A]
    controls: tuple[str, ...]  # [k] names of an action's components
    control_values: tuple[tuple[float, ...], ...]  # [A, k]
    starts: tuple[tuple[float, float], ...]  # [d] episodes start anywhere in this box
    derived: tuple[Variable, ...] = ()  # [e]
    derive: Derive | None = None
    control_ranges: Ends = ()  # [k] of actions from a box, for which `actions` stand where a list is needed

    @property
    def in_box(self) -> bool:
        """Whether actions are not finitely many: any components within their ranges."""
        return bool(self.control_ranges)

    @functools.cached_property
    def regions(self) -> tuple[Region, ...]:
        """The parts of a box of actions that errors are told apart by; none where actions are a list."""
        return regions_of(self.controls, self.control_ranges) if self.control_ranges else ()

    @property
    def size(self) -> int:
        """d"""
        return len(self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """The state variables."""
        return tuple(variable.name for variable in self.variables)

    @property
    def endless(self) -> tuple[str, ...]:
        """The state variables that have no range."""
        return tuple(variable.name for variable in self.variables if not variable.bounded)

    @functools.cached_property
    def everything(self) -> tuple[Variable, ...]:
        """State variables, then derived ones: the columns of `full`."""
        return self.variables + self.derived

    def column(self, name: str) -> int:
        """The column of a variable in `full`; the LookupError's message is fit for a user."""
        names = [variable.name for variable in self.everything]
        if name in names:
            return names.index(name)
        hint = suggest(name, names)
        raise LookupError(f"no variable '{name}'; " + (hint or f"there are {', '.join(names)}"))

    def full(self, states: Any, xp: Any = np) -> Any:
        """States [..., d] with their derived variables behind: [..., d + e]."""
        if self.derive is None:
            return states
        return xp.concatenate([states, self.derive(xp, states)], axis=-1)

    def named(self, states: Any, xp: Any = np) -> dict[str, Any]:
        """Each variable of states [..., d] by its name, derived ones too, for expressions."""
        full = self.full(states, xp)
        return {variable.name: full[..., column] for column, variable in enumerate(self.everything)}

    def holds(self, condition: str, states: Any, xp: Any = np) -> Any:
        """In which states [..., d] a condition on their variables holds: bool [...]."""
        env = self.named(states, xp)
        return program(condition, tuple(env))(xp, env)

    def settle(self, states: Any, xp: Any = np) -> Any:
        """States [..., d] brought back into the space: angles wrapped, walls respected, open ends left alone."""
        return xp.stack([settled(variable, states[..., i], xp) for i, variable in enumerate(self.variables)], axis=-1)

    def difference(self, left: Any, right: Any, xp: Any = np, columns: Sequence[int] | None = None) -> Any:
        """left - right of states or of full states [..., n], the short way round on circles.

        `columns` say which variables the last axis holds; by default the first n.
        """
        chosen = range(left.shape[-1]) if columns is None else columns
        kept = [self.everything[column] for column in chosen]
        gap = left - right
        if not any(variable.periodic for variable in kept):
            return gap
        return xp.stack([on_circle(variable, gap[..., i], xp) for i, variable in enumerate(kept)], axis=-1)

    def ranges(self, bounds: Mapping[str, Sequence[float]] | None = None) -> np.ndarray:
        """[d, 2] where each variable lies; `bounds` take precedence. LookupError where one has no range."""
        given = bounds or {}
        ends = [tuple(given.get(variable.name, (variable.low, variable.high))) for variable in self.variables]
        for variable, (low, high) in zip(self.variables, ends, strict=True):
            if not (math.isfinite(low) and math.isfinite(high)):
                raise LookupError(f"{variable.name} has no range")
        return np.array(ends, float).reshape(self.size, 2)

    def sample(
        self,
        generator: np.random.Generator,
        count: int,
        states: Literal["uniform", "reset"],
        bounds: Mapping[str, Sequence[float]] | None = None,
    ) -> np.ndarray:
        """States [count, d], float32: anywhere in the ranges (or in bounds in their place), or where episodes start."""
        box = self.ranges(bounds) if states == "uniform" else np.array(self.starts)
        return generator.uniform(box[:, 0], box[:, 1], (count, self.size)).astype(np.float32)


def settled(variable: Variable, values: Any, xp: Any = np) -> Any:
    """Values of one variable, brought back into its range as its edge says."""
    if variable.periodic:
        return xp.where(
            (values >= variable.low) & (values < variable.high),
            values,  # left to the bit where there is nothing to do
            (values - variable.low) % variable.period + variable.low,
        )
    return xp.clip(values, variable.low, variable.high) if variable.edge == "clip" else values


def on_circle(variable: Variable, gap: Any, xp: Any = np) -> Any:
    """A difference of two values, the short way round where the variable is periodic."""
    return gap - variable.period * xp.round(gap / variable.period) if variable.periodic else gap


def encoded_width(variables: Sequence[Variable], encoding: str) -> int:
    """How many numbers a network reads of some variables: of periodic ones in `sincos` two, else one."""
    return len(variables) + (sum(variable.periodic for variable in variables) if encoding == "sincos" else 0)


def product_of_actions(values: Mapping[str, Sequence[float]]) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    """Names [A] and values [A, k] of the product of named values, the last name varying fastest."""
    grids = np.meshgrid(*[np.asarray(list(each), float) for each in values.values()], indexing="ij")
    rows = np.stack([grid.ravel() for grid in grids], axis=-1)
    names = tuple(", ".join(f"{name}={value:g}" for name, value in zip(values, row, strict=True)) for row in rows)
    return names, tuple(tuple(map(float, row)) for row in rows)


def check_ranges(ranges: Mapping[str, tuple[float, ...]], space: ContinuousSpace) -> Iterator[Finding]:
    """Each is a state variable's, and its ends are in order."""
    for name, (low, high) in ranges.items():
        if name not in space.names:
            hint = suggest(name, space.names) or f"say {', '.join(space.names)}"
            yield Finding(("bounds", name), f"'{name}' is not a state variable", hint, key=True)
        elif low >= high:
            yield Finding(("bounds", name), f"{low:g} is not below {high:g}")


def probes(space: ContinuousSpace) -> np.ndarray:
    """States [n, d] at which expressions are tried before anything runs: ends and middle of the ranges, 0, and many
    between; float32 as agents see them. A variable without a range is tried where it usually lies."""
    columns = [remarkable(variable) for variable in space.variables]
    if math.prod(map(len, columns)) <= MOST:
        corners = np.array(list(itertools.product(*columns)))
    else:  # one remarkable value at a time, the others in the middle
        corners = np.array([[column[0] for column in columns]] * sum(map(len, columns)))
        for row, (position, value) in enumerate((i, value) for i, column in enumerate(columns) for value in column):
            corners[row, position] = value
    box = np.array([variable.scale for variable in space.variables])
    between = generator(0, "states to try").uniform(box[:, 0], box[:, 1], (BETWEEN, space.size))
    return np.concatenate([corners, between]).astype(np.float32)


def remarkable(variable: Variable) -> list[float]:
    """The middle, the ends (one of them on a circle, where they are the same) and 0 where it lies between them."""
    low, high = variable.scale
    ends = [low] if variable.periodic else [low, high]
    return list(dict.fromkeys([(low + high) / 2, *ends, *([0.0] if low < 0 < high else [])]))


def place(space: ContinuousSpace, state: np.ndarray) -> str:
    """A state [d] as messages name it: position=0, velocity=0.07."""
    return ", ".join(f"{name}={value:.4g}" for name, value in zip(space.names, state.tolist(), strict=True))
