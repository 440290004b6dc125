"""Rewards as expressions: what arriving in a state pays, as a formula of its variables and of the goal's.

Shapes: G goals, n states that are tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wmlab import expressions
from wmlab.core.continuous.points import Points
from wmlab.core.continuous.space import ContinuousSpace, place, probes
from wmlab.core.finite.goals import Places, Rewards, at_states, formula, state_labels
from wmlab.core.finite.places import places
from wmlab.core.finite.select import SelectionError
from wmlab.core.finite.space import FiniteSpace
from wmlab.expressions.findings import NO_VALUE, expression_findings, name_clashes, text_of
from wmlab.registry import Finding, RewardTraits, Scope, by_type, option, rewards
from wmlab.registry.options import EXPRESSION, PAIR
from wmlab.rewards.noise import RewardNoise, check_noise, draw, draws_noise, is_noisy

TRIED = 2_000_000  # goals times states that are looked at
MOST = 64  # goals that are tried in a continuous world
ALONE = "reward"  # the name of the only goal, where the spec names none


@dataclass(frozen=True)
class Options:
    pays: Any = option(
        doc="An expression of the state's variables, derived ones too; goal(v) is the value of v that a goal asks for. "
        "Or goal: expression, for goals that differ in more than their values.",
        schema={**by_type(number={}, string={"x-wmlab": "expression"}, object={"additionalProperties": EXPRESSION})},
        whole=True,
        example="exp(-abs(speed - goal(speed)))",
    )
    limits: tuple[float, ...] | None = option(
        None, doc="The least and the greatest reward, which a network with bounded output has to know.", schema=PAIR
    )
    noise: RewardNoise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")

    @property
    def texts(self) -> tuple[str, ...]:
        """One expression for all goals, or one for each, by their names in order."""
        each = [self.pays[name] for name in sorted(self.pays)] if isinstance(self.pays, Mapping) else [self.pays]
        return tuple(map(text_of, each))


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    yield from check_noise(options.noise)
    if options.limits is not None and not options.limits[0] < options.limits[1]:
        yield Finding(("limits",), f"{options.limits[0]:g} is not below {options.limits[1]:g}")
    if isinstance(options.pays, Mapping) and not options.pays:
        yield Finding(("pays",), "no goal at all")
    at = None if scope.goals is None else scope.goals.at
    if isinstance(options.pays, Mapping) and at is not None:
        yield Finding(("pays",), "each of these is a goal, and goals.at names others", "leave out goals.at")
    if isinstance(scope.space, FiniteSpace):
        yield from _check_finite(options, scope, at)


def _check_finite(options: Options, scope: Scope, at: Any) -> Iterator[Finding]:
    space, names = scope.space, tuple(scope.space.described())
    if not names:
        yield Finding(("pays",), "the states of this world have no variables", "a reward of kind table names states")
        return
    try:
        centres = np.array([-1]) if at is None else np.asarray(places(at, space))
    except SelectionError:
        return  # told of the goals themselves
    known: dict[str, expressions.Type] = dict.fromkeys([*scope.let, *names], "number")
    yield from name_clashes(scope.let, names, ("pays",))
    for path, written in paths_of(options):
        wrong = list(expression_findings(written, known, path, allow_goal=() if at is None else _named(centres, names)))
        yield from wrong or _check_values(options, text_of(written), path, space, centres)


def _named(centres: np.ndarray, names: tuple[str, ...]) -> tuple[str, ...]:
    """The variables of which every goal says a value."""
    if centres.ndim == 1:
        return names
    told = np.isfinite(centres).all(axis=0).tolist()
    return tuple(name for name, kept in zip(names, told, strict=False) if kept)


def _check_values(
    options: Options, text: str, path: tuple[str, ...], space: FiniteSpace, centres: np.ndarray
) -> Iterator[Finding]:
    """Whether there is a value for every goal and state; of a great many, for the first goals."""
    some = centres[: max(1, TRIED // space.size)]
    with np.errstate(all="ignore"):
        missing = np.argwhere(~np.isfinite(formula(text, space, some, "number")))
    if len(missing):
        goal, state = missing[0]
        placed = centres.ndim == 2 or centres[0] >= 0
        asked = f" for the goal {state_labels(space, some)[goal]}" if placed else ""
        yield Finding(path, f"has no value{asked} at {space.names[state]}", NO_VALUE)


def paths_of(options: Options) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each expression with its path below the reward."""
    if isinstance(options.pays, Mapping):
        yield from ((("pays", name), written) for name, written in options.pays.items())
    else:
        yield ("pays",), options.pays


# --- in a continuous world ---------------------------------------------------------------------------------------


