"""Rewards as expressions: what arriving in a state pays, as a formula of its variables and of the goal's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.continuous.conditions import formula, named_values
from wmlab.core.finite.goals import Places, Rewards, at_states, state_labels
from wmlab.core.finite.select import SelectionError, places
from wmlab.core.finite.space import FiniteSpace
from wmlab.expressions.findings import NO_VALUE, expression_findings, name_clashes, text_of
from wmlab.registry import Finding, Scope, by_type, option, rewards
from wmlab.rewards.noise import Noise, check_noise, draw, draws_noise

EXPRESSION = {"type": ["number", "string"], "x-wmlab": "expression"}
TRIED = 2_000_000  # goals times states that are looked at
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
        None,
        doc="The least and the greatest reward, which a network with bounded output has to know.",
        schema={
            "type": "array",
            "items": {"type": ["number", "string"], "x-wmlab": "number"},
            "minItems": 2,
            "maxItems": 2,
        },
    )
    noise: Noise | None = option(None, doc="Noise on the reward of each goal and state, drawn once.")

    @property
    def texts(self) -> tuple[str, ...]:
        """One expression for all goals, or one for each, by their names in order."""
        said = [self.pays[name] for name in sorted(self.pays)] if isinstance(self.pays, Mapping) else [self.pays]
        return tuple(text_of(each) for each in said)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    yield from check_noise(options.noise)
    if options.limits is not None and not options.limits[0] < options.limits[1]:
        yield Finding(("limits",), f"{options.limits[0]:g} is not below {options.limits[1]:g}")
    if isinstance(options.pays, Mapping) and not options.pays:
        yield Finding(("pays",), "no goal at all")
    at = scope.experiment.get("goals", {}).get("at")
    if isinstance(options.pays, Mapping) and at is not None:
        yield Finding(("pays",), "each of these is a goal, and goals.at names others", "leave out goals.at")
    if isinstance(scope.space, FiniteSpace):
        yield from _check_finite(options, scope, at)


def _check_finite(options: Options, scope: Scope, at: Any) -> Iterator[Finding]:
    space, names = scope.space, tuple(named_values(scope.space))
    if not names:
        yield Finding(("pays",), "the states of this world have no variables", "a reward of kind table names states")
        return
    try:
        centres = np.array([-1]) if at is None else np.asarray(places(at, space))
    except SelectionError:
        return  # told of the goals themselves
    known: dict[str, expressions.Type] = dict.fromkeys([*scope.let, *names], "number")
    yield from name_clashes(scope.let, names, ("pays",))
    for path, said in paths_of(options):
        wrong = list(expression_findings(said, known, path, allow_goal=() if at is None else _named(centres, names)))
        yield from wrong or _check_values(options, text_of(said), path, space, centres)


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
        asked = f" for the goal {state_labels(options, space, some)[goal]}" if placed else ""
        yield Finding(path, f"has no value{asked} at {space.names[state]}", NO_VALUE)


def paths_of(options: Options) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each expression with its path below the reward."""
    if isinstance(options.pays, Mapping):
        yield from ((("pays", name), said) for name, said in options.pays.items())
    else:
        yield ("pays",), options.pays


def labels(options: Options, space: FiniteSpace, at: Places | None) -> tuple[str, ...]:
    """Goals named by their states, or as in the mapping."""
    if at is not None:
        return state_labels(options, space, at)
    return tuple(sorted(options.pays)) if isinstance(options.pays, Mapping) else (ALONE,)


@rewards.register(
    "expression",
    Options,
    check=check,
    at="optional",
    points=True,
    labels=labels,
    draws=lambda options: draws_noise(options.noise),
)
def expression(options: Options, space: FiniteSpace, at: Places | None, seed: int) -> Rewards:
    """What a formula of the state's and the goal's variables gives."""
    names = labels(options, space, at)
    centres = np.full(len(names), -1) if at is None else np.asarray(at)
    if len(options.texts) == 1:
        values = formula(options.texts[0], space, centres, "number")
    else:
        values = np.concatenate([formula(text, space, centres[:1], "number") for text in options.texts])
    values = values + draw(options.noise, values.shape, seed)
    return Rewards(values, centres, at_states(space, centres), names)
