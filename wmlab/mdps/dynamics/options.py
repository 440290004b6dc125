"""What a world written in a spec may say: its variables, its actions, its chance and what a step does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wmlab.registry import by_type, option
from wmlab.registry.options import EXPRESSION, NUMBER, NUMBERS, PAIR
from wmlab.registry.traits import Sort

WHOLE_PAIR = {**PAIR, "items": {"type": ["integer", "string"], "x-wmlab": "number"}}
# A text here is an expression; names under the spec's `let` are written into it as numbers when it is read.
BETWEEN = {
    "properties": {"uniform": {**PAIR, "description": "Anywhere between two values."}},
    "required": ["uniform"],
    "additionalProperties": False,
}
EXPRESSIONS = {"type": "object", "additionalProperties": EXPRESSION}
# The values of a component, those of a named action's components, or {range: [low, high]}.
COMPONENT = by_type(array=NUMBERS, object={"additionalProperties": by_type(number=NUMBER, string=NUMBER, array=PAIR)})
RESET = by_type(
    string={"enum": ["uniform"]},
    object={"additionalProperties": {"type": ["number", "string", "object"], "x-wmlab": "number", **BETWEEN}},
)


@dataclass(frozen=True)
class StateVariable:
    """A variable of the state: continuous with a range, continuous without one, or of whole numbers."""

    range: tuple[float, ...] | None = option(
        None, doc="Lowest and highest value of a continuous variable.", schema=PAIR, example=[-1.2, 0.6]
    )
    integers: tuple[int, ...] | None = option(
        None,
        doc="Lowest and highest value of a variable of whole numbers; where all are such, the world is finite.",
        schema=WHOLE_PAIR,
        example=[0, 20],
    )
    edge: Literal["clip", "wrap"] | None = option(
        None,
        doc="What happens at the ends: clip holds the variable there, wrap goes round in a circle. Whole numbers may"
        " have no edge; then no step may leave them.",
    )
    usual: tuple[float, ...] | None = option(
        None, doc="Where a variable without a range mostly lies: what networks read as -1 to 1.", schema=PAIR
    )


@dataclass(frozen=True)
class NoiseTerm:
    """A number that is drawn afresh at each step."""

    kind: Literal["normal", "uniform", "categorical"] = option(doc="Its distribution.")
    mean: float | None = option(None, doc="normal: its mean; 0 where nothing is said.")
    sd: float | None = option(None, doc="normal: its standard deviation.")
    low: float | None = option(
        None, doc="uniform: its lowest value. In a world of whole numbers it is one of those from low to high."
    )
    high: float | None = option(None, doc="uniform: its highest value.")
    values: tuple[float, ...] | None = option(None, doc="categorical: the values it may take.", schema=NUMBERS)
    probabilities: tuple[float, ...] | None = option(
        None, doc="categorical: the probability of each value.", schema=NUMBERS
    )


@dataclass(frozen=True)
class Options:
    state: dict[str, StateVariable] = option(doc="Variable: its range, or its whole numbers.")
    actions: dict[str, Any] = option(
        doc="Component of an action: its values, and the actions are their product. Or action: {component: value}, "
        "with 0 for components left out. Or component: {range: [low, high]}: actions are from a box, and not finitely "
        "many.",
        schema={"type": "object", "minProperties": 1, "additionalProperties": COMPONENT},
        whole=True,
        example={"torque": [-2, 0, 2]},
    )
    next: dict[str, Any] = option(
        doc="Variable: its value after a step. Names mean the old state; next(v) is v after its step and its edge.",
        schema={**EXPRESSIONS, "x-keys": "state variable"},
        example={"speed": "speed + dt * torque", "angle": "angle + dt * next(speed)"},
    )
    noise: dict[str, NoiseTerm] = option({}, doc="Name: a number drawn afresh at each step, independent of all others.")
    let: dict[str, Any] = option(
        {},
        doc="Name: an expression of the state, the action, the noise and earlier names, worked out at each step.",
        schema=EXPRESSIONS,
    )
    derived: dict[str, Any] = option(
        {}, doc="Name: an expression of the state; goals may name it like a variable.", schema=EXPRESSIONS
    )
    reset: Any = option(
        "uniform",
        doc="Where episodes start: uniform, or for each variable a value or {uniform: [low, high]}.",
        schema=RESET,
        example={"angle": {"uniform": ["-pi", "pi"]}, "speed": 0},
    )
    horizon: int | None = option(None, doc="Steps until an episode is cut; null: never.", at_least=1)

    @property
    def finite(self) -> bool:
        """Whether every variable is of whole numbers."""
        return all(variable.integers is not None for variable in self.state.values())

    @property
    def components(self) -> tuple[str, ...]:
        """The components of an action, in order of appearance."""
        if self.is_product or self.in_box:
            return tuple(self.actions)
        named = [values for values in self.actions.values() if isinstance(values, Mapping)]
        return tuple(dict.fromkeys(name for values in named for name in values))

    @property
    def in_box(self) -> bool:
        """Whether actions are from a box: each component has a range."""
        return any(has_range(values) for values in self.actions.values())

    @property
    def is_product(self) -> bool:
        """Whether the actions are the product of their components' values."""
        return not any(isinstance(values, Mapping) for values in self.actions.values())


def has_range(said: Any) -> bool:
    """Whether what is said of a component is {range: [low, high]}."""
    return isinstance(said, Mapping) and any(isinstance(each, (list, tuple)) for each in said.values())


def sort_of_variables(state: Mapping[str, StateVariable]) -> Sort:
    """finite where there are variables, and every one of them is of whole numbers."""
    return "finite" if state and all(each.integers is not None for each in state.values()) else "continuous"