def check_in_continuum(options: Options, points: Points, scope: Scope) -> Iterator[Finding]:
    """Expressions of known variables, with a value everywhere, and within the limits that a bounded network is told."""
    space = scope.space
    variables = [variable.name for variable in space.everything]
    known: dict[str, expressions.Type] = dict.fromkeys([*scope.let, *variables], "number")
    wrong = list(name_clashes(scope.let, variables, ("pays",)))
    for path, written in paths_of(options):
        wrong += expression_findings(written, known, path, allow_goal=points.common(space))
    yield from wrong
    output = scope.agent and scope.agent.get("network", "output")
    if options.limits is None and output == "bounded":
        message = "a bounded network has to know the least and the greatest reward"
        yield Finding(("limits",), message, "say limits: [least, greatest], or network.output: linear")
    for path, written in () if wrong else paths_of(options):
        yield from _check_continuous_values(text_of(written), path, options.limits, points, space)


def _check_continuous_values(
    text: str, path: tuple[str, ...], limits: tuple[float, ...] | None, points: Points, space: ContinuousSpace
) -> Iterator[Finding]:
    """What an expression pays in states all over the ranges, and where its goals are."""
    states = np.concatenate([probes(space), _at_goals(points, space)])
    env, names = space.named(states), tuple(variable.name for variable in space.everything)
    for position, column in enumerate(points.columns):
        wanted = points.values[:MOST, position, None].astype(np.float32)
        env[expressions.goal_name(space.everything[column].name)] = wanted
    with np.errstate(all="ignore"):
        values = np.asarray(expressions.program(text, names, "number", points.common(space))(np, env))
    paid = np.broadcast_to(values, (min(len(points.labels), MOST), len(states)))
    missing = np.argwhere(~np.isfinite(paid))
    if len(missing):
        goal, state = missing[0]
        asked = f" for the goal {points.labels[goal]}" if points.columns else ""
        yield Finding(path, f"has no value{asked} at {place(space, states[state])}", NO_VALUE)
    elif limits is not None:
        low, high = limits
        slack = 1e-6 * max(high - low, abs(low), abs(high))
        for value in (float(paid.min()), float(paid.max())):
            if not low - slack <= value <= high + slack:
                yield Finding(path, f"pays {value:g} somewhere, outside the limits [{low:g}, {high:g}]")


def _at_goals(points: Points, space: ContinuousSpace) -> np.ndarray:
    """A state for each goal that asks for state variables, with the others in the middle [G, d]."""
    middle = [sum(variable.scale) / 2 for variable in space.variables]
    states = np.tile(np.array(middle, np.float32), (min(len(points.labels), MOST), 1))
    for position, column in enumerate(points.columns):
        if column < space.size:
            asked = points.asked[:MOST, position]
            states[asked, column] = points.values[:MOST][asked, position]
    return states


@dataclass(frozen=True)
class Formula:
    """What expressions pay: one for all goals, or one for each."""

    texts: tuple[str, ...]
    limits: tuple[float, ...] | None
    arrives: ClassVar[bool] = False

    @property
    def bounds(self) -> tuple[float, float]:
        return (-math.inf, math.inf) if self.limits is None else (self.limits[0], self.limits[1])

    def reward(self, rule: Any, state: Any, values: Any, gap: Any, asked: Any, width: Any) -> tuple[Any, Any]:
        import jax.numpy as jnp

        if len(self.texts) == 1:
            return rule.formula(self.texts[0], "number", state, values), None
        return jnp.concatenate([rule.formula(text, "number", state, values[:1]) for text in self.texts]), None

    def bounds_within(self, width: Any, end: Any) -> tuple[tuple[float, float], tuple[float, float]]:
        return self.bounds, self.bounds


@rewards.register(
    "expression",
    Options,
    RewardTraits(
        at="optional",
        own_goals=lambda options: tuple(sorted(options.pays)) if isinstance(options.pays, Mapping) else (ALONE,),
        points=True,
        draws=lambda options: draws_noise(options.noise),
        in_continuum=lambda options: Formula(options.texts, options.limits),
        check_in_continuum=check_in_continuum,
        says="with rewards from a formula",
        is_noisy=is_noisy,
    ),
    check=check,
)
def expression(options: Options, space: FiniteSpace, at: Places | None, seed: int) -> Rewards:
    """What a formula of the state's and the goal's variables gives."""
    centres = np.full(len(options.texts), -1) if at is None else np.asarray(at)
    if len(options.texts) == 1:
        values = formula(options.texts[0], space, centres, "number")
    else:
        values = np.concatenate([formula(text, space, centres[:1], "number") for text in options.texts])
    values = values + draw(options.noise, values.shape, seed)
    return Rewards(values, centres, at_states(space, centres))
